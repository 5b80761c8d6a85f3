//go:build oracle

package oracle_test

import (
	"cmp"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// build runs a compiler that leaves a program named name in a new directory.
func build(t *testing.T, name, compiler string, args ...string) input {
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
	return input{name: name, main: out}
}

// rustProgram has the standard library in it, monomorphised and precompiled.
func rustProgram(t *testing.T) input {
	t.Helper()
	return build(t, "rust-program", "rustc", "-g", "-O", "testdata/stacks/main.rs")
}

// goPrograms have much of the standard library in them, with DWARF 4 and 5.
func goPrograms(t *testing.T) (dw4, dw5 input) {
	t.Helper()
	return build(t, "go-dw4", "go", "testdata/stacks/main.go"), build(t, "go-dw5", "go", "testdata/stacks/main.go")
}

// strippedGo is the same without symbols and DWARF.
func strippedGo(t *testing.T) input {
	t.Helper()
	return build(t, "go-stripped", "go", "-ldflags=-s -w", "testdata/stacks/main.go")
}

// ltoPrograms are optimised as a whole when they are linked: functions of one
// unit are inlined into those of others. One has DWARF 4, one has 5.
func ltoPrograms(t *testing.T) (dw4, dw5 input) {
	t.Helper()
	flags := []string{
		"-O2", "-std=c++17", "-flto", "-fuse-ld=lld", "-pthread", "-Wl,--build-id",
		"testdata/stacks/main.cc", "testdata/stacks/shapes.cc", "testdata/stacks/hash.cc",
	}
	return build(t, "clang-lld-lto-dw4", "clang++", append(flags, "-gdwarf-4")...),
		build(t, "clang-lld-lto-dw5", "clang++", append(flags, "-gdwarf-5")...)
}

// twin maps addresses of a program to those of another that differs in where
// its functions are and in its debug information.
type twin struct {
	file string
	own  []elf.Symbol // by address: functions that have a twin
	addr map[string]uint64
	// stripped: the program has no symbols, and no DWARF.
	stripped bool
}

// newTwin pairs functions by name and size. Of one whose name is not unique
// nothing is known. A program without symbols has the functions that x has, with
// other padding.
func newTwin(t *testing.T, in *input, x *stackIndex, other *input) *twin {
	t.Helper()
	tw := &twin{file: other.main, addr: map[string]uint64{}}
	own, theirs := functions(t, in.main), functions(t, other.main)
	if tw.stripped = len(own) == 0; tw.stripped {
		times := map[string]int{}
		for _, f := range x.funcs {
			if times[f.name]++; times[f.name] > 1 { // Go's wrappers for its other calling convention
				delete(own, f.name)
				continue
			}
			own[f.name] = elf.Symbol{Name: f.name, Value: f.lo + x.load, Size: min(f.hi-f.lo, theirs[f.name].Size)}
		}
	}
	for name, s := range own {
		if o, ok := theirs[name]; ok && (o.Size == s.Size || tw.stripped) {
			tw.own = append(tw.own, s)
			tw.addr[name] = o.Value
		}
	}
	slices.SortFunc(tw.own, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return tw
}

// functions returns the function symbols with a name of their own.
func functions(t *testing.T, path string) map[string]elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		t.Fatal(err)
	}
	count := map[string]int{}
	out := map[string]elf.Symbol{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			count[s.Name]++
			out[s.Name] = s
		}
	}
	for name, n := range count {
		if n > 1 {
			delete(out, name)
		}
	}
	return out
}

// address is where the twin has the code at pc.
func (tw *twin) address(pc uint64) (uint64, bool) {
	i, _ := slices.BinarySearchFunc(tw.own, pc+1, func(s elf.Symbol, addr uint64) int { return cmp.Compare(s.Value, addr) })
	if i == 0 || pc-tw.own[i-1].Value >= tw.own[i-1].Size {
		return 0, false
	}
	return tw.addr[tw.own[i-1].Name] + pc - tw.own[i-1].Value, true
}
