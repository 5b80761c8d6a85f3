package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// TestWriters: minidumps of Breakpad's client, which lists the parts of a library with gaps as modules, the build id in
// the first part alone, and of rust's minidump-writer, which takes adjacent libraries of one APK for one module. The dumps
// are of cmd/stackwalk/testdata/dump-writer (TestOracleWriters), with the libraries of scripts/fixtures-apk.sh --all.
func TestWriters(t *testing.T) {
	const want = "two::crash|two::Engine::step(int (*)(int), int)|two::run(int (*)(int), int)|enter|" +
		"one::Engine::step(int (*)(int), int)|one::run(int (*)(int), int)|enter"
	names := regexp.MustCompile(`(?m)^ +\d+  lib(?:one|two)\.so!(.*?)(?: \+ 0x[0-9a-f]+)? \[`)
	for dump, apk := range map[string]string{"breakpad-parts": "base", "rust-adjacent": "small"} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"--brief", "--symbols", "../../testdata/apk/" + apk + ".apk", "../../testdata/apk/" + dump + ".dmp.xz"}, &out, &errs)
		var got []string
		for _, m := range names.FindAllStringSubmatch(out.String(), -1) {
			got = append(got, m[1])
		}
		if code != 0 || strings.Join(got, "|") != want {
			t.Errorf("%s: %d, %q\n%s", dump, code, errs.String(), out.String())
		}
	}
}
