//go:build unix

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestEndless: a device that never ends is an error of one line, for each flag that reads a file.
func TestEndless(t *testing.T) {
	const elf = " ../../testdata/elf/lang-x86_64-gcc12-O2-dw5.elf"
	store := "--store " + filepath.Join(t.TempDir(), "store")
	for args, want := range map[string]string{
		"--mapping-file /dev/zero" + elf:  "--mapping-file /dev/zero: it is a device, which may have no end; give a JSON file of rules",
		store + " --done /dev/zero" + elf: "--done /dev/zero: not a regular file",
		store + " --files-from /dev/zero": "--files-from /dev/zero: not a list of paths",
		"--debug-dir /dev/zero" + elf:     "--debug-dir /dev/zero: not a directory",
		"--sysroot /dev/zero" + elf:       "--sysroot /dev/zero: not a directory",
		"--dwo-dir /dev/zero" + elf:       "/dev/zero: not a directory",
		"/dev/zero":                       "/dev/zero: not a regular file",
		elf + " /dev/zero":                "/dev/zero: not a regular file",
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if code == 0 || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %d: %s", args, code, stderr.String())
		}
	}
}
