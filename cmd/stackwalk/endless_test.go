//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEndless: a device that never ends is an error of one line, for each flag that reads a file.
func TestEndless(t *testing.T) {
	lists := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(lists, "irrelevant_signature_re.txt")); err != nil {
		t.Fatal(err)
	}
	const dump = "../../walk/minidump/testdata/linux-mini.dmp"
	for args, want := range map[string]string{
		"--annotations /dev/zero " + dump:         "--annotations /dev/zero: it is a device, which may have no end; give the annotations",
		"--perf-map /dev/zero " + dump:            "--perf-map /dev/zero: not a regular file",
		"--signature-lists " + lists + " " + dump: "it is a device, which may have no end",
		"--exe /dev/zero " + dump:                 "--exe /dev/zero: not a regular file",
		"--symbols /dev/zero " + dump:             "--symbols /dev/zero: not a regular file",
		"--sysroot /dev/zero " + dump:             "--sysroot /dev/zero: not a directory",
		"--debug-dir /dev/zero " + dump:           "--debug-dir /dev/zero: not a directory",
		"/dev/zero":                               "/dev/zero: not a regular file",
		"diff /dev/zero /dev/zero":                "/dev/zero: it is a device, which may have no end",
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %d: %s", args, code, stderr.String())
		}
	}
	code, _, stderr := called(t, "minidump-stackwalk", "--evil-json", "/dev/zero", dump)
	if !strings.Contains(stderr, "it is a device, which may have no end") {
		t.Errorf("--evil-json: %d: %s", code, stderr)
	}
}
