//go:build oracle

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// written returns the minidump that a writer of others leaves when the libraries crash; "" if the program was built
// without the writer.
func written(t *testing.T, writer string, libraries ...string) string {
	t.Helper()
	dir := t.TempDir()
	// The process dies of the signal, so that the exit code says nothing.
	out, _ := exec.Command("setarch", append([]string{"-R", programtest.Peer(t, "dump-writer"), writer, dir}, libraries...)...).CombinedOutput()
	if strings.Contains(string(out), "built without") {
		return ""
	}
	var found string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".dmp" {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("%s: %v\n%s", writer, err, out)
	}
	return found
}

// writerStack returns the frames of a dump of dump-writer up to the loader's first function.
func writerStack(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), append([]string{"--brief"}, args...), &out, &errs)
	_, text, _ := strings.Cut(out.String(), "(crashed)\n")
	text, _, ok := strings.Cut(text, "!apkload ")
	if code != 0 || !ok {
		t.Errorf("%q: %d\n%s%s", args, code, out.String(), errs.String())
	}
	return text
}

// TestOracleWriters: minidumps of rust's minidump-writer, of Breakpad's client and of Crashpad, of a process whose
// libraries were mapped from inside an APK, have the stack of the twin's. The libraries are those for pages of 16 KiB,
// which have gaps between their segments, and of 4 KiB, which are adjacent to each other: minidump-writer takes the two
// libraries of the APK for one there. minidump-writer 0.13 has no dump of the former: it reads 128 bytes before the crash
// even where they lie in the gap. Crashpad for Linux, other than for Android, knows no files that are mapped from an
// offset on.
func TestOracleWriters(t *testing.T) {
	dir := apkFixtures(t)
	ran, elsewhere := filepath.Join(dir, "ran"), filepath.Join(dir, "elsewhere")
	for _, tt := range []struct {
		writer, libraries string
		inside            bool
	}{
		{"breakpad", "", true}, {"breakpad", "small", true}, {"rust", "small", true}, {"crashpad", "", false}, {"crashpad", "small", false},
	} {
		base := filepath.Join(ran, tt.libraries)
		apk := filepath.Join(base, "base.apk")
		twin := written(t, tt.writer, filepath.Join(base, "full/libone.so"), filepath.Join(base, "full/libtwo.so"))
		if twin == "" {
			t.Logf("no %s", tt.writer)
			continue
		}
		args := []string{twin}
		if tt.writer == "crashpad" {
			args = []string{"--symbols", apk, twin} // the dump has no paths
		}
		want := writerStack(t, args...)
		if strings.Count(want, "\n") != 9 || strings.Count(want, "apklib.cc") != 7 {
			t.Errorf("%s, %q:\n%s", tt.writer, tt.libraries, want)
		}
		if !tt.inside {
			continue
		}
		dump := written(t, tt.writer, apk+"!/lib/x86_64/libone.so", apk+"!/lib/x86_64/libtwo.so")
		got := writerStack(t, dump)
		if got != want {
			t.Errorf("%s, %q:\n%s", tt.writer, tt.libraries, got)
		}

		// The APK is no longer where it was.
		err := os.Rename(ran, elsewhere)
		if err != nil {
			t.Fatal(err)
		}
		for _, archive := range []string{"base.apk", "../sets/app.apks"} {
			if tt.libraries != "" && archive != "base.apk" {
				continue // the set has the other libraries
			}
			got = writerStack(t, "--symbols", filepath.Join(elsewhere, tt.libraries, archive), dump)
			if got != want {
				t.Errorf("%s, %q, %s:\n%s", tt.writer, tt.libraries, archive, got)
			}
		}
		err = os.Rename(elsewhere, ran)
		if err != nil {
			t.Fatal(err)
		}
	}
}
