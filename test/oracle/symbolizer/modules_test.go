//go:build oracle

package symbolizer

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/readelf"
	"symkit/test/oracle/symfile"
)

// kernelModules returns the modules of the corpus's kernel.
func kernelModules(t *testing.T) (inputs []oracle.Input) {
	t.Helper()
	roots, err := filepath.Glob(filepath.Join(oracle.CorpusDir(t), "linux-image-*-dbg/usr/lib/debug/lib/modules"))
	if err != nil || len(roots) == 0 {
		t.Fatalf("no kernel modules in the corpus (%v); run scripts/corpus.sh", err)
	}

	err = filepath.WalkDir(roots[0], func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".ko") {
			inputs = append(inputs, oracle.Input{Name: filepath.Base(path), Main: path})
		}
		return err
	})
	if err != nil || len(inputs) < 1000 {
		t.Fatalf("%d modules, %v", len(inputs), err)
	}
	return inputs
}

// moduleSamples is the number of addresses of all modules together; a few are the
// same by chance.
const moduleSamples = 20900

// TestCorpusKernelModules compares every module of a kernel: the functions and
// lines at random addresses with eu-addr2line's, the unwind rules with
// readelf's.
func TestCorpusKernelModules(t *testing.T) {
	inputs := kernelModules(t)
	objects := make([]*object, len(inputs))
	total := uint64(0)
	for i := range inputs {
		objects[i] = readObject(t, inputs[i].Main)
		for _, s := range objects[i].Code {
			total += s.Hi - s.Lo
		}
	}

	rnd := rand.New(rand.NewPCG(8, 1121))
	var sum moduleCounts
	var cfi readelf.Counts
	for i := range inputs {
		o := objects[i]
		own := uint64(0)
		for _, s := range o.Code {
			own += s.Hi - s.Lo
		}
		n := int(own*(moduleSamples-uint64(5*len(inputs)))/total) + 5
		s := symfile.Parse(t, oracle.Dump(t, &inputs[i], dump.Options{Inlines: true}))
		c := checkObject(t, &inputs[i], s, o)
		cfi.FDEs, cfi.Rows = cfi.FDEs+c.FDEs, cfi.Rows+c.Rows
		if own > 0 {
			sum.compare(t, &inputs[i], symfile.NewIndex(s, 0), o, addressesIn(rnd, o.Code, n))
		}
	}

	t.Logf("%d modules: %d FDEs, %d rows compared; %v", len(inputs), cfi.FDEs, cfi.Rows, &sum)
	if sum.pcs < 20000 {
		t.Errorf("only %d addresses", sum.pcs)
	}
}

// addressesIn returns n addresses of code, in order.
func addressesIn(rnd *rand.Rand, code []oracle.Span, n int) (pcs []uint64) {
	total := uint64(0)
	for _, s := range code {
		total += s.Hi - s.Lo
	}

	for range n {
		at := rnd.Uint64N(total)
		for _, s := range code {
			if at < s.Hi-s.Lo {
				pcs = append(pcs, s.Lo+at)
				break
			}
			at -= s.Hi - s.Lo
		}
	}

	slices.Sort(pcs)
	return slices.Compact(pcs)
}

// checkObject is readelf.Compare for an object: in readelf's output, every section is
// at address 0.
func checkObject(t *testing.T, in *oracle.Input, s *symfile.File, o *object) readelf.Counts {
	t.Helper()
	return readelf.CompareFrames(t, in, s, &o.Layout, readelf.ReadAt(t, in, &o.Layout, func(fde uint64) uint64 {
		const location = 8 // of initial_location in an FDE of 32-bit DWARF
		return o.base[o.frames[fde+location]]
	}))
}

// moduleCounts are the figures of the comparison with eu-addr2line.
type moduleCounts struct {
	pcs, equal, padding int
	stacks              int // whose inlined calls are equal too
	alone               int // where binutils agrees with ours, not with eu-addr2line
}

func (c *moduleCounts) String() string {
	return fmt.Sprintf("%d addresses, function and line equal at %d (inlined calls too at %d), between functions %d, binutils agrees with ours at %d",
		c.pcs, c.equal, c.stacks, c.padding, c.alone)
}

func (c *moduleCounts) compare(t *testing.T, in *oracle.Input, x *symfile.Index, o *object, pcs []uint64) {
	t.Helper()
	theirs := euAddr2line(t, in.Main, pcs)
	if len(theirs) != len(pcs) {
		t.Fatalf("%s: eu-addr2line answers %d of %d addresses", in.Name, len(theirs), len(pcs))
	}

	for i, pc := range pcs {
		c.pcs++
		own, err := x.Stack(pc)
		if err != nil {
			t.Errorf("%s: %#x: %v", in.Name, pc, err)
		}
		a, b := normal(own), normal(theirs[i])
		switch {
		case outermost(a) == outermost(b) && innermost(a) == innermost(b):
			c.equal++
			if len(a) == len(b) {
				c.stacks++
			}
		case !o.inFunction(pc) && x.Function(pc) == nil:
			c.padding++
		default:
			// eu-addr2line leaves the function itself out where the only inlined
			// call has its line; takes the last row of the section before for the
			// first of this one; and extends that row into the next section.
			third := normal(o.binutils(t, in.Main, pc))
			if outermost(a) != outermost(third) || innermost(a) != innermost(third) {
				t.Errorf("%s: %#x:%v\n\teu-addr2line:%v\n\taddr2line:%v", in.Name, pc, a, b, third)
			}
			c.alone++
		}
	}
}

// outermost returns the name of the function that has the PC.
func outermost(s symfile.Stack) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1].Name
}

// innermost returns the place of the PC.
func innermost(s symfile.Stack) string {
	if len(s) == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", s[0].File, s[0].Line)
}
