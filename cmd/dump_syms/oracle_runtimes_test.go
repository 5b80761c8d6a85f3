//go:build oracle

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// downloaded runs a command that brings packages into a directory, unpacks them, and returns the directory.
func downloaded(t *testing.T, command string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("bash", "-euc", command)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// TestOracleDart: snapshots that Dart compiled ahead of time, of npm's packages, have the functions, lines and inlined
// calls that llvm-symbolizer finds, also where the snapshot was stripped and the debug file has the rest.
func TestOracleDart(t *testing.T) {
	for _, platform := range []string{"linux-x64", "android-arm64"} {
		dir := downloaded(t, "npm pack --silent sass-embedded-"+platform+"@1.89.0 && tar xf *.tgz")
		whole, stripped, dumped := filepath.Join(dir, "package/dart-sass/src/sass.snapshot"), filepath.Join(dir, "libapp.so"), filepath.Join(dir, "whole.sym")
		out, err := exec.Command("llvm-strip", "-o", stripped, whole).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var text, pair, errs bytes.Buffer
		code := run(t.Context(), []string{"--inlines", "--check", "--strict", whole}, &text, &errs)
		if code != 0 {
			t.Fatalf("%s: %d\n%s", platform, code, errs.String())
		}
		code = run(t.Context(), []string{"--inlines", "--check", "--strict", "--name", "sass.snapshot", stripped, whole}, &pair, &errs)
		if code != 0 || pair.String() != text.String() {
			t.Errorf("%s, stripped: %d, %d bytes, not %d\n%s", platform, code, pair.Len(), text.Len(), errs.String())
		}
		err = os.WriteFile(dumped, text.Bytes(), 0o666)
		if err != nil {
			t.Fatal(err)
		}

		// Addresses in functions, by our symbol file and by the DWARF.
		var addresses strings.Builder
		random := rand.New(rand.NewPCG(1, 2))
		for i, m := range functionRecord.FindAllStringSubmatch(text.String(), -1) {
			if i%4 == 0 {
				addr, _ := strconv.ParseUint(m[1], 16, 64)
				fmt.Fprintf(&addresses, "%#x\n", addr+4*random.Uint64N(4))
			}
		}
		ask := func(name string, args ...string) string {
			cmd := exec.Command(name, args...)
			cmd.Stdin = strings.NewReader(addresses.String())
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return string(out)
		}
		theirs := ask("llvm-symbolizer", "-i", "--obj="+whole)
		ours := ask(symbolizer(t), "-i", "--obj="+whole)
		if ours != theirs || strings.Count(ours, "sass") < 1000 {
			t.Errorf("%s: %d and %d bytes of places", platform, len(ours), len(theirs))
		}
	}
}

// symbolizer builds symaddr under the name of the program that it takes the place of.
func symbolizer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "llvm-symbolizer")
	out, err := exec.Command("go", "build", "-pgo=off", "-o", path, "../symaddr").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestOracleNativeAOT: libraries that .NET compiled ahead of time, of PyPI's packages, which come without their debug files:
// exported functions and unwind rules, none of which symcheck finds wrong.
func TestOracleNativeAOT(t *testing.T) {
	for _, wheel := range []string{"acadsharp-native==0.1.0", "excelreader-native==7.3.0", "quantalib==0.8.12"} {
		dir := downloaded(t, "pip download -q --no-deps "+wheel+" && python3 -m zipfile -e *.whl .")
		var libraries []string
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if filepath.Ext(path) == ".so" {
				libraries = append(libraries, path)
			}
			return err
		})
		if err != nil || len(libraries) != 1 {
			t.Fatalf("%s: %v, %q", wheel, err, libraries)
		}
		var text, errs bytes.Buffer
		code := run(t.Context(), []string{"--check", libraries[0]}, &text, &errs)
		if code != 0 || strings.Count(text.String(), "\nSTACK CFI INIT ") < 10000 || strings.Count(text.String(), "\nPUBLIC ") < 100 {
			t.Errorf("%s: %d, %d bytes\n%s", wheel, code, text.Len(), errs.String())
		}
	}
}
