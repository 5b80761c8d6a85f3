package elfx

import (
	"debug/elf"
	"errors"
	"strings"
	"sync"

	"symkit/internal/limits"
	"symkit/internal/mem"
	"symkit/internal/wire"
)

// ErrParts: the sections of one name are more than a file of this size can hold.
var ErrParts = errors.New("sections of one name are too large together")

// parts are the debug sections of a relocatable object (a .dwo file is one) that
// bear one name: each type unit is in a section of its own, in a group that the
// linker keeps once (gABI, "Section Groups"), and some compilers have such
// sections for each function. They are read as one, as if they were linked.
type parts struct {
	all  []int // sections; what is in no group comes first, since others refer to it
	once sync.Once
	data []byte
	err  error
}

// findParts finds the sections that are parts of one, and gives each its offset
// in the whole as its address, so that relocations against it lead there.
func (f *File) findParts() {
	if f.Type != elf.ET_REL {
		return
	}
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
	for _, head := range heads {
		if head.parts != nil {
			f.layOutParts(head.parts)
		}
	}
}

// debugName is the name of a section with debug information, whichever way it
// is compressed.
func (s *Section) debugName() (name string, ok bool) {
	if rest, ok := strings.CutPrefix(s.Name, ".zdebug_"); ok {
		return ".debug_" + rest, true
	}
	return s.Name, strings.HasPrefix(s.Name, ".debug_")
}

// layOutParts sets the addresses. A part whose size cannot be told has none:
// reading it will tell why.
func (f *File) layOutParts(p *parts) {
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
	if next > limits.Inflated(uint64(len(f.data))) {
		p.err = &wire.Error{Section: f.Sections[p.all[0]].label(), Err: ErrParts}
	}
}

// joined is the bytes of all parts that s is the head of.
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
