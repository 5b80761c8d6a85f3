//go:build oracle

package symbolizer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/oracle"
)

// build compiles a program named name in a new directory.
func build(t *testing.T, name, compiler string, args ...string) oracle.Input {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	args = append([]string{"-o", out}, args...)
	if compiler == "go" {
		args = append([]string{"build"}, args...)
	}

	cmd := exec.Command(compiler, args...)
	if strings.HasSuffix(name, "-dw4") {
		cmd.Env = append(os.Environ(), "GOEXPERIMENT=nodwarf5")
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
	return oracle.Input{Name: name, Main: out}
}

// rustProgram builds a program with the standard library in it, monomorphised and precompiled.
func rustProgram(t *testing.T) oracle.Input {
	t.Helper()
	return build(t, "rust-program", "rustc", "-g", "-O", "../testdata/stacks/main.rs")
}

// goPrograms builds a program with much of the standard library in it, with DWARF 4 and 5.
func goPrograms(t *testing.T) (dw4, dw5 oracle.Input) {
	t.Helper()
	return build(t, "go-dw4", "go", "../testdata/stacks/main.go"), build(t, "go-dw5", "go", "../testdata/stacks/main.go")
}

// strippedGo builds the program of goPrograms without symbols and DWARF.
func strippedGo(t *testing.T) oracle.Input {
	t.Helper()
	return build(t, "go-stripped", "go", "-ldflags=-s -w", "../testdata/stacks/main.go")
}

// ltoPrograms builds a program with optimisation at link time, where functions of one
// unit are inlined into those of others, with DWARF 4 and 5.
func ltoPrograms(t *testing.T) (dw4, dw5 oracle.Input) {
	t.Helper()
	flags := []string{
		"-O2", "-std=c++17", "-flto", "-fuse-ld=lld", "-pthread", "-Wl,--build-id",
		"../testdata/stacks/main.cc", "../testdata/stacks/shapes.cc", "../testdata/stacks/hash.cc",
	}
	return build(t, "clang-lld-lto-dw4", "clang++", append(flags, "-gdwarf-4")...),
		build(t, "clang-lld-lto-dw5", "clang++", append(flags, "-gdwarf-5")...)
}
