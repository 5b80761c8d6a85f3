//go:build oracle

// Package symbolizer compares the inline stacks of symbol files with those that
// llvm-symbolizer, addr2line of binutils and that of elfutils print.
package symbolizer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// samples is the number of addresses of each file that are looked up.
const samples = 20_000

// randomPCs returns sorted addresses in code, every byte as likely as any other. Code
// is in our functions, or in function symbols with a size.
func randomPCs(x *symfile.Index, a *aliases) []uint64 {
	var code []oracle.Span
	for i := range x.Funcs {
		code = append(code, oracle.Span{Lo: x.Funcs[i].Lo + x.Load, Hi: x.Funcs[i].Hi + x.Load})
	}

	code = oracle.Join(append(code, a.sized...))
	var total uint64
	for _, s := range code {
		total += s.Hi - s.Lo
	}

	random := rand.New(rand.NewPCG(3, 20_000))
	offsets := make([]uint64, samples)
	for i := range offsets {
		offsets[i] = random.Uint64N(total)
	}

	slices.Sort(offsets)
	pcs := offsets[:0]
	var before uint64
	for _, off := range offsets {
		for off-before >= code[0].Hi-code[0].Lo {
			before += code[0].Hi - code[0].Lo
			code = code[1:]
		}
		pcs = append(pcs, code[0].Lo+off-before)
	}
	return pcs
}

// compareStack compares the stacks of a file and returns its row of the table. If the
// other programs read a twin of the file, functions that both have are compared.
func compareStack(t *testing.T, in, other *oracle.Input) string {
	text := oracle.Dump(t, in, dump.Options{Inlines: true})
	records := bytes.Count(text, []byte("\nINLINE "))
	// Without clipping, and with empty ranges, there would be 2.85 million.
	if in.Name == "ceph-osd" && records >= 2_850_000/2 {
		t.Errorf("%d INLINE records", records)
	}

	c := comparison{
		t: t, x: symfile.NewIndex(symfile.Parse(t, text), oracle.ReadLayout(t, in.Main).Load), names: readAliases(t, in), file: in.DWARFFile(),
		wrong: oracle.NewDiffs(t, "stacks that are not what two oracles say"), causes: map[string]int{}, equal: map[string]int{},
	}
	c.pcs = randomPCs(c.x, c.names)
	if other != nil {
		c.pair(newTwin(t, in, c.x, other), readAliases(t, other))
	}

	c.run()
	c.settle()
	c.wrong.Report()
	if c.forgotten > 0 {
		t.Logf("%d stacks with a call whose place .gopclntab does not have", c.forgotten)
	}
	if c.forgotten > len(c.pcs)/1000 {
		t.Error("that is too many")
	}
	return fmt.Sprintf("%9d %s", records, c.row())
}

// corpusStacks returns files of the corpus whose stacks take minutes to compare.
func corpusStacks(t *testing.T) []oracle.Input {
	return slices.Concat(
		oracle.FromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
		oracle.FromCorpus(t, "libstdc++6-12-dbg/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.*.*", ""),
		oracle.FromCorpus(t, "valgrind/usr/libexec/valgrind/memcheck-amd64-linux", "valgrind-dbg"),
	)
}

func TestOracleStacks(t *testing.T) {
	compareStacks(t, corpusStacks(t))
}

func TestOracleStacksBuilt(t *testing.T) {
	compareStacks(t, []oracle.Input{rustProgram(t)})
}

// TestOracleStacksTwins has programs whose DWARF 5 addr2line and eu-addr2line do not
// understand (clang's LTO, where addresses are indirect) or no other program does
// (Go's). Our stacks of both are compared with theirs of the same program with
// DWARF 4.
func TestOracleStacksTwins(t *testing.T) {
	var table strings.Builder
	for _, programs := range []func(*testing.T) (dw4, dw5 oracle.Input){goPrograms, ltoPrograms} {
		dw4, dw5 := programs(t)
		for _, in := range []*oracle.Input{&dw4, &dw5} {
			t.Run(in.Name, func(t *testing.T) {
				fmt.Fprintf(&table, "%-30s %s\n", in.Name, compareStack(t, in, &dw4))
			})
		}
	}
	t.Logf("stacks:\n%s%s", tableHead, table.String())
}

// TestOracleStacksGo: .gopclntab gives a Go program without DWARF and symbols the
// stacks that DWARF 4 gives it.
func TestOracleStacksGo(t *testing.T) {
	in := strippedGo(t)
	dw4, _ := goPrograms(t)
	t.Logf("stacks:\n%s%-30s %s", tableHead, in.Name, compareStack(t, &in, &dw4))
}

func TestCorpusStacks(t *testing.T) {
	compareStacks(t, slices.Concat(
		oracle.FromCorpus(t, "openjdk-17-jre-headless/usr/lib/jvm/*/lib/server/libjvm.so", "openjdk-17-dbg"),
		oracle.FromCorpus(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*", ""),
		oracle.FromCorpus(t, "ceph-osd/usr/bin/ceph-osd", "ceph-osd-dbg"),
		oracle.FromCorpus(t, "ceph-osd/usr/bin/ceph-objectstore-tool", "ceph-osd-dbg"),
		oracle.FromCorpus(t, "ceph-osd/usr/bin/ceph-bluestore-tool", "ceph-osd-dbg"),
	))
}

// tableHead is the head of the table.
const tableHead = "file                              INLINE     PCs  two agree ours equal all differ  ours then equal; what differs\n"

// compareStacks compares the stacks of each file, and prints the figures.
func compareStacks(t *testing.T, inputs []oracle.Input) {
	var table strings.Builder
	for i := range inputs {
		in := &inputs[i]
		t.Run(filepath.Base(in.Name), func(t *testing.T) {
			fmt.Fprintf(&table, "%-30s %s\n", in.Name, compareStack(t, in, nil))
		})
	}
	t.Logf("stacks:\n%s%s", tableHead, table.String())
}
