//go:build oracle

package main

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/emit"
	"symkit/test/testfile"
)

// corpusFiles are the ELF files of the corpus that the patterns match.
func corpusFiles(t *testing.T, patterns ...string) (paths []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_CORPUS"), pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s in the corpus %q (%v); run scripts/corpus.sh and set SYMKIT_CORPUS", pattern, os.Getenv("SYMKIT_CORPUS"), err)
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// dumped runs dump_syms, which must find nothing wrong and miss no supplementary
// file, and returns the symbol file.
func dumped(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("dump_syms %q: exit code %d\n%s", args, code, stderr.String())
	}
	if strings.Contains(stderr.String(), "supplementary") { // none of these lacks one
		t.Errorf("dump_syms %q:\n%s", args, stderr.String())
	}
	return stdout.Bytes()
}

// TestOracleStripped: Debian's stripped programs have a PUBLIC for every
// function that .dynsym defines, unwind rules for all of .text that .eh_frame
// describes, and nothing that symcheck objects to.
func TestOracleStripped(t *testing.T) {
	t.Setenv("DEBUGINFOD_URLS", "")
	programs := corpusFiles(t, "bash/bin/bash", "coreutils/bin/*", "coreutils/usr/bin/*", "sqlite3/usr/bin/sqlite3", "python3.11-minimal/usr/bin/python3.11")
	if len(programs) < 50 {
		t.Fatalf("only %d programs", len(programs))
	}
	publics, rules := 0, 0
	for _, path := range programs {
		text := dumped(t, "-a", "--check", "--debug-dir", t.TempDir(), path)
		have := map[uint64]bool{}
		for record, err := range emit.NewReader(text).Records() {
			switch r := record.(type) {
			case *emit.Public:
				have[r.Addr] = true
				publics++
			case *emit.StackCFIInit:
				rules++
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		for _, s := range definedFunctions(t, path) {
			if !have[s.Value] {
				t.Errorf("%s: no PUBLIC for %s at %#x", path, s.Name, s.Value)
			}
		}
		if rules == 0 {
			t.Errorf("%s: no STACK CFI", path)
		}
	}
	t.Logf("%d programs: %d PUBLIC, %d STACK CFI INIT records", len(programs), publics, rules)
}

// definedFunctions reads .dynsym with debug/elf.
func definedFunctions(t *testing.T, path string) []elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return slices.DeleteFunc(symbols, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF
	})
}

// TestOracleDebuginfod: a stripped program joined with its debug file, from the
// real server, gives what the debug file at hand gives.
func TestOracleDebuginfod(t *testing.T) {
	python := corpusFiles(t, "python3.11-minimal/usr/bin/python3.11")[0]
	debug := filepath.Join(os.Getenv("SYMKIT_CORPUS"), "python3.11-dbg/usr/lib/debug")
	t.Setenv("DEBUGINFOD_URLS", "")
	want := dumped(t, "-d", "--strict", "--debug-dir", debug, python)
	t.Setenv("DEBUGINFOD_URLS", testfile.Debuginfod(t, debug))
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())
	got := dumped(t, "-d", "--strict", "--check", "--debug-dir", t.TempDir(), python)
	if !bytes.Equal(got, want) {
		t.Error("another dump than with the directory of debug files")
	}
	if n := bytes.Count(got, []byte("\nFUNC ")); n < 9000 {
		t.Errorf("only %d functions", n)
	}
}

// TestOracleDebuginfodDwz is that for programs packed as Debian packs those of
// one package: dwz moves what they share to a file in .dwz, which is found by
// its build id alone.
func TestOracleDebuginfodDwz(t *testing.T) {
	dir := t.TempDir()
	command := func(name string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "debug", ".dwz"), 0o755); err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Abs("../../test/oracle/testdata/companions")
	if err != nil {
		t.Fatal(err)
	}
	command("gcc", "-g", "-O2", "-c", filepath.Join(sources, "calc.c"))
	want := map[string][]byte{}
	names := []string{"one", "two", "three"}
	for i, name := range names {
		command("g++", "-g", "-O2", "-Wl,--build-id=sha1", fmt.Sprintf("-DPROGRAM=%d", i), "-o", name, filepath.Join(sources, "main.cc"),
			filepath.Join(sources, "shape.cc"), "calc.o")
		want[name] = dumped(t, "-d", "-n", name, filepath.Join(dir, name))
		command("objcopy", "--only-keep-debug", name, name+".debug")
	}
	const common = ".dwz/common.debug"
	command("dwz", append([]string{"-q", "-m", "debug/" + common, "-M", "/usr/lib/debug/" + common}, "one.debug", "two.debug", "three.debug")...)
	for _, name := range names {
		command("objcopy", "--compress-debug-sections", name+".debug", filepath.Join("debug", buildID(t, filepath.Join(dir, name))+".debug"))
		command("strip", name)
	}
	t.Setenv("DEBUGINFOD_URLS", testfile.Debuginfod(t, filepath.Join(dir, "debug")))
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())
	for _, name := range names {
		got := dumped(t, "-d", "--strict", "--debug-dir", t.TempDir(), "-n", name, filepath.Join(dir, name))
		if !bytes.Equal(got, want[name]) || !strings.Contains(string(got), "\nINLINE ") {
			t.Errorf("%s: another dump than of the program before it was stripped", name)
		}
	}
}

func buildID(t *testing.T, path string) string {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return fmt.Sprintf("%x", f.BuildID())
}
