package gotable

import (
	"slices"

	"symkit/check/internal/truth/image"
	"symkit/elfx"
)

// findBase finds gofunc, the address that the offsets of inline trees count from. gofunc is a word
// of runtime.moduledata, a struct that begins with the address of the table; the index of the word
// differs between releases of Go. findBase takes the word with which the trees of all functions are
// valid or, in a damaged file, the trees of most functions.
func (g *Inlines) findBase(f *elfx.File, mem *goWords) bool {
	trees := g.trees(image.CodeOf(f).Size())
	if len(trees) == 0 {
		return true
	}

	// Any word of a struct that may be runtime.moduledata is tried.
	best := len(trees) / 2
	for _, at := range mem.find(f, g.addr, g.word) {
		for i := range uint64(moduleWords) {
			base, ok := mem.word(at+i*uint64(g.word), g.word)
			if !ok {
				break
			}
			if base == 0 || base == g.base {
				continue
			}

			right := 0
			for k := range trees {
				if g.rightTree(&trees[k], base) {
					right++
				}
			}
			if right > best {
				best, g.base = right, base
			}
		}
	}
	return g.base != 0
}

// Bounds of the search for the base.
const (
	moduleWords = 80  // of runtime.moduledata
	sampleOfGo  = 200 // functions with inlined calls
)

// trees returns functions with inlined calls, which have at most size bytes of code in all. The
// addresses of their trees are offsets still, and their PCs count from 0.
func (g *Inlines) trees(size uint64) (trees []Code) {
	for i := uint64(0); i < g.nfunc && len(trees) < sampleOfGo; i++ {
		c := g.at(g.funcs + 8*i)
		lo := uint64(c.U32())
		c.Skip(4)
		hi := uint64(c.U32())
		if c.Err() != nil || hi < lo || hi-lo > size {
			break
		}

		// A function whose index has no entry in use says nothing about the base.
		size -= hi - lo
		code, _, ok := g.Function(int(i), lo, hi)
		if ok && code.Tree != 0 && slices.ContainsFunc(code.Index, func(r Run) bool { return r.Value >= 0 }) {
			trees = append(trees, code)
		}
	}
	return trees
}

// rightTree reports whether the first entries that the code refers to are right if trees count from
// base.
func (g *Inlines) rightTree(code *Code, base uint64) bool {
	moved := *code
	moved.Tree += base
	for _, r := range code.Index[:min(len(code.Index), 32)] {
		if r.Value < 0 {
			continue
		}
		if e, ok := g.entry(&moved, r.Value); !ok || e.zero {
			return false
		}
	}
	return true
}
