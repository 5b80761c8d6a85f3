package elfx

import (
	"debug/elf"
	"errors"
	"strings"
	"sync"

	"symkit/internal/bounds"
	"symkit/internal/mem"
	"symkit/internal/wire"
)

// ErrParts: the sections of one name are together larger than the file can hold.
var ErrParts = errors.New("sections of one name are too large together")

// parts are the debug sections of a relocatable object, such as a .dwo file, that
// have one name: each type unit is in a section of its own, in a group that the
// linker keeps once (gABI, "Section Groups"), and some compilers emit such sections
// for each function. The parts are read as one section, as if they were linked.
type parts struct {
	all  []int // section indices; those in no group come first, because others refer to them
	once sync.Once
	data []byte
	err  error
}

// findParts finds the sections that share a name. The address of a part becomes its
// offset in the joined section, so that relocations against the part refer to it.
func (f *File) findParts() {
	if f.Type != elf.ET_REL {
		return
	}

	// Two passes: sections outside groups come first.
	heads := map[string]*Section{}
	for _, grouped := range []bool{false, true} {
		for i := range f.Sections {
			s := &f.Sections[i]
			name, ok := s.debugName()
			if !ok || s.loaded() || !s.Present() || (s.Flags&elf.SHF_GROUP != 0) != grouped {
				continue
			}
			head := heads[name]
			switch {
			case head == nil:
				heads[name] = s
				continue
			case head.parts == nil:
				head.parts = &parts{all: []int{head.Index}}
			}
			head.parts.all = append(head.parts.all, i)
			s.head = head
		}
	}

	// The addresses follow once all parts of a name are known.
	for _, head := range heads {
		if head.parts != nil {
			f.layOutParts(head.parts)
		}
	}
}

// debugName returns the name of a section with debug information, in either form of
// compression; ok is false for other sections.
func (s *Section) debugName() (name string, ok bool) {
	if rest, ok := strings.CutPrefix(s.Name, ".zdebug_"); ok {
		return ".debug_" + rest, true
	}
	return s.Name, strings.HasPrefix(s.Name, ".debug_")
}

// layOutParts sets the addresses of the parts. A part with a damaged compression
// header takes no space; reading the part gives the error.
func (f *File) layOutParts(p *parts) {
	// Parts follow each other without gaps, uncompressed.
	var next uint64
	for _, i := range p.all {
		s := &f.Sections[i]
		s.Addr = next
		size := s.Size
		if s.compressed() {
			packing, err := s.claim()
			if err != nil {
				continue
			}
			size = packing.size
		}
		next += size
	}
	if next > bounds.Inflated(f.opt.Limits, uint64(len(f.data))) {
		p.err = &wire.Error{Section: f.Sections[p.all[0]].label(), Err: ErrParts}
	}
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
