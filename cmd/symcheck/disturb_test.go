//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestDisturbed checks that truncating or overwriting a file while it is mapped, on either side, is
// an error: no SIGBUS, and no findings about bytes of two versions.
func TestDisturbed(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	dir := t.TempDir()
	elf, sym, copied := filepath.Join(dir, name), filepath.Join(dir, name+".sym"), filepath.Join(dir, "copy.sym")
	const own = "../../check/testdata/own/" + name + ".sym"
	for path, from := range map[string]string{elf: "../../testdata/elf/" + name, sym: own, copied: own} {
		data, err := testfile.Read(from)
		if err != nil {
			t.Fatal(err)
		}
		programtest.Write(t, path, data)
	}

	// Two goroutines read a large file.
	large := filepath.Join(dir, "large.sym")
	text := []byte("MODULE Linux x86_64 000000000000000000000000000000000 large\nFILE 0 a.c\n")
	for addr := range 20_000 {
		text = fmt.Appendf(text, "FUNC %x 10 0 f%d\n%x 10 %d 0\n", 0x1000+16*addr, addr, 0x1000+16*addr, 1+addr)
	}
	programtest.Write(t, large, text)

	for _, test := range []struct {
		name, file string
		args       []string
	}{
		{"the program", elf, []string{sym, elf}},
		{"its symbols", sym, []string{sym, elf}},
		{"lint", sym, []string{"lint", sym}},
		{"lint of a large file", large, []string{"lint", large}},
		{"diff", sym, []string{"diff", sym, copied}},
	} {
		t.Run(test.name, func(t *testing.T) { disturb(t, test.file, test.args...) })
	}
}

func disturb(t *testing.T, file string, args ...string) {
	var whole string
	err := testfile.Disturbed(file, 8, func(how string) (met bool) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, &stdout, &stderr)
		switch {
		case how == "":
			if whole = stdout.String(); code != 0 {
				t.Fatalf("exit code %d: %s%s", code, &stdout, &stderr)
			}
		case code == 1:
			met = true
			message, ok := strings.CutPrefix(stderr.String(), "symcheck: error: ")
			if !ok || !strings.HasPrefix(message, file+": ") {
				t.Errorf("%s: %s", how, &stderr)
			}
		case code == 2: // all of it happened before the file was opened: it is another file
			met = true
		case code != 0 || stdout.String() != whole:
			t.Errorf("%s: exit code %d: %s%s", how, code, &stdout, &stderr)
		}
		return met
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestInterrupted checks that a signal ends symcheck while symcheck waits for a pipe without a
// writer.
func TestInterrupted(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("a signal")) })
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"lint", fifo}, &stdout, &stderr); code != 1 || stdout.Len() > 0 || stderr.String() != "symcheck: error: interrupted\n" {
		t.Errorf("exit code %d: %s%s", code, &stdout, &stderr)
	}
	// The goroutine that was abandoned, if it has come so far, reads to the end of the pipe.
	// Without it, only opening for both directions does not block.
	w, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
