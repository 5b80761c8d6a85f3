package elfx

import (
	"debug/elf"

	"symkit/internal/inflate"
	"symkit/internal/mem"
)

// Data returns the section's bytes, uncompressed. Debug and unwind information in
// a relocatable object is also relocated to the addresses in Addr; if several such
// sections have one name, the section that File.Section finds has the bytes of all.
//
// The bytes alias the file if the file stores them so. Otherwise the first call, in
// whichever goroutine, inflates or relocates the section, and later calls share the
// result. The error is errAbsent for SHT_NOBITS, located.ErrTruncated if the file ends
// inside the section, ErrCompression, or that of a damaged relocation section. A
// single relocation that cannot be applied is counted (File.RelocLosses).
func (s *Section) Data() ([]byte, error) { return guarded(s.file, s.bytes) }

// Copy is Data for code that must not see its input change or disappear: bytes that alias
// a file which is truncated end the process with SIGBUS when they are read. The result
// never aliases the mapped file. Each call makes a new copy, which is valid until the File
// is closed.
func (s *Section) Copy() ([]byte, error) {
	return guarded(s.file, func() ([]byte, error) {
		data, err := s.bytes()
		if err == nil && !s.joins() && !s.compressed() && s.applied() == 0 {
			data = copied(s.file, data, s.Offset)
		}
		return data, err
	})
}

// Streams reports whether Stream can inflate the section.
func (s *Section) Streams() bool {
	if s.joins() || !s.compressed() || s.applied() != 0 {
		return false
	}
	p, err := guarded(s.file, s.packing)
	return err == nil && p.kind == elf.COMPRESS_ZLIB
}

// Slide returns the buffer that Stream inflates into next, when buf[:done] is final:
// either buf and done, or another buffer, which begins with the last kept bytes of
// buf[:done]. The first call has no buffer, the last call all of the output.
//
// At least the last SlideWindow bytes must be kept, or all if there are fewer. After
// these, the buffer must have SlideSpace bytes, or the rest of the section if that is
// less. No buffer ends Stream with an error.
type Slide func(buf []byte, done int) (next []byte, kept int)

// Sizes of the buffers of a Slide, in bytes.
const (
	SlideWindow = inflate.Window
	SlideSpace  = inflate.Space
)

// Stream is Data for a consumer that reads the bytes while the section is still
// being inflated into the buffers that slide returns, and needs each byte only for
// a short time. If Stream fails, the consumer must discard all bytes. Stream keeps
// nothing: a later Data inflates the section again. With more than one job, Stream uses
// two processors.
func (s *Section) Stream(jobs int, slide Slide) error {
	return s.file.do(func() error {
		p, err := s.packing()
		if err != nil {
			return err
		}

		// Pages of the file are dropped after the decoder has read them, and pages of the
		// buffers are populated before it writes them.
		d := newDropper(s)
		at := 0 // section offset of the buffer
		var a ahead
		err = inflate.ZlibSliding(int(p.size), p.body, jobs, func(buf []byte, done int) ([]byte, int) {
			d.consumed(at+done, int(p.size))
			next, kept := slide(buf, done)
			at += done - kept
			a.wrote(next, kept)
			return next, kept
		})

		d.consumed(int(p.size), int(p.size))
		return s.unpackError(p, err)
	})
}

// bytes is Data without mem.Guard.
func (s *Section) bytes() ([]byte, error) {
	if s.joins() {
		return s.joined()
	}
	return s.loadOne()
}

// loadOne is bytes for this section alone.
func (s *Section) loadOne() ([]byte, error) {
	if s.applied() == 0 {
		return s.unpacked()
	}
	return s.cached(s.relocatedData)
}

// joined returns the bytes of all parts whose head is s.
func (s *Section) joined() ([]byte, error) {
	p := s.parts
	p.once.Do(func() {
		if p.err != nil {
			return
		}
		// A fault must not leave the Once done with neither bytes nor error.
		p.err = mem.Guard(func() error {
			for _, i := range p.all {
				data, err := s.file.Sections[i].loadOne()
				if err != nil {
					return err
				}
				p.data = append(p.data, data...)
			}
			return nil
		})
	})
	if p.err != nil {
		return nil, p.err
	}
	return p.data, nil
}

// SectionData returns the uncompressed bytes of the named section. They are nil,
// without an error, if the file has no such section or the section is SHT_NOBITS,
// and not nil if the section is empty.
func (f *File) SectionData(name string) ([]byte, error) {
	return dataOf(f.Section(name))
}

// dataOf returns the bytes of s, which may be nil.
func dataOf(s *Section) ([]byte, error) {
	if present(s) == nil {
		return nil, nil
	}
	return s.Data()
}

// Relocs reads a section of type SHT_REL, SHT_RELA or CREL, or Android's packed form.
func (s *Section) Relocs() ([]Reloc, error) {
	return guarded(s.file, func() ([]Reloc, error) { return readRelocs(s) })
}

func readRelocs(s *Section) ([]Reloc, error) {
	if s.Type == shtAndroidRel || s.Type == shtAndroidRela {
		return unpackRelocs(s)
	}
	r, err := newRelocReader(s)
	if err != nil {
		return nil, err
	}

	// Each entry takes at least a byte, and the reader has checked the count.
	relocs := make([]Reloc, 0, r.count)
	for r.next() {
		relocs = append(relocs, r.last)
	}
	return relocs, r.Err()
}
