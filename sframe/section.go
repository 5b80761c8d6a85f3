// Package sframe decodes the stack trace format SFrame into the rows of package cfi:
// versions 1, 2 (with errata 1 and 2) and 3, for AMD64, AArch64 in both byte orders, and
// s390x.
//
//	section, err := sframe.Parse(data, sframe.Options{Addr: addr, ABI: sframe.AMD64})
//	if err != nil {
//		return err
//	}
//	for fde, err := range section.FDEs() {
//		if err != nil {
//			log.Print(err) // this FDE is damaged, others are not
//			continue
//		}
//		for row, err := range fde.Rows() {
//			if err != nil {
//				log.Print(err)
//				break
//			}
//			fmt.Printf("%#x: CFA = r%d%+d\n", row.Begin, row.CFA.Reg, row.CFA.Off)
//		}
//	}
//
// A Section has one Chunk, or several if a linker that does not know the format has
// concatenated its inputs. A Chunk has FDEs, one per function. An FDE has FREs, each with
// the rules from one PC on. FDE.Rows yields FREs as cfi.Row; FDE.FREs yields FREs with
// all fields, some of which a cfi.Row does not have.
//
// Damage in an FDE costs that FDE alone. Every error is a *located.Error with the
// offset of the offending byte in the section.
package sframe

import (
	"cmp"
	"iter"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/located"
)

// Section is an .sframe section. It aliases the bytes given to Parse.
type Section struct {
	// Chunks are the SFrame sections of the inputs, in file order: none in an empty
	// section.
	Chunks []Chunk
	// Damage has the errors of damaged headers, in file order: at most one more than there are Chunks.
	Damage []error

	data []byte
	opts Options
}

// Parse reads the headers of all chunks in data, the contents of one .sframe
// section or PT_GNU_SFRAME segment. Empty data is a section without chunks. The caller must
// not pass empty data for a SHT_NOBITS section, whose contents are in another file.
//
// After a damaged header the search goes on for the next sound one. A header whose counts alone are
// too large is kept with the FDEs that its table has. The error is the first of Section.Damage.
func Parse(data []byte, opts Options) (*Section, error) {
	s := &Section{data: data, opts: opts}
	size := cmp.Or(opts.FileSize, uint64(len(data)))
	records := bounds.NewRecords(opts.Limits, limitof.FrameRecords, size)
	for at := 0; at < len(data); {
		// A segment can be longer than the section in it.
		if opts.Segment && at > 0 && !hasMagic(data[at:]) {
			break
		}

		c, err := s.parseChunk(at)
		if err != nil {
			s.Damage = append(s.Damage, err)
		}
		if !c.placed() {
			at = s.nextHeader(at + 1)
			continue
		}
		if records.Take(1, chunkMemory) != nil {
			err = &located.Error{Section: sectionName, Offset: at, Err: opts.Limits.Exceeded(limitof.FrameRecords, size)}
			s.Damage = append(s.Damage, err)
			break
		}
		s.Chunks = append(s.Chunks, c)
		at = skipZeros(data, c.end)
	}

	s.limit()
	if len(s.Damage) > 0 {
		return s, s.Damage[0]
	}
	return s, nil
}

// nextHeader returns the offset, from at on, of the next header without damage, or len(data).
func (s *Section) nextHeader(at int) int {
	for ; len(s.data)-at >= headerSize; at++ {
		if !hasMagic(s.data[at:]) {
			continue
		}
		_, err := s.parseHeader(at)
		if err == nil {
			return at
		}
	}
	return len(s.data)
}

// chunkMemory is what a Chunk takes in memory while the slice of chunks grows.
const chunkMemory = 256

func hasMagic(b []byte) bool {
	return len(b) >= 2 && (half(b, false) == magic || half(b, true) == magic)
}

// skipZeros returns the offset after the padding that linkers put after a chunk.
func skipZeros(data []byte, at int) int {
	for at < len(data) && data[at] == 0 {
		at++
	}
	return at
}

// limit finds where the FDEs exceed the limits sframe-mask-rows and sframe-sharing, so
// that Chunk.FDE can refuse the first FDE that does and those after it. A real
// repeating FDE stands for two rows per PLT entry, a forged one of 20 bytes
// could stand for 2^32; producers do not share FREs at all.
func (s *Section) limit() {
	// The limits are capped so that no sum below overflows.
	maxRows := min(s.opts.Limits.Max(limitof.MaskRows, 0), 1<<62)
	sharing := min(s.opts.Limits.Max(limitof.SFrameSharing, 0), 1<<31)
	maskRows := uint64(0)
	var f FDE
	for i := range s.Chunks {
		c := &s.Chunks[i]
		c.usable, c.maskable = int(c.NumFDEs), int(c.NumFDEs)
		freBytes := uint64(0)
		for k := range c.usable {
			if f.read(c, k) != nil {
				continue
			}
			if f.PCMask {
				// A sum of a few numbers below 2^32 * 2^31.
				maskRows = min(maskRows+f.maskRows(), maxRows+1)
			}
			if maskRows > maxRows {
				c.maskable = min(c.maskable, k)
			}

			// An FRE has a start field and an info byte at least.
			freBytes += uint64(f.NumFREs) * uint64(f.addrSize+1)
			if freBytes > sharing*uint64(c.FRELen) {
				c.usable = k
				break
			}
		}
	}
}

// maskRows returns the largest number of rows that a repeating FDE stands for.
func (f *FDE) maskRows() uint64 {
	rep := uint64(f.RepSize)
	return (uint64(f.Size) + rep - 1) / rep * uint64(f.NumFREs)
}

// FDEs yields the FDEs of all chunks in file order, as Chunk.FDEs.
func (s *Section) FDEs() iter.Seq2[*FDE, error] {
	return func(yield func(*FDE, error) bool) {
		f := new(FDE)
		for i := range s.Chunks {
			if !s.Chunks[i].fdes(f, yield) {
				return
			}
		}
	}
}

// FDEs yields the chunk's FDEs in file order. A damaged FDE yields nil and its error, and
// iteration continues. If every FDE could be read but the header's count of FREs is
// wrong, the last error is errCount.
//
// The FDE is valid until the next one; a copy (*f) stays valid.
func (c *Chunk) FDEs() iter.Seq2[*FDE, error] {
	return func(yield func(*FDE, error) bool) { c.fdes(new(FDE), yield) }
}

func (c *Chunk) fdes(f *FDE, yield func(*FDE, error) bool) bool {
	var fres uint64
	damaged := false
	for i := range int(c.NumFDEs) {
		if err := f.read(c, i); err != nil {
			damaged = true
			if !yield(nil, err) {
				return false
			}
			continue
		}
		fres += uint64(f.NumFREs)
		if !yield(f, nil) {
			return false
		}
	}

	// The count can be compared only if every FDE was read.
	if !damaged && fres != uint64(c.NumFREs) {
		return yield(nil, &located.Error{Section: sectionName, Offset: c.Offset + offNumFREs, Err: errCount})
	}
	return true
}
