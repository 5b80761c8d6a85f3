package lookup

// Sweep looks up many addresses in ascending order, on one goroutine. What answers an address lies in some ten places of
// memory, each of which says where the next one is, and a processor waits long for memory. Expect goes to the first place
// for all addresses, then to the second for all, and so on: the processor waits for many at once. Frames then finds
// everything near.
type Sweep struct {
	file  *module // of addrs, or nil
	addrs []uint64
	found []found // of addrs
	next  int     // the first of addrs that Frames may be called for
	sum   int     // of what was read, which makes the compiler read
}

// found is where the answer for an address is. unit is nil if that is not known.
type found struct {
	unit *unit
	spot *spot
	fn   *function // the innermost, or nil
}

// Expect states that Frames will be called for addrs, virtual addresses of f that ascend. The caller does not change
// addrs before the next call.
func (s *Sweep) Expect(f *File, addrs []uint64) {
	s.file, s.addrs, s.found, s.next = f.image, addrs, s.found[:0], 0
	if s.file == nil {
		s.addrs = nil
		return
	}
	s.find()
	for i := range s.found {
		at := &s.found[i]
		if at.unit != nil && at.spot.scope >= 0 {
			at.fn = &at.unit.funcs[at.unit.scopes[at.spot.scope].fn]
		}
	}
	for i := range s.found {
		at := &s.found[i]
		if at.unit != nil {
			s.sum += len(pathOf(at.unit.files, at.spot.file))
		}
		if at.fn != nil {
			s.sum += int(at.fn.line)
		}
	}
	for i := range s.found {
		at := &s.found[i]
		if at.unit != nil {
			s.read(pathOf(at.unit.files, at.spot.file))
		}
		if at.fn != nil {
			s.read(at.unit.text[at.fn.name.from:at.fn.name.to])
		}
	}
}

// read reads the first byte of a text.
func (s *Sweep) read(text string) {
	if text != "" {
		s.sum += int(text[0])
	}
}

// find finds the spots of addrs in units that are decoded.
func (s *Sweep) find() {
	var u *unit
	n, from, end := 0, uint64(0), uint64(0) // starts of u up to the last address, which from is; where its code ends
	for _, addr := range s.addrs {
		if addr < from || addr >= end {
			u, end = s.file.decodedAt(addr)
			n = 0
		}
		from = addr
		var at found
		if u != nil {
			n = u.searchFrom(n, addr)
			at = found{unit: u, spot: u.spot(n)}
		}
		s.found = append(s.found, at)
	}
}

// Frames is f.Frames. It is faster for an address that is the next one of those that were expected.
func (s *Sweep) Frames(f *File, dst []Frame, addr uint64) ([]Frame, error) {
	for s.next < len(s.addrs) && s.addrs[s.next] < addr {
		s.next++
	}
	if s.next == len(s.addrs) || s.addrs[s.next] != addr || s.found[s.next].unit == nil || f.image != s.file {
		return f.Frames(dst, addr)
	}
	from := len(dst)
	at := &s.found[s.next]
	dst, err := s.file.framesIn(dst, at.unit, at.spot, addr, nil)
	return bounded(dst, from), err
}
