package sframe

import (
	"symkit/cfi"
	"symkit/internal/wire"
)

// pass is one pass over the FREs of an FDE, which describes size bytes from base.
type pass struct {
	f          *FDE
	base, size uint64
	left       uint32      // FREs, with the current one
	head                   // of the current FRE
	c          wire.Cursor // after the head
}

// window is the number of bytes that fast must be able to read at the words of an FRE:
// eight bytes of words, and eight bytes from the head of the next FRE on.
const window = 16

// fast is the fast path. From the current FRE on, fast yields the rows of FREs of the
// usual form: in a default FDE, with one to three words in at most eight bytes. At any
// other FRE, near the end of the section, and at damage, fast returns true, and the slow
// path continues. Both paths yield the same rows. If yield returns false, so does fast.
//
// FREs of different shapes follow each other in any order. Therefore fast computes with the
// number and the size of the words instead of branching on them: a mispredicted branch
// costs as much as all other work on a row.
func (p *pass) fast(yield func(*cfi.Row, error) bool) bool {
	f, k, row := p.f, p.f.chunk, &p.f.row
	b, pos := p.c.Rest(), p.c.Pos()
	e, i := p.head, 0 // the FRE, and the index of its words in b
	f.fastRow()

	for p.left > 0 {
		n, size := e.info>>1&15, e.info>>5&3
		words := int(n) << size

		// An FRE near the end of the bytes, or of an unusual shape, is for the slow path.
		if i > len(b)-window || n-1 >= f.maxWords || words > 8 || size == 3 { // n = 0 wraps
			break
		}
		// The start of the next FRE is the end of this one; the last FRE ends with the
		// function or block.
		next, end := head{}, p.size
		if p.left > 1 {
			next = f.fastHead(long(b[i+words:i+words+8], k.big))
			if next.start < e.start || uint64(next.start) > f.span {
				break
			}
			end = min(end, uint64(next.start))
		}

		// With a fixed RA, the second word is that of the FP.
		w0, w1, w2 := k.fastWords(long(b[i:i+8], k.big), 8<<size)
		if k.FixedRA != 0 {
			n, w1, w2 = n+1, int64(k.FixedRA), w1
		} else if n > 1 && (w1 == 0 || k.regWords && (w1&1 != 0 || n > 2 && w2&1 != 0)) {
			break // no RA, only padding in its place; RA or FP in a register
		}

		// An FRE that describes no PC has no row.
		if begin := uint64(e.start); begin < end {
			f.at = pos + i - f.addrSize - 1
			row.Begin, row.End = p.base+begin, p.base+end
			row.CFA.Reg, row.CFA.Off = k.bases[e.info&freBaseSP], w0*k.scale+k.bias
			f.regs[k.raSlot].Off, f.regs[k.raSlot-1].Off = w1, w2
			row.Regs = f.regs[k.raSlot+2-int(n):]
			row.RASigned = e.info&freMangled != 0
			if !yield(row, nil) {
				return false
			}
		}

		// Only FREs before the last have a next head to skip.
		i += words
		p.left--
		if p.left > 0 {
			i += f.addrSize + 1
		}
		e = next
	}

	p.c.Skip(uint64(i))
	p.head = e
	return true
}

// fastRow sets the parts that all rows of fast have in common.
func (f *FDE) fastRow() {
	k := f.chunk
	f.row.CFA.Kind = cfi.KindReg
	f.regs[2] = cfi.RegRule{Reg: k.sp, Rule: cfi.Rule{Kind: cfi.KindCFA, Off: s390xSPOffset}}
	f.regs[k.raSlot] = cfi.RegRule{Reg: k.ra, Rule: cfi.Rule{Kind: cfi.KindMemCFA}}
	f.regs[k.raSlot-1] = cfi.RegRule{Reg: k.fp, Rule: cfi.Rule{Kind: cfi.KindMemCFA}}
}

// fastHead returns the head of an FRE, whose first eight bytes are v.
func (f *FDE) fastHead(v uint64) head {
	size := 8 * f.addrSize
	if f.chunk.big {
		return head{uint32(v >> ((64 - size) & 63)), uint8(v >> ((56 - size) & 63))}
	}
	return head{uint32(v & (1<<(size&63) - 1)), uint8(v >> (size & 63))}
}

// fastWords returns three words of wide bits each; v has the eight bytes at the words.
// The value of a word that the FRE does not have is meaningless.
func (c *Chunk) fastWords(v uint64, wide uint) (w0, w1, w2 int64) {
	rest := (64 - wide) & 63
	if c.big {
		return int64(v) >> rest, int64(v<<(wide&63)) >> rest, int64(v<<(2*wide&63)) >> rest
	}
	return int64(v<<rest) >> rest, int64(v<<(2*rest&63)) >> rest, int64(v<<(3*rest&63)) >> rest
}
