//go:build linux

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestReportCannotBeWritten checks that a report to a full disk or to a pipe without a reader
// is an error, in every format and of every command.
func TestReportCannotBeWritten(t *testing.T) {
	const name = "lang-x86_64-gcc12-O2-dw5.elf"
	elf, sym := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "own.sym")
	for path, from := range map[string]string{elf: "../../testdata/elf/" + name, sym: "../../check/testdata/own/" + name + ".sym"} {
		data, err := testfile.Read(from)
		if err != nil {
			t.Fatal(err)
		}
		programtest.Write(t, path, data)
	}
	unwritable := testfile.Unwritable(t)
	for _, format := range []string{"text", "json", "junit", "sarif"} {
		for _, args := range [][]string{{sym, elf}, {"lint", sym}, {"diff", sym, sym}} {
			for file, want := range unwritable {
				var stderr bytes.Buffer
				cmd := exec.Command("symcheck", append([]string{"--format=" + format}, args...)...)
				cmd.Stdout, cmd.Stderr = file, &stderr
				_ = cmd.Run()
				message := stderr.String()
				if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.HasPrefix(message, "symcheck: error: ") ||
					!strings.Contains(message, want) || strings.Count(message, "\n") != 1 {
					t.Errorf("%s %q: exit code %d, %s", format, args, code, message)
				}
			}
		}
	}
}
