package sframes

import (
	"debug/elf"
	"errors"
	"slices"

	"symkit/elfx"
	"symkit/limits"
	"symkit/sframe"
)

var errMachine = errors.New("SFrame is not defined for the machine")

// sectionsOf returns the .sframe sections of an image, with or without contents: all of the file that
// has them.
func sectionsOf(img *elfx.Image) (all []*elfx.Section) {
	for _, f := range []*elfx.File{img.Main, img.Debug} {
		if f == nil {
			continue
		}
		for i := range f.Sections {
			s := &f.Sections[i]
			if s.Type == sectionType || s.Name == ".sframe" && s.Type != elf.SHT_NULL {
				all = append(all, s)
			}
		}
		if s := f.Section(".sframe"); len(all) == 0 && s != nil {
			all = append(all, s) // made from the program header
		}
		if slices.ContainsFunc(all, func(s *elfx.Section) bool { return s.Present() }) {
			return all
		}
	}
	return all
}

// sectionType is SHT_GNU_SFRAME.
const sectionType = elf.SectionType(0x6ffffff4)

// Read reads the .sframe section of an image, the first if there are several. The section is nil if
// the file has none that can be read.
func Read(img *elfx.Image, l limits.Limits) (*sframe.Section, sframe.ABI, error) {
	for _, s := range sectionsOf(img) {
		if s.Present() {
			abi, ok := sframe.ABIOf(s.File().Machine, s.File().BigEndian)
			if !ok {
				return nil, 0, errMachine
			}
			parsed, err := readSection(s, abi, img.Size(), l)
			return parsed, abi, err
		}
	}
	return nil, 0, nil
}

func readSection(s *elfx.Section, abi sframe.ABI, size uint64, l limits.Limits) (*sframe.Section, error) {
	data, err := s.Data()
	if err != nil {
		return nil, err
	}
	return sframe.Parse(data, sframe.Options{Addr: s.Addr, ABI: abi, Relocatable: s.File().Type == elf.ET_REL,
		Segment: s.Index < 0, Limits: l, FileSize: size})
}
