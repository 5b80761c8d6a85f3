// Package mutant makes damaged files out of good ones, as hostile or broken programs write
// them. It knows the fields and parts of ELF files, cores and minidumps, and changes these
// rather than bytes that no program reads. Only tests and the soak use the package.
package mutant

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Layout lists the parts of a file. Offsets are file offsets.
type Layout struct {
	Order  binary.ByteOrder
	Fields []Field  // numbers of headers and tables
	Parts  []Extent // sections, segments or streams with bytes in the file
	Names  []Extent // those of the parts that hold strings
}

// Field is a number in a file.
type Field struct{ Offset, Size int } // Size is 1, 2, 4 or 8 bytes

// Extent is a range of a file.
type Extent struct{ Offset, Size int }

// Of finds the layout of a file. A file that is neither ELF, nor a minidump, nor GSYM is one part.
func Of(data []byte) Layout {
	l, ok := elfLayout(data)
	if !ok {
		l, ok = minidumpLayout(data)
	}
	if !ok {
		l, ok = gsymLayout(data)
	}
	if !ok {
		l = Layout{Order: binary.LittleEndian}
	}
	if len(l.Parts) == 0 {
		l.Parts = []Extent{{0, len(data)}}
	}
	return l
}

// Mutate returns a damaged copy of data, whose layout is l, and the name of the
// first kind of damage. The same r gives the same mutant.
func (l *Layout) Mutate(data []byte, r *rand.Rand) (mutant []byte, kind string) {
	m := mutation{Layout: l, data: slices.Clone(data), r: r}

	// A mutant has one to four kinds of damage.
	for i := range 1 + r.IntN(4) {
		k := kinds[r.IntN(len(kinds))]
		if i == 0 {
			kind = k.name
		}
		// Truncation may have left nothing to damage.
		if len(m.data) > 0 {
			k.damage(&m)
		}
	}
	return m.data, kind
}

// mutation is one mutant being made.
type mutation struct {
	*Layout
	data []byte
	r    *rand.Rand
}

// kinds are the kinds of damage. A kind that is listed twice is twice as likely.
var kinds = []struct {
	name   string
	damage func(*mutation)
}{
	{"bytes", (*mutation).bytes},
	{"field", (*mutation).field},
	{"field", (*mutation).field},
	{"field of another", (*mutation).copyField},
	{"swap", (*mutation).swap},
	{"truncate", (*mutation).truncate},
	{"count", (*mutation).count},
	{"count", (*mutation).count},
	{"self-reference", (*mutation).selfReference},
	{"splice", (*mutation).splice},
	{"shift", (*mutation).shift},
	{"leb128", (*mutation).leb},
	{"names", (*mutation).names},
}

// bytes changes bits and bytes of one part.
func (m *mutation) bytes() {
	part := m.part()
	for range 1 + m.r.IntN(8) {
		at := m.within(part, 1)
		if m.r.IntN(2) == 0 {
			m.data[at] ^= 1 << m.r.IntN(8)
		} else {
			m.data[at] = byte(m.r.Uint32())
		}
	}
}

// field gives a number of a header a boundary value.
func (m *mutation) field() {
	if len(m.Fields) == 0 {
		m.count()
		return
	}
	f := m.Fields[m.r.IntN(len(m.Fields))]
	m.put(f, m.odd(m.get(f)))
}

// copyField gives a number of a header the value of another number: one section gets the
// place, size or type of another.
func (m *mutation) copyField() {
	if len(m.Fields) == 0 {
		m.splice()
		return
	}
	from, to := m.Fields[m.r.IntN(len(m.Fields))], m.Fields[m.r.IntN(len(m.Fields))]
	m.put(to, m.get(from))
}

// swap exchanges the bytes of two parts, as far as the shorter reaches.
func (m *mutation) swap() {
	a, b := m.part(), m.part()
	n := min(a.Size, b.Size, len(m.data)-a.Offset, len(m.data)-b.Offset)
	if n <= 0 {
		return
	}

	// The parts may overlap, so the bytes of one are kept before they are overwritten.
	kept := slices.Clone(m.data[a.Offset : a.Offset+n])
	copy(m.data[a.Offset:a.Offset+n], m.data[b.Offset:b.Offset+n])
	copy(m.data[b.Offset:b.Offset+n], kept)
}

// truncate ends the file inside a part, or at its beginning.
func (m *mutation) truncate() {
	part := m.part()
	at := part.Offset
	if m.r.IntN(2) == 0 {
		at = m.within(part, 1)
	}
	m.data = m.data[:min(at, len(m.data))]
}

// count changes a number in the first bytes of a part, where counts, lengths
// and versions are, or anywhere in it.
func (m *mutation) count() {
	part := m.part()
	size := 1 << m.r.IntN(4)
	at := m.within(part, size)
	if m.r.IntN(2) == 0 {
		at = min(part.Offset+m.r.IntN(64), len(m.data)-1)
	}
	f := Field{at, size}
	m.put(f, m.odd(m.get(f)))
}

// selfReference writes, into a part, its own offset in that part, or one near.
func (m *mutation) selfReference() {
	part := m.part()
	size := 4 << m.r.IntN(2)
	at := m.within(part, size)
	m.put(Field{at, size}, uint64(at-part.Offset-m.r.IntN(32)))
}

// splice copies bytes of one part over bytes of another.
func (m *mutation) splice() {
	from, to := m.part(), m.part()
	src, dst := m.within(from, 1), m.within(to, 1)
	copy(m.data[dst:], slices.Clone(m.data[src:min(src+1+m.r.IntN(256), len(m.data))]))
}

// shift removes or doubles bytes of a part, and moves the rest of the part.
func (m *mutation) shift() {
	part := m.part()
	end := min(part.Offset+part.Size, len(m.data))
	at := m.within(part, 1)
	if at >= end {
		return
	}

	// Half of the mutants lose n bytes, the others get them twice.
	n := min(1+m.r.IntN(16), end-at)
	if m.r.IntN(2) == 0 {
		copy(m.data[at:end], m.data[at+n:end])
	} else {
		copy(m.data[at+n:end], slices.Clone(m.data[at:end-n]))
	}
}

// leb writes a LEB128 that does not end soon, or is larger than 64 bits.
func (m *mutation) leb() {
	at := m.within(m.part(), 1)
	fill := byte(0x80 | m.r.Uint32())
	for i := at; i < min(at+1+m.r.IntN(24), len(m.data)); i++ {
		m.data[i] = fill
	}
}

// names puts bytes into strings that are special in text formats.
func (m *mutation) names() {
	if len(m.Names) == 0 {
		m.bytes()
		return
	}
	part := m.Names[m.r.IntN(len(m.Names))]
	const nasty = "\n\r\x00\xff\xfe\x80 \t\x1b/.%\\\"|<>"
	for range 1 + m.r.IntN(16) {
		m.data[m.within(part, 1)] = nasty[m.r.IntN(len(nasty))]
	}
}

// part returns a random part of the file.
func (m *mutation) part() Extent {
	return m.Parts[m.r.IntN(len(m.Parts))]
}

// within returns the offset of size bytes in a part. If the file is too short for them, it
// returns the offset of the file's last size bytes.
func (m *mutation) within(part Extent, size int) int {
	at := part.Offset + m.r.IntN(max(part.Size-size+1, 1))
	return max(min(at, len(m.data)-size), 0)
}

// odd returns a boundary value for a field that has the value old: zero, all ones,
// a power of two, about the size of the file, or near old.
func (m *mutation) odd(old uint64) uint64 {
	switch m.r.IntN(10) {
	case 0:
		return 0
	case 1:
		return ^uint64(0)
	case 2:
		return 1<<m.r.IntN(64) - uint64(m.r.IntN(2))
	case 3:
		return uint64(len(m.data) - m.r.IntN(64))
	case 4:
		return old + uint64(m.r.IntN(16)) - 8
	case 5:
		return old * uint64(2+m.r.IntN(1000))
	case 6:
		return -old
	case 7:
		return uint64(m.r.IntN(64))
	case 8:
		return ^uint64(0) - uint64(m.r.IntN(4096))
	default:
		return m.r.Uint64()
	}
}

// get returns the number in a field, or 0 if the field is outside the file.
func (m *mutation) get(f Field) uint64 {
	if f.Offset < 0 || f.Offset > len(m.data)-f.Size {
		return 0
	}
	b := m.data[f.Offset:]
	switch f.Size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(m.Order.Uint16(b))
	case 4:
		return uint64(m.Order.Uint32(b))
	default:
		return m.Order.Uint64(b)
	}
}

// put writes a number into a field, unless the field is outside the file.
func (m *mutation) put(f Field, v uint64) {
	if f.Offset < 0 || f.Offset > len(m.data)-f.Size {
		return
	}
	b := m.data[f.Offset:]
	switch f.Size {
	case 1:
		b[0] = byte(v)
	case 2:
		m.Order.PutUint16(b, uint16(v))
	case 4:
		m.Order.PutUint32(b, uint32(v))
	default:
		m.Order.PutUint64(b, v)
	}
}
