//go:build oracle

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/test/oracle/siggen"
)

// TestOracleSignatures: the signatures of all dumps of Breakpad and rust-minidump and of all
// cores are what siggen makes of our JSON.
func TestOracleSignatures(t *testing.T) {
	var paths []string
	var args [][]string
	add := func(path string, more ...string) {
		paths, args = append(paths, path), append(args, append(more, "--format=json", "--max-frames=60", path))
	}
	for _, project := range []string{"breakpad", "rust-minidump"} {
		root := crashdumps(t, project)
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".dmp") {
				add(path, "--no-elf", "--symbols", filepath.Join(filepath.Dir(path), "symbols"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range subdirectories(t, cores(t), "*-*/core") {
		add(dir, "--exe", filepath.Join(filepath.Dir(dir), "prog"))
	}

	var ours, read []string
	var crashes []any
	for i := range paths {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args[i], &stdout, &stderr)
		if code != 0 && code != command.Bad {
			continue // damaged on purpose
		}
		text := stdout.Bytes()
		var result struct {
			Extra struct {
				Signature string
				Proto     string `json:"proto_signature"`
			} `json:"symkit"`
		}
		if err := json.Unmarshal(text, &result); err != nil {
			t.Fatalf("%s: %v", paths[i], err)
		}
		read, ours = append(read, paths[i]), append(ours, result.Extra.Signature+"\n"+result.Extra.Proto)
		crashes = append(crashes, map[string]any{"json_dump": json.RawMessage(text)})
	}
	if len(read) < 180 {
		t.Errorf("only %d dumps and cores", len(read))
	}

	signatures := map[string]bool{}
	for i, want := range siggen.Signatures(t, "../../walk/signature/testdata/signatures.py", crashes) {
		signatures[want.Text] = true
		if ours[i] != want.Text+"\n"+want.Proto {
			t.Errorf("%s: %q, siggen: %q", read[i], ours[i], want)
		}
	}
	t.Logf("%d dumps and cores, %d different signatures", len(read), len(signatures))
}
