package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// hostileRun runs the program in every format, and wants that nothing that it
// writes holds a control character. It returns all of it.
func hostileRun(t *testing.T, args ...string) string {
	t.Helper()
	var all strings.Builder
	for _, format := range [][]string{{"--stack-contents"}, {"-b", "-v"}, {"-m"}, {"--format=json"}} {
		_, stdout, stderr := tested.Printable(t, append(format, args...)...)
		all.WriteString(stdout + stderr)
	}
	return all.String()
}

// TestHostileMinidumps: names of modules, processes and threads, annotations, maps and
// paths that minidumps have.
func TestHostileMinidumps(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(dumps, "*.dmp"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	dir := filepath.Join(t.TempDir(), testfile.Hostile)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for shift := range testfile.HostileShifts() {
			changed := bytes.Clone(data)
			testfile.HostileStrings(changed[32:], shift, true)
			if shift%2 == 0 {
				testfile.HostileStrings(changed[33:], shift, true)
			}
			testfile.HostileStrings(changed[32:], shift, false)
			dump := filepath.Join(dir, filepath.Base(path))
			programtest.Write(t, dump, changed)
			hostileRun(t, "--no-elf", "--symbols", dir, dump)
		}
	}
}

// TestHostileSymbols: the command line of a core, and symbols by another tool, which escapes nothing.
func TestHostileSymbols(t *testing.T) {
	core := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core")
	dir := t.TempDir()
	for _, bad := range []string{testfile.Hostile, "a\tb"} {
		symbols := filepath.Join(dir, "bad"+bad+".sym")
		text := fmt.Sprintf(`MODULE Linux x86_64 0847E5D5E188F8BE72F06618D991C7E60 crash
FILE 0 /src/%[1]s.c
INLINE_ORIGIN 0 inlined%[1]s
FUNC 1000 80 0 function%[1]s
INLINE 0 7 0 0 1000 80
1000 80 3 0
PUBLIC 1080 0 public%[1]s
STACK CFI INIT 1000 80 .cfa: $rsp 8 + .ra: 1
`, bad)
		changed := bytes.ReplaceAll(core, []byte("/tmp/symkit-crash/crash "), []byte("/tmp/symkit-"+(bad + strings.Repeat("x", 12))[:12]))
		dump := filepath.Join(dir, "core"+bad)
		for path, data := range map[string][]byte{symbols: []byte(text), dump: changed} {
			programtest.Write(t, path, data)
		}
		got := hostileRun(t, "--exe", dump, "--symbols", symbols, dump)
		for _, want := range []string{"crash!function", "crash!inlined", "[/src/", `"function":"function`, "|crash|function"} {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %q", want)
			}
		}
	}
	hostileRun(t, filepath.Join(dir, testfile.Hostile+"none"))
	hostileRun(t, "--"+testfile.Hostile)
	hostileRun(t, "--out", filepath.Join(dir, "out"), filepath.Join(dir, testfile.Hostile+"1"), filepath.Join(dir, testfile.Hostile+"2"))
}
