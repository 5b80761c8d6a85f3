package cfi

import "symkit/located"

// Reader reads the FDEs of a section in any order, by their offsets, so that an index of
// FDEs needs FDE.Offset only. A Reader keeps the CIEs that it has read. A Reader is for
// one goroutine.
type Reader struct{ d decoder }

// NewReader returns a Reader of s.
func (s *Section) NewReader() *Reader { return &Reader{newDecoder(s)} }

// FDE reads the FDE at offset off of the section.
func (r *Reader) FDE(off uint64) (FDE, error) {
	s := r.d.sec
	c := s.entries()
	c.Seek(off)
	e := s.entry(&c)

	// The offset must be that of an FDE, not of a CIE or a terminator.
	switch {
	case c.Err() != nil:
		return FDE{}, c.Err()
	case e.body.Err() != nil:
		return FDE{}, e.body.Err()
	case e.kind != entryFDE:
		return FDE{}, &located.Error{Section: s.name(), Offset: int(off), Err: errNoFDE}
	}
	return r.d.fde(&e)
}
