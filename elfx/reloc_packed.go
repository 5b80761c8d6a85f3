package elfx

import (
	"debug/elf"
	"errors"
	"math"

	"symkit/internal/wire"
)

// Section types of packed relocations, which lld writes with
// --pack-dyn-relocs=android.
const (
	shtAndroidRel  elf.SectionType = 0x60000001
	shtAndroidRela elf.SectionType = 0x60000002
)

// Errors of packed relocations.
var (
	// errPackedMagic: the packed relocations do not begin with "APS2".
	errPackedMagic = errors.New("packed relocations of an unknown format")
	// errPackedCount: there are more relocations than the file has words, or a
	// group is larger than the number of relocations that remain.
	errPackedCount = errors.New("impossible number of packed relocations")
)

// Flags of a group of packed relocations (bionic, linker_reloc_iterators.h): the
// fields that all relocations of the group share.
const (
	groupedByInfo        = 1
	groupedByOffsetDelta = 2
	groupedByAddend      = 4
	groupHasAddend       = 8
)

// unpackRelocs reads Android's packed relocations: signed LEB128 numbers in groups.
// Offsets and addends are differences to the previous relocation. A relocation of a
// group may take no bytes, so the number of relocations is bounded by the number of
// words in the file.
func unpackRelocs(s *Section) ([]Reloc, error) {
	data, err := s.unpacked()
	if err != nil {
		return nil, err
	}

	// The format begins with a magic, the count and the first offset.
	c := s.file.cursor(s.label(), data)
	if magic := c.Bytes(4); c.Err() == nil && string(magic) != "APS2" {
		c.Fail(0, errPackedMagic)
	}

	at := c.Pos()
	count := uint64(c.SLEB())
	if c.Err() == nil && count > uint64(len(s.file.data)/s.file.AddrSize()) {
		c.Fail(at, errPackedCount)
	}

	// A group is never larger than the relocations that remain.
	u := unpacker{Cursor: c, file: s.file, last: Reloc{Offset: uint64(c.SLEB())}}
	for u.Err() == nil && uint64(len(u.relocs)) < count {
		u.group(count - uint64(len(u.relocs)))
	}
	return u.relocs, u.Err()
}

// unpacker reads groups of packed relocations.
type unpacker struct {
	wire.Cursor
	file   *File
	last   Reloc
	relocs []Reloc
}

// group reads one group of at most left relocations.
func (u *unpacker) group(left uint64) {
	at := u.Pos()
	n, flags := uint64(u.SLEB()), u.SLEB()
	if u.Err() == nil && (n == 0 || n > left) {
		u.Fail(at, errPackedCount)
	}

	// The fields that the group has once.
	var step uint64
	if flags&groupedByOffsetDelta != 0 {
		step = uint64(u.SLEB())
	}
	if flags&groupedByInfo != 0 {
		u.info()
	}
	switch flags & (groupHasAddend | groupedByAddend) {
	case groupHasAddend | groupedByAddend:
		u.last.Addend += u.SLEB()
	case 0, groupedByAddend:
		u.last.Addend = 0
	}

	// The fields that each relocation has.
	for ; n > 0 && u.Err() == nil; n-- {
		if flags&groupedByOffsetDelta == 0 {
			step = uint64(u.SLEB())
		}
		u.last.Offset += step
		if u.file.Class == elf.ELFCLASS32 {
			u.last.Offset &= math.MaxUint32
		}
		if flags&groupedByInfo == 0 {
			u.info()
		}
		if flags&(groupHasAddend|groupedByAddend) == groupHasAddend {
			u.last.Addend += u.SLEB()
		}
		if u.Err() == nil {
			u.relocs = append(u.relocs, u.last)
		}
	}
}

// info reads r_info.
func (u *unpacker) info() {
	info := uint64(u.SLEB())
	if u.file.Class == elf.ELFCLASS32 {
		u.last.Sym, u.last.Type = uint32(info)>>8, uint32(info)&0xff
	} else {
		u.last.Sym, u.last.Type = uint32(info>>32), uint32(info)
	}
}
