//go:build oracle

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCorpusLimits: the largest files of the corpus need less than a tenth of every
// limit, and less than half of those of memory: with so much of them the symbols are the same, and
// nothing is lost.
func TestCorpusLimits(t *testing.T) {
	corpus := os.Getenv("SYMKIT_CORPUS")
	for _, pattern := range []string{
		"ceph-osd-dbg/usr/lib/debug/.build-id/fb/66*.debug",
		"openjdk-17-dbg/usr/lib/debug/.build-id/45/1839*.debug",
		"libnode108/usr/lib/x86_64-linux-gnu/libnode.so.108",
		"python3.11-dbg/usr/bin/python3.11d",
		"linux-image*/usr/lib/debug/boot/vmlinux-*",
	} {
		files, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		dump := func(limits string) (symbols, messages []byte) {
			var stderr bytes.Buffer
			cmd := exec.Command("dump_syms", "--inlines", files[0])
			cmd.Env = append(os.Environ(), "SYMKIT_LIMITS="+limits, "DEBUGINFOD_URLS=")
			cmd.Stderr = &stderr
			symbols, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v: %s", files[0], err, &stderr)
			}
			return symbols, stderr.Bytes()
		}
		want, wantMessages := dump("")
		got, messages := dump("all=10%,inflated=50%,unit-records=50%,line-records=50%,symbol-records=50%,frame-records=50%")
		if !bytes.Equal(got, want) || !bytes.Equal(messages, wantMessages) {
			t.Errorf("%s: %d bytes, with all limits at a tenth, those of memory at half, %d: %s", files[0], len(want), len(got), messages)
		}
	}
}
