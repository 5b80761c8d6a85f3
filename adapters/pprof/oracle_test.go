//go:build oracle

package pprof_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"symkit/adapters/pprof"
)

const source = `#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
namespace work {
template <class T> static inline T square(T x) { return x * x + std::sqrt(x); }
__attribute__((noinline)) double sum(const std::vector<double> &v) {
	double s = 0;
	for (double d : v) s += square(d);
	return s;
}
}
struct Less { bool operator()(double a, double b) const { return std::sin(a) < std::sin(b); } };
__attribute__((noinline)) void sorted(std::vector<double> v) {
	std::sort(v.begin(), v.end(), Less());
	std::printf("%f\\n", v[0]);
}
int main() {
	std::vector<double> v;
	for (int i = 0; i < 300000; i++) v.push_back(i * 1.7);
	sorted(v);
	std::printf("%f\\n", work::sum(v));
}
`

// TestOracleBinutils: pprof's reports are the same as with llvm-symbolizer, line by line, at every third byte of the
// functions of a program of g++ and clang++, position-independent or not.
func TestOracleBinutils(t *testing.T) {
	_, err := exec.LookPath("llvm-symbolizer") // pprof would take addr2line
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = os.WriteFile(filepath.Join(dir, "a.cc"), []byte(source), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"g++ -O2 -g -pie", "g++ -O2 -g -no-pie", "g++ -O0 -g -pie", "clang++ -O2 -g -pie -gdwarf-5", "clang++ -O2 -g -no-pie -fuse-ld=lld"} {
		words := append(strings.Fields(command), "-o", "a", "a.cc")
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		p := everywhere(t, filepath.Join(dir, "a"))
		t.Logf("%s: %d addresses", command, len(p.Location))
		tool := &pprof.Tool{}
		want := report(t, p.Copy(), driver.Options{}, "-traces", "-lines")
		want = strings.ReplaceAll(want, " main.cold ", " main ") // the part of main that is seldom run
		for name, o := range map[string]driver.Options{"Obj": {Obj: tool}, "Obj, Sym": {Obj: tool, Sym: tool}} {
			compare(t, command+", "+name, report(t, p.Copy(), o, "-traces", "-lines"), want)
		}
		tool.Close()
	}
}

// everywhere returns a profile of addresses in a program's functions, with the mappings that a loader would make.
func everywhere(t *testing.T, path string) *profile.Profile {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bias := uint64(0)
	if f.Type == elf.ET_DYN {
		bias = 0x555555554000
	}
	const page = 4096
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "count"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "count"}}
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 {
			p.Mapping = append(p.Mapping, &profile.Mapping{ID: uint64(len(p.Mapping)) + 1, Start: bias + s.Vaddr&^(page-1),
				Limit: (bias + s.Vaddr + s.Memsz + page - 1) &^ (page - 1), Offset: s.Off &^ (page - 1), File: path})
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for _, s := range symbols {
		for addr := s.Value; elf.ST_TYPE(s.Info) == elf.STT_FUNC && addr < s.Value+s.Size; addr += 3 {
			i := slices.IndexFunc(p.Mapping, func(m *profile.Mapping) bool { return addr+bias >= m.Start && addr+bias < m.Limit })
			if i < 0 || seen[addr] {
				continue
			}
			seen[addr] = true
			l := &profile.Location{ID: uint64(len(p.Location)) + 1, Mapping: p.Mapping[i], Address: addr + bias}
			p.Location = append(p.Location, l)
			p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{1}})
		}
	}
	return p
}

// compare reports the first lines that differ.
func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	shown := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && shown < 10 {
			t.Errorf("%s: line %d: %q, want %q", what, i, a[i], b[i])
			shown++
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, want %d", what, len(a), len(b))
	}
}
