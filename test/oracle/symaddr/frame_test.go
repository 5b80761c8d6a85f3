//go:build oracle

package symaddr

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/test/oracle"
	"symkit/test/testfile"
)

// local is a variable of llvm-symbolizer's JSON for FRAME.
type local struct {
	FunctionName, Name, DeclFile, Size, TagOffset string
	DeclLine                                      uint32
	FrameOffset                                   *int64
}

func (l *local) offset() string {
	if l.FrameOffset == nil {
		return ""
	}
	return fmt.Sprint(*l.FrameOffset)
}

// TestOracleFrame: the local variables of all functions and of what is inlined in them are those of llvm-symbolizer, but
// for what the document lists.
func TestOracleFrame(t *testing.T) {
	ours := filepath.Join(links(t), "llvm-symbolizer")
	kinds, variables := map[string]bool{}, 0
	for _, m := range slices.Concat(fixtures(t), built(t), unoptimized(t), small(t)) {
		other := twin(t, &m)
		if other != "" {
			m.theirs = other
		}
		c := &frameComparison{t: t, m: m, kinds: kinds, wrong: oracle.NewDiffs(t, "addresses with other variables in "+m.name)}
		pcs := functionAddresses(t, m.file())
		got, want := c.ask(ours, m.path, pcs), c.ask("llvm-symbolizer", m.file(), pcs)
		for i, pc := range pcs {
			variables += len(got[i])
			c.compare(pc, got[i], want[i])
		}
		c.wrong.Report()
	}
	t.Logf("%d variables", variables)
	testfile.Documented(t, document, "FRAME", slices.Collect(maps.Keys(kinds)))
}

// unoptimized returns programs without optimisation, and one of AArch64 with tags.
func unoptimized(t *testing.T) (list []module) {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("../gsymutil/testdata/stl.cc")
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string]string{
		"g++ -O0":     "g++ -O0",
		"clang++ -O0": "clang++ -O0",
		"tags":        "clang++ -O1 --target=aarch64-linux-gnu -fsanitize=hwaddress -shared -fPIC -nostdlib -fuse-ld=lld",
		"tags -O0":    "clang++ -O0 --target=aarch64-linux-gnu -fsanitize=hwaddress -shared -fPIC -nostdlib -fuse-ld=lld",
	} {
		args := strings.Fields(words)
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", ""))
		run(t, dir, "", args[0], append(args[1:], "-g", "-o", path, source)...)
		list = append(list, module{name: name, path: path})
	}
	return list
}

// functionAddresses returns addresses in all functions of a file.
func functionAddresses(t *testing.T, path string) (pcs []uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			pcs = append(pcs, s.Value&^1)
			for at := uint64(8); at < min(s.Size, 1024); at += 60 {
				pcs = append(pcs, s.Value&^1+at)
			}
		}
	}
	slices.Sort(pcs)
	return slices.Compact(pcs)
}

// frameComparison compares the variables at addresses of a module.
type frameComparison struct {
	t     *testing.T
	m     module
	kinds map[string]bool
	wrong *oracle.Diffs
}

// ask returns the variables that a program gives.
func (c *frameComparison) ask(program, file string, pcs []uint64) (out [][]local) {
	c.t.Helper()
	var in strings.Builder
	for _, pc := range pcs {
		fmt.Fprintf(&in, "FRAME %s %#x\n", file, pc)
	}
	for line := range strings.Lines(run(c.t, "", in.String(), program, append([]string{"--output-style=JSON"}, c.m.flags...)...)) {
		var answer struct{ Frame []local }
		err := json.Unmarshal([]byte(line), &answer)
		if err != nil {
			c.t.Fatalf("%s: %v: %s", program, err, line)
		}
		out = append(out, answer.Frame)
	}
	if len(out) != len(pcs) {
		c.t.Fatalf("%s: %s: %d answers to %d addresses", c.m.name, program, len(out), len(pcs))
	}
	return out
}

// The kinds of differences.
const (
	wideBound    = "the upper bound of an array is not negative"
	computedSize = "an array whose length the program computes has no size"
	otherUnit    = "the file of a declaration in another unit is one of that unit"
	longChain    = "the name and the type are those at the end of the chain of origins"
	typeUnit     = "a class in a type unit has its size"
	splitUnit    = "variables of split units are known"
)

// compare compares the variables at an address.
func (c *frameComparison) compare(pc uint64, got, want []local) {
	if len(want) == 0 && len(got) > 0 && strings.Contains(c.m.name, "split") {
		c.kinds[splitUnit] = true
		return
	}
	if len(got) != len(want) {
		c.wrong.Add("%#x:\n\t\tours %+v\n\t\tLLVM %+v", pc, got, want)
		return
	}
	for i := range got {
		a, b := got[i], want[i]
		c.settle(b.Name == "" && b.Size == "", longChain, &a.Name, "")
		c.settle(b.Name == "" && b.Size == "", longChain, &a.Size, "")
		c.settle(b.Size == "" && strings.Contains(c.m.name, "types"), typeUnit, &a.Size, "")
		c.settle(isNegative(b.Size), wideBound, &a.Size, b.Size)
		c.settle(a.Size == "", computedSize, &a.Size, b.Size)
		c.settle(strings.Contains(c.m.name, "lto"), otherUnit, &a.DeclFile, b.DeclFile)
		c.settle(isTwice(b.DeclFile, a.DeclFile), twiceDirectory, &a.DeclFile, b.DeclFile)
		if a.offset() != b.offset() {
			c.wrong.Add("%#x: %s: ours %s, LLVM %s", pc, a.Name, a.offset(), b.offset())
		}
		a.FrameOffset, b.FrameOffset = nil, nil
		if a != b {
			c.wrong.Add("%#x:\n\t\tours %+v\n\t\tLLVM %+v", pc, got[i], want[i])
		}
	}
}

// isNegative reports whether a size is 0, or a negative number in 64 bits.
func isNegative(size string) bool {
	return size == "0x0" || len(size) == len("0xffffffffffffffff") && size[2] == 'f'
}

// settle makes a text equal to another if the condition of a kind of differences holds.
func (c *frameComparison) settle(is bool, kind string, text *string, want string) {
	if is && *text != want {
		c.kinds[kind] = true
		*text = want
	}
}
