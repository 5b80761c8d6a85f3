package planted

import "slices"

// sframeKinds are the kinds of defects of .sframe: what linkers and tools do, and the cause to name.
var sframeKinds = []struct {
	name, cause string
	plant       func(*sframeFile) bool
}{
	{"two headers", "unmerged", func(s *sframeFile) bool { return s.split(len(s.first().funcs)/2, s.first().version) }},
	{"a header for the last function", "unmerged", func(s *sframeFile) bool { return s.split(len(s.first().funcs)-1, s.first().version) }},
	{"a header of the other version", "versions", func(s *sframeFile) bool { return s.split(len(s.first().funcs)/2, 5-s.first().version) }},
	{"the first function in a header of the other version", "versions", func(s *sframeFile) bool { return s.split(1, 5-s.first().version) }},
	{"two FDEs swapped", "unsorted", func(s *sframeFile) bool { return s.swap(1, 2) }},
	{"FDEs in reverse", "unsorted", func(s *sframeFile) bool { slices.Reverse(s.first().funcs); return true }},
	{"a size that reaches into the next function", "overlap", func(s *sframeFile) bool { return s.stretch(1) }},
	{"an FDE twice", "overlap", func(s *sframeFile) bool { return s.twice(1) }},
	{"a start field that is 0", "discarded", func(s *sframeFile) bool { s.at(2).zero = true; return s.sorted(false) }},
	{"a function at address 0", "discarded", func(s *sframeFile) bool { s.at(0).start = 0; return s.sorted(true) }},
	{"a function at a small address", "discarded", func(s *sframeFile) bool { s.at(1).start = 0x40; return s.sorted(true) }},
	{"a function in .eh_frame", "outside-code", func(s *sframeFile) bool { s.last().start = s.framesAddr; return s.sorted(true) }},
	{"a function beyond the file", "outside-code", func(s *sframeFile) bool { s.last().start += 1 << 20; return true }},
	{"a function that ends after its section", "outside-code", func(s *sframeFile) bool { return s.pastEnd() }},
	{"another flag for start addresses", "start-base", func(s *sframeFile) bool { return s.otherBase() }},
	{"start addresses not rewritten", "start-base", func(s *sframeFile) bool { return s.flagless() }},
	{"all functions 16 bytes later", "stale", func(s *sframeFile) bool { return s.shift(16) }},
	{"all functions 4 bytes earlier", "stale", func(s *sframeFile) bool { return s.shift(^uint64(3)) }},
	{"all sizes of another link", "stale", func(s *sframeFile) bool { return s.shrink() }},
	{"a size of another link", "stale", func(s *sframeFile) bool { s.at(1).size -= 4; return true }},
	{"a start address of another link", "stale", func(s *sframeFile) bool { s.at(1).start += 4; s.at(1).size -= 4; return true }},
	{"an FDE of .eh_frame lost", "only-sframe", func(s *sframeFile) bool { return s.loseDWARF(s.at(1).start) }},
	{"another FDE of .eh_frame lost", "only-sframe", func(s *sframeFile) bool { return s.loseDWARF(s.at(2).start) }},
	{"an FDE lost", "only-eh-frame", func(s *sframeFile) bool { return s.lose(2, 3) }},
	{"two FDEs lost", "only-eh-frame", func(s *sframeFile) bool { return s.lose(2, 4) }},
	{"another CFA at entry", "cfa", func(s *sframeFile) bool { return s.word(1, 0, 0, 8) }},
	{"another CFA after the prologue", "cfa", func(s *sframeFile) bool { return s.anyWord(0, 16) }},
	{"another base of the CFA", "cfa", func(s *sframeFile) bool { return s.flip(1, 0x01) }},
	{"another fixed return address", "return-address", func(s *sframeFile) bool { return s.fixedRA() }},
	{"another return address", "return-address", func(s *sframeFile) bool { return s.first().head[6] == 0 && s.anyWord(1, 8) }},
	{"another frame pointer", "frame-pointer", func(s *sframeFile) bool { return s.framePointer(8) }},
	{"a frame pointer far away", "frame-pointer", func(s *sframeFile) bool { return s.framePointer(-24) }},
	{"return addresses that are signed", "pac-state", func(s *sframeFile) bool { return s.aarch64() && s.flip(1, 0x80) }},
	{"return addresses of the last function that are signed", "pac-state", func(s *sframeFile) bool { return s.aarch64() && s.flip(s.count()-1, 0x80) }},
	{"another key", "pac-state", func(s *sframeFile) bool { return s.aarch64() && s.otherKey() }},
	{"the mark of a signal trampoline lost", "signal", func(s *sframeFile) bool { return s.mark(true) }},
	{"the mark of a signal trampoline on a function", "signal", func(s *sframeFile) bool { return s.mark(false) }},
	{"an undefined type of rows", "damaged", func(s *sframeFile) bool { s.at(1).info |= 3; return true }},
	{"rows outside of the section", "damaged", func(s *sframeFile) bool { s.at(1).rowsOff = 1 << 20; return true }},
	{"a wrong number of rows", "damaged", func(s *sframeFile) bool { s.first().fres = 1; return true }},
	{"a second header without magic", "damaged", func(s *sframeFile) bool {
		return s.split(1, s.first().version) && func() bool { s.chunks[1].magic = 1; return true }()
	}},
}

func (s *sframeFile) first() *sframeChunk      { return &s.chunks[0] }
func (s *sframeFile) at(i int) *sframeFunc     { return &s.first().funcs[s.skipped()+i] }
func (s *sframeFile) last() *sframeFunc        { return s.at(s.count() - 1) }
func (s *sframeFile) aarch64() bool            { return s.first().head[4] == 1 || s.first().head[4] == 2 }
func (s *sframeFile) offset(x *sframeFunc) int { return 1 << (x.info & 3) }

// skipped returns the number of FDEs of linkage stubs, which come before those of .text.
func (s *sframeFile) skipped() (n int) {
	for _, x := range s.first().funcs {
		if x.start != 0 && x.start < s.code[0] {
			n++
		}
	}
	return n
}

// count returns the number of functions in .text.
func (s *sframeFile) count() int { return len(s.first().funcs) - s.skipped() }

// sorted sorts the FDEs by address, or clears the mark that they are.
func (s *sframeFile) sorted(sort bool) bool {
	c := s.first()
	switch {
	case sort:
		slices.SortStableFunc(c.funcs, func(a, b sframeFunc) int {
			if a.start < b.start {
				return -1
			}
			return 1
		})
	case c.version == 2 && c.flags&4 == 0:
		return false // the mark decides what start addresses count from
	default:
		c.flags &^= 1
	}
	return true
}

// split gives the functions from n on a header of their own.
func (s *sframeFile) split(n int, version byte) bool {
	c := s.first()
	for i := range c.funcs {
		if c.funcs[i].info2 != 0 && version == 2 {
			return false // version 2 has no flexible rows
		}
	}
	second := *c
	second.funcs, second.version = slices.Clone(c.funcs[n:]), version
	if version != c.version {
		second.flags = 5
	}
	c.funcs = c.funcs[:n]
	s.chunks = append(s.chunks, second)
	return n > 0 && len(second.funcs) > 0
}

func (s *sframeFile) swap(i, k int) bool {
	f := s.first().funcs
	f[i], f[k] = f[k], f[i]
	return f[i].start != f[k].start
}

// stretch makes function i reach into the next one.
func (s *sframeFile) stretch(i int) bool {
	a, b := s.at(i), s.at(i+1)
	a.size = uint32(b.start-a.start) + 4
	return b.size > 4
}

func (s *sframeFile) twice(i int) bool {
	c := s.first()
	c.funcs = slices.Insert(c.funcs, s.skipped()+i, *s.at(i))
	return true
}

// pastEnd stretches the last function of .text.
func (s *sframeFile) pastEnd() bool {
	for i := s.count() - 1; i >= 0; i-- {
		if x := s.at(i); x.start >= s.code[0] && x.start < s.code[1] {
			x.size = uint32(s.code[1]-x.start) + 8
			return true
		}
	}
	return false
}

// otherBase changes what the start fields of version 3 count from, and not what the header says.
func (s *sframeFile) otherBase() bool {
	c := s.first()
	if c.version != 2 {
		return false
	}
	size := uint64(20)
	for i := range c.funcs {
		field := 28 + size*uint64(i)
		if c.flags&4 != 0 {
			c.funcs[i].start += field
		} else {
			c.funcs[i].start -= field
		}
	}
	return true
}

// flagless writes start addresses that count from their fields without any flag.
func (s *sframeFile) flagless() bool {
	s.first().flags = 0
	return s.first().version == 2
}

func (s *sframeFile) shift(by uint64) bool {
	for i := range s.first().funcs {
		s.first().funcs[i].start += by
	}
	return true
}

func (s *sframeFile) shrink() bool {
	for i := range s.count() {
		if x := s.at(i); x.size > 8 {
			x.size -= 4
		}
	}
	return true
}

func (s *sframeFile) lose(from, to int) bool {
	c, n := s.first(), s.skipped()
	from, to = from+n, to+n
	if to >= len(c.funcs) || c.funcs[from-1].start < s.code[0] || c.funcs[to].start >= s.code[1] {
		return false
	}
	c.funcs = slices.Delete(c.funcs, from, to)
	return true
}

// loseDWARF moves the FDE of .eh_frame for a function to address 0. The addresses are those of
// compilers: four bytes, relative to the field.
func (s *sframeFile) loseDWARF(start uint64) bool {
	for at := s.frames[0]; at+12 <= s.frames[1]; {
		size := int(s.order.Uint32(s.elf[at:]))
		if size == 0 {
			break
		}
		field := s.framesAddr + uint64(at+8-s.frames[0])
		if s.order.Uint32(s.elf[at+4:]) != 0 && field+uint64(int64(int32(s.order.Uint32(s.elf[at+8:])))) == start {
			s.order.PutUint32(s.elf[at+8:], uint32(-field))
			return true
		}
		at += 4 + size
	}
	return false
}

// word adds to a data word of a row with words of one byte.
func (s *sframeFile) word(function, row, word int, add int8) bool {
	x := s.at(function)
	at := 0
	for range row {
		at = s.next(x, at)
	}
	info := x.rows[at+s.offset(x)]
	i := at + s.offset(x) + 1 + word
	if x.info2 != 0 || info>>5&3 != 0 || word >= int(info>>1&15) {
		return false
	}
	x.rows[i] += byte(add)
	return true
}

// anyWord adds to a data word of the first row, other than that of a function's entry, that has one.
func (s *sframeFile) anyWord(word int, add int8) bool {
	for i := range s.count() {
		for row := 1; row < int(s.at(i).fres); row++ {
			if s.at(i).info&0x10 == 0 && s.word(i, row, word, add) {
				return true
			}
		}
	}
	return false
}

// framePointer changes where the first row that has one says that the frame pointer is.
func (s *sframeFile) framePointer(add int8) bool {
	word := 2
	if s.first().head[6] != 0 {
		word = 1
	}
	return s.anyWord(word, add)
}

// next returns the offset of the row after that at an offset.
func (s *sframeFile) next(x *sframeFunc, at int) int {
	info := x.rows[at+s.offset(x)]
	return at + s.offset(x) + 1 + int(info>>1&15)<<(info>>5&3)
}

// flip changes a bit of the info byte of the first row of a function.
func (s *sframeFile) flip(function int, bit byte) bool {
	x := s.at(function)
	x.rows[s.offset(x)] ^= bit
	return x.info2 == 0
}

func (s *sframeFile) fixedRA() bool {
	c := s.first()
	fixed := c.head[6] != 0
	c.head[6] -= 8
	return fixed
}

// otherKey changes the key of a function whose return address is signed.
func (s *sframeFile) otherKey() bool {
	for i := range s.count() {
		x := s.at(i)
		for at, row := 0, 0; row < int(x.fres); row++ {
			if x.rows[at+s.offset(x)]&0x80 != 0 {
				x.info ^= 0x20
				return true
			}
			at = s.next(x, at)
		}
	}
	return false
}

// mark changes the mark of the first function that has, or does not have, that of signal trampolines.
func (s *sframeFile) mark(has bool) bool {
	for i := range s.count() {
		if x := s.at(i); s.first().version == 3 && x.size > 0 && x.info&0x10 == 0 && (x.info&0x80 != 0) == has {
			x.info ^= 0x80
			return true
		}
	}
	return false
}
