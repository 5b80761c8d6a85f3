//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// program puts a fixture with more than 64 KiB of symbols into a directory.
func program(t *testing.T) string {
	t.Helper()
	data := programtest.Fixture(t, "go-x86_64-gc.elf.xz")
	path := filepath.Join(t.TempDir(), "app")
	programtest.Write(t, path, data)
	return path
}

// The disk is full.
func TestDiskFull(t *testing.T) {
	app, dir := program(t), t.TempDir()
	var stderr bytes.Buffer
	code := run(context.Background(), []string{"-o", "/dev/full", app}, nil, &stderr)
	tested.Failed(t, code, stderr.String(), dir, "/dev/full", "no space left on device")

	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	stderr.Reset()
	code = run(context.Background(), []string{app}, full, &stderr)
	tested.Failed(t, code, stderr.String(), dir, "no space left on device")

	stderr.Reset()
	code = run(context.Background(), []string{"-s", dir, "--manifest", "/dev/full", "nowhere.elf"}, nil, &stderr)
	tested.Failed(t, code, stderr.String(), dir, "/dev/full", "no space left on device")
}

// TestFileSizeLimit: a limit on the size of files makes a write fail after its first
// bytes, as a full disk does.
func TestFileSizeLimit(t *testing.T) {
	app, dir := program(t), t.TempDir()
	for _, output := range []string{"-o " + filepath.Join(dir, "app.sym"), "-s " + dir, "-s " + dir + " --compress=gzip"} {
		sh := exec.Command("sh", "-c", fmt.Sprintf("ulimit -f 8; exec dump_syms %s %s", output, app))
		out, _ := sh.CombinedOutput()
		tested.Failed(t, sh.ProcessState.ExitCode(), string(out), dir, dir, "file too large")
	}
}

// TestClosedPipe checks that writing to a pipe without a reader is reported as an error.
func TestClosedPipe(t *testing.T) {
	app := program(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var stderr bytes.Buffer
	cmd := exec.Command("dump_syms", app)
	cmd.Stdout, cmd.Stderr = w, &stderr
	_ = cmd.Run()
	tested.Failed(t, cmd.ProcessState.ExitCode(), stderr.String(), t.TempDir(), "broken pipe")
}

// TestOccupied: a directory that has the output's path is not replaced, and nothing
// is left beside it.
func TestOccupied(t *testing.T) {
	app, dir := program(t), t.TempDir()
	var stderr bytes.Buffer
	code := run(context.Background(), []string{"-o", dir, app}, nil, &stderr)
	tested.Failed(t, code, stderr.String(), dir, dir, "is a directory")

	stderr.Reset()
	if code := run(context.Background(), []string{"-i", app}, &stderr, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	id := strings.Fields(stderr.String())[3]
	path := filepath.Join(dir, "app", id, "app.sym")
	if err := os.MkdirAll(filepath.Join(path, "directory"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, force := range []string{"--force", "--no-generator"} {
		stderr.Reset()
		code = run(context.Background(), []string{"-s", dir, force, app}, nil, &stderr)
		tested.Failed(t, code, stderr.String(), dir, path, "the path is occupied by something that is no regular file")
	}
}
