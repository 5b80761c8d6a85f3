package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Why two files are no pair.
var (
	ErrOtherBuildID = errors.New("build id differs")
	ErrOtherSup     = errors.New("checksum differs from .debug_sup")
	ErrOtherMachine = errors.New("machine, class or byte order differs")
	ErrOtherLayout  = errors.New("code is at other addresses")
	ErrNoCode       = errors.New("neither file holds code: both are debug files")
)

// Image is one module: the file that is loaded and, where it is separate, the
// file with its debug information.
type Image struct {
	// Main holds what is loaded. Of a debug file alone, it is that file.
	Main *File
	// Debug is the separate debug file, or nil.
	Debug *File
}

// Size is that of the image's files, in bytes.
func (img *Image) Size() uint64 {
	size := uint64(img.Main.Size())
	if img.Debug != nil {
		size += uint64(img.Debug.Size())
	}
	return size
}

// Join pairs a binary with its debug file, given in either order: the one that
// HoldsLoaded is the binary. Of two that do, the one with .debug_info is the
// debug file. With b nil the image has a alone. The error, when the two do not
// belong together, names b's path and tells what differs.
func Join(a, b *File) (*Image, error) {
	if b == nil {
		return &Image{Main: a}, nil
	}
	if err := matches(a, b); err != nil {
		return nil, fmt.Errorf("%s: does not belong to %s: %w", b.path, a.path, err)
	}
	if !a.holdsLoaded || b.holdsLoaded && a.hasDWARF() && !b.hasDWARF() {
		a, b = b, a
	}
	return &Image{Main: a, Debug: b}, nil
}

func matches(a, b *File) error {
	switch {
	case !a.SameMachine(b):
		return ErrOtherMachine
	case a.buildID != nil && b.buildID != nil && !bytes.Equal(a.buildID, b.buildID):
		return fmt.Errorf("%w: %x and %x", ErrOtherBuildID, b.buildID, a.buildID)
	case !a.holdsLoaded && !b.holdsLoaded:
		return ErrNoCode
	}
	// Prelinking moves the binary and leaves the debug file. Other segments
	// are added and moved by tools such as patchelf, which leave code alone.
	x, y := a.codeAddresses(), b.codeAddresses()
	if x != nil && y != nil && !slices.Equal(x, y) {
		return fmt.Errorf("%w: %#x and %#x", ErrOtherLayout, y, x)
	}
	return nil
}

// SameMachine reports whether two files are for the same machine, class and
// byte order.
func (f *File) SameMachine(g *File) bool {
	return f.Class == g.Class && f.BigEndian == g.BigEndian && f.Machine == g.Machine
}

// MatchBuildID returns an error if the file has not the build id.
func (f *File) MatchBuildID(id []byte) error {
	if !bytes.Equal(f.buildID, id) {
		return fmt.Errorf("%w: %x, not %x", ErrOtherBuildID, f.buildID, id)
	}
	return nil
}

// codeAddresses is the addresses of the executable segments; in a relocatable
// object of the sections with code.
func (f *File) codeAddresses() (addrs []uint64) {
	if f.Type == elf.ET_REL {
		for _, r := range f.ExecRanges() {
			addrs = append(addrs, r.Lo)
		}
		return addrs
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 {
			addrs = append(addrs, s.Vaddr)
		}
	}
	return addrs
}

// hasDWARF tells whether the file itself has debug information.
func (f *File) hasDWARF() bool {
	for _, name := range []string{".debug_info", ".debug_line"} {
		if s := f.Section(name); s != nil && s.Present() {
			return true
		}
	}
	return false
}

// DWARF is the file whose .debug_ sections are used: the debug file if it has
// debug information, else the main file. The sections refer to one another, so
// they all come from one.
func (m *Image) DWARF() *File {
	if m.Debug != nil && m.Debug.hasDWARF() {
		return m.Debug
	}
	return m.Main
}

// Section finds the named section in the file that really holds its bytes, or
// nil when neither does. What is loaded comes from the main file, debug
// information from DWARF, anything else (.symtab, .debug_frame) from the debug
// file before the main file.
func (m *Image) Section(name string) *Section {
	if m.Debug == nil {
		return present(m.Main.Section(name))
	}
	if strings.HasPrefix(name, ".debug_") && name != ".debug_frame" {
		return present(m.DWARF().Section(name))
	}
	inMain, inDebug := present(m.Main.Section(name)), present(m.Debug.Section(name))
	if inDebug == nil || inMain != nil && inMain.Flags&elf.SHF_ALLOC != 0 {
		return inMain
	}
	return inDebug
}

// SectionData is the uncompressed bytes of the section that Section finds; nil
// without an error when there is none.
func (m *Image) SectionData(name string) ([]byte, error) {
	s := m.Section(name)
	if s == nil {
		return nil, nil
	}
	return s.Data()
}

// Symbols reads .symtab from the file that has it, else .dynsym. The table is
// nil when neither is there.
func (m *Image) Symbols() (*SymbolTable, error) {
	if s := m.Section(".symtab"); s != nil {
		return s.file.Symtab()
	}
	return m.Dynsym()
}

// Dynsym reads .dynsym, which only the main file has.
func (m *Image) Dynsym() (*SymbolTable, error) { return m.Main.Dynsym() }

// BuildID is the build id of either file, the main one first, or nil.
func (m *Image) BuildID() []byte {
	if id := m.Main.BuildID(); id != nil || m.Debug == nil {
		return id
	}
	return m.Debug.BuildID()
}

// ModuleID is the id of the MODULE record; see File.ModuleID. A build id in
// either file comes before a hash of the code.
func (m *Image) ModuleID() (string, error) {
	if m.Main.buildID == nil && m.Debug != nil && m.Debug.buildID != nil {
		return m.Debug.ModuleID()
	}
	return m.Main.ModuleID()
}

// Close closes both files.
func (m *Image) Close() error {
	err := m.Main.Close()
	if m.Debug != nil {
		err = errors.Join(err, m.Debug.Close())
	}
	return err
}

// present is s if the file has its bytes.
func present(s *Section) *Section {
	if s == nil || !s.Present() {
		return nil
	}
	return s
}
