//go:build oracle

package oracle_test

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
)

// object is a relocatable object as the oracles see it: its sections laid out
// as libdwfl does, from what debug/elf reads.
type object struct {
	layout
	base  []uint64 // address of each section, by index
	names []string
	// frames are the sections that the FDEs of .debug_frame are about, by offset.
	frames map[uint64]int
	funcs  []span // of symbols
}

func readObject(t *testing.T, path string) *object {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer f.Close()
	o := &object{layout: layout{machine: f.Machine}, base: make([]uint64, len(f.Sections)), frames: map[uint64]int{}}
	next := uint64(0)
	for i, s := range f.Sections {
		o.names = append(o.names, s.Name)
		if s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		align := max(s.Addralign, 1)
		next = (next + align - 1) / align * align
		o.base[i] = next
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 {
			o.code = append(o.code, span{next, next + s.Size})
		}
		next += s.Size
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && int(s.Section) < len(o.base) {
			lo := o.base[s.Section] + s.Value
			o.funcs = append(o.funcs, span{lo, lo + s.Size})
		}
	}
	slices.SortFunc(o.funcs, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	if s := f.Section(".rela.debug_frame"); s != nil {
		o.readFrames(t, f, s, symbols)
	}
	return o
}

// readFrames notes the section of each relocated field of .debug_frame, of
// which initial_location is one.
func (o *object) readFrames(t *testing.T, f *elf.File, s *elf.Section, symbols []elf.Symbol) {
	t.Helper()
	data, err := s.Data()
	if err != nil || f.Class != elf.ELFCLASS64 {
		t.Fatalf("%s: %v", s.Name, err)
	}
	for ; len(data) >= 24; data = data[24:] {
		at, info := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		o.frames[at] = int(symbols[info>>32-1].Section)
	}
}

// inFunction tells whether a symbol's function has pc.
func (o *object) inFunction(pc uint64) bool {
	return slices.ContainsFunc(o.funcs, func(f span) bool { return pc >= f.lo && pc < f.hi })
}

// kernelModules are the modules of the corpus's kernel.
func kernelModules(t *testing.T) (inputs []input) {
	t.Helper()
	roots, err := filepath.Glob(filepath.Join(corpusDir(t), "linux-image-*-dbg/usr/lib/debug/lib/modules"))
	if err != nil || len(roots) == 0 {
		t.Fatalf("no kernel modules in the corpus (%v); run scripts/corpus.sh", err)
	}
	err = filepath.WalkDir(roots[0], func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".ko") {
			inputs = append(inputs, input{name: filepath.Base(path), main: path})
		}
		return err
	})
	if err != nil || len(inputs) < 1000 {
		t.Fatalf("%d modules, %v", len(inputs), err)
	}
	return inputs
}

// modulePCs is how many addresses are asked of all modules together, some of
// them twice by chance.
const modulePCs = 20900

// TestCorpusKernelModules compares every module of a kernel: the functions and
// lines at random addresses with eu-addr2line's, the unwind rules with
// readelf's.
func TestCorpusKernelModules(t *testing.T) {
	inputs := kernelModules(t)
	objects := make([]*object, len(inputs))
	total := uint64(0)
	for i := range inputs {
		objects[i] = readObject(t, inputs[i].main)
		for _, s := range objects[i].code {
			total += s.hi - s.lo
		}
	}
	rnd := rand.New(rand.NewPCG(8, 1121))
	var sum moduleCounts
	var cfi cfiCounts
	for i := range inputs {
		o := objects[i]
		own := uint64(0)
		for _, s := range o.code {
			own += s.hi - s.lo
		}
		n := int(own*(modulePCs-uint64(5*len(inputs)))/total) + 5
		s := parseSym(t, dumpText(t, &inputs[i], dump.Options{Inlines: true}))
		c := checkObject(t, &inputs[i], s, o)
		cfi.fdes, cfi.rows = cfi.fdes+c.fdes, cfi.rows+c.rows
		if own > 0 {
			sum.compare(t, &inputs[i], newStackIndex(s, 0), o, addressesIn(rnd, o.code, n))
		}
	}
	t.Logf("%d modules: %d FDEs, %d rows compared; %v", len(inputs), cfi.fdes, cfi.rows, &sum)
	if sum.pcs < 20000 {
		t.Errorf("only %d addresses", sum.pcs)
	}
}

// addressesIn returns n addresses of code, in order.
func addressesIn(rnd *rand.Rand, code []span, n int) (pcs []uint64) {
	total := uint64(0)
	for _, s := range code {
		total += s.hi - s.lo
	}
	for range n {
		at := rnd.Uint64N(total)
		for _, s := range code {
			if at < s.hi-s.lo {
				pcs = append(pcs, s.lo+at)
				break
			}
			at -= s.hi - s.lo
		}
	}
	slices.Sort(pcs)
	return slices.Compact(pcs)
}

// checkObject is checkCFI for an object: readelf takes every section to be at
// address 0.
func checkObject(t *testing.T, in *input, s *symFile, o *object) cfiCounts {
	t.Helper()
	return checkFrames(t, in, s, &o.layout, readFramesAt(t, in, &o.layout, func(fde uint64) uint64 {
		const location = 8 // of initial_location in an FDE of 32-bit DWARF
		return o.base[o.frames[fde+location]]
	}))
}

// moduleCounts are the figures of the comparison with eu-addr2line.
type moduleCounts struct {
	pcs, equal, padding int
	stacks              int // whose inlined calls are equal too
	alone               int // at which eu-addr2line is alone
}

func (c *moduleCounts) String() string {
	return fmt.Sprintf("%d addresses, function and line equal at %d (inlined calls too at %d), between functions %d, binutils agrees with ours at %d",
		c.pcs, c.equal, c.stacks, c.padding, c.alone)
}

func (c *moduleCounts) compare(t *testing.T, in *input, x *stackIndex, o *object, pcs []uint64) {
	t.Helper()
	theirs := euAddr2line(t, in.main, pcs)
	if len(theirs) != len(pcs) {
		t.Fatalf("%s: eu-addr2line answers %d of %d addresses", in.name, len(theirs), len(pcs))
	}
	for i, pc := range pcs {
		c.pcs++
		own, err := x.stack(pc)
		if err != nil {
			t.Errorf("%s: %#x: %v", in.name, pc, err)
		}
		a, b := normal(own), normal(theirs[i])
		switch {
		case outermost(a) == outermost(b) && innermost(a) == innermost(b):
			c.equal++
			if len(a) == len(b) {
				c.stacks++
			}
		case !o.inFunction(pc) && x.function(pc) == nil:
			c.padding++
		default:
			// It leaves the function itself out where the only inlined call has
			// its line; takes the last row of the section before for the first
			// of this one; and lets that row go on into the next section.
			third := normal(o.binutils(t, in.main, pc))
			if outermost(a) != outermost(third) || innermost(a) != innermost(third) {
				t.Errorf("%s: %#x:%v\n\teu-addr2line:%v\n\taddr2line:%v", in.name, pc, a, b, third)
			}
			c.alone++
		}
	}
}

// binutils asks binutils' addr2line, by section and offset: it takes every
// section to be at address 0.
func (o *object) binutils(t *testing.T, path string, pc uint64) stack {
	t.Helper()
	for i := len(o.base) - 1; i > 0; i-- {
		if o.base[i] <= pc && slices.ContainsFunc(o.code, func(s span) bool { return s.lo == o.base[i] && pc < s.hi }) {
			return pairs(t, feed(t, []uint64{pc - o.base[i]}, "addr2line", "-a", "-i", "-f", "-j", o.names[i], "-e", path))[0]
		}
	}
	t.Fatalf("%s: %#x is in no section", path, pc)
	return nil
}

// outermost is the name of the function that has the PC.
func outermost(s stack) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1].name
}

// innermost is the place of the PC.
func innermost(s stack) string {
	if len(s) == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", s[0].file, s[0].line)
}
