package elfx

import (
	"debug/elf"
	"errors"
	"strings"

	"symkit/internal/bounds"
	"symkit/located"
)

// errParts: the sections of one name are together larger than the file can hold.
var errParts = errors.New("sections of one name are too large together")

// findParts finds the sections that share a name. The address of a part becomes its
// offset in the joined section, so that relocations against the part refer to it.
func findParts(f *File) {
	if f.Type != elf.ET_REL {
		return
	}

	// Two passes: sections outside groups come first.
	heads := map[string]*Section{}
	for _, grouped := range []bool{false, true} {
		for i := range f.Sections {
			s := &f.Sections[i]
			name, ok := debugName(s)
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
			s.parts = head.parts
		}
	}

	// The addresses follow once all parts of a name are known.
	for _, head := range heads {
		if head.parts != nil {
			layOutParts(f, head.parts)
		}
	}
}

// debugName returns the name of a section with debug information, in either form of
// compression; ok is false for other sections.
func debugName(s *Section) (name string, ok bool) {
	if rest, ok := strings.CutPrefix(s.Name, ".zdebug_"); ok {
		return ".debug_" + rest, true
	}
	return s.Name, strings.HasPrefix(s.Name, ".debug_")
}

// layOutParts sets the addresses of the parts. A part with a damaged compression
// header takes no space; reading the part gives the error.
func layOutParts(f *File, p *parts) {
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
		p.err = &located.Error{Section: f.Sections[p.all[0]].label(), Err: errParts}
	}
}
