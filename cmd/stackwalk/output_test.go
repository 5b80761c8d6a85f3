//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// crash puts a core file and its program into a directory.
func crash(t *testing.T) (core, exe string) {
	t.Helper()
	dir := t.TempDir()
	core = programtest.Write(t, filepath.Join(dir, "crash.core"), programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core"))
	return core, programtest.Write(t, filepath.Join(dir, "crash"), programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.elf"))
}

// TestReportCannotBeWritten: the disk is full, or the pipe has no reader.
func TestReportCannotBeWritten(t *testing.T) {
	core, exe := crash(t)
	unwritable := testfile.Unwritable(t)
	for _, format := range []string{"text", "json", "machine"} {
		for file, want := range unwritable {
			var stderr bytes.Buffer
			cmd := exec.Command("stackwalk", "--exe", exe, "--format="+format, core)
			cmd.Stdout, cmd.Stderr = file, &stderr
			_ = cmd.Run()
			tested.Failed(t, cmd.ProcessState.ExitCode(), stderr.String(), t.TempDir(), want)
		}
	}
}

// A limit on the size of files stands for a disk that is full full before the whole report is written.
func TestFileSizeLimit(t *testing.T) {
	core, exe := crash(t)
	for _, flag := range []string{"-o DIR/out", "--out DIR"} {
		dir := t.TempDir()
		flags := strings.ReplaceAll(flag, "DIR", dir)
		sh := exec.Command("sh", "-c", fmt.Sprintf("ulimit -f 1; exec stackwalk --exe %s --format=json %s %s", exe, flags, core))
		out, _ := sh.CombinedOutput()
		tested.Failed(t, sh.ProcessState.ExitCode(), string(out), dir, dir, "file too large")
	}
}

// A directory that has the name of the result stays, and no temporary file is left.
func TestOccupied(t *testing.T) {
	core, exe := crash(t)
	dir := t.TempDir()
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"--exe", exe, "-o", dir, core}, io.Discard, &stderr)
	tested.Failed(t, code, stderr.String(), dir, dir, "is a directory")
}

// TestReportBounded: a report above its limit is an error, and a signal ends its writing.
func TestReportBounded(t *testing.T) {
	core, exe := crash(t)
	dir := t.TempDir()
	cmd := exec.Command("stackwalk", "--exe", exe, "-o", filepath.Join(dir, "out"), core)
	cmd.Env = append(os.Environ(), "SYMKIT_LIMITS=report=1K")
	out, _ := cmd.CombinedOutput()
	tested.Failed(t, cmd.ProcessState.ExitCode(), string(out), dir, core+": report above the limit of 1024: ")

	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("a signal"))
	w := bounds.NewWriter(ctx, io.Discard, limitof.Report, core, 0)
	if _, err := w.Write([]byte("x")); err == nil || err.Error() != "a signal" {
		t.Error(err)
	}
}
