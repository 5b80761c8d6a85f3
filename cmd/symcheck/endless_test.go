//go:build unix

package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestEndless: a device that never ends is an error of one line.
func TestEndless(t *testing.T) {
	for args, want := range map[string]string{
		"lint /dev/zero":                     "/dev/zero: it is a device, which may have no end; give the path of a symbol file",
		"diff /dev/zero /dev/zero":           "/dev/zero: it is a device, which may have no end; give the path of a symbol file",
		"/dev/zero ../../testdata/elf/x":     "/dev/zero: it is a device, which may have no end; give the path of a symbol file",
		"../../testdata/README.md /dev/zero": "/dev/zero: not a regular file",
		"lint /dev/null":                     "/dev/null: the symbol file is empty",
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %d: %s", args, code, stderr.String())
		}
	}
}
