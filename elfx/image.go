package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reasons for which two files do not belong together.
var (
	ErrOtherBuildID = errors.New("build id differs")
	ErrOtherMachine = errors.New("machine, class or byte order differs")
	ErrOtherLayout  = errors.New("code is at other addresses")
	errNoCode       = errors.New("neither file holds code: both are debug files")
)

// Image is one module: the file that is loaded, and the file with the debug
// information if that file is separate.
type Image struct {
	// Main is the file that is loaded, or a debug file without it.
	Main *File
	// Debug is the separate debug file, or nil.
	Debug *File
}

// Size returns the size of the image's files in bytes.
func (img *Image) Size() uint64 {
	size := uint64(img.Main.Size())
	if img.Debug != nil {
		size += uint64(img.Debug.Size())
	}
	return size
}

// Join pairs a binary with its debug file, in either order. The file that has the
// loaded bytes (HoldsLoaded) is the binary; if both have them, the file with debug
// information is the debug file. If b is nil, the image has a alone. If the two do
// not belong together, the error has b's path and the difference: ErrOtherBuildID,
// ErrOtherMachine, ErrOtherLayout or errNoCode.
func Join(a, b *File) (*Image, error) {
	if b == nil {
		return &Image{Main: a}, nil
	}
	if err := matches(a, b); err != nil {
		return nil, fmt.Errorf("%s: does not belong to %s: %w", b.path, a.path, err)
	}

	// The binary becomes a, the debug file b.
	if !a.holdsLoaded || b.holdsLoaded && hasDWARF(a) && !hasDWARF(b) {
		a, b = b, a
	}
	return &Image{Main: a, Debug: b}, nil
}

// matches returns an error if a and b do not belong together.
func matches(a, b *File) error {
	switch {
	case !a.SameMachine(b):
		return ErrOtherMachine
	case a.buildID != nil && b.buildID != nil && !bytes.Equal(a.buildID, b.buildID):
		return fmt.Errorf("%w: %x and %x", ErrOtherBuildID, b.buildID, a.buildID)
	case !a.holdsLoaded && !b.holdsLoaded:
		return errNoCode
	}

	// Prelinking moves the binary but not the debug file. Tools such as patchelf
	// add and move other segments, but not those with code.
	x, y := codeAddresses(a), codeAddresses(b)
	if x != nil && y != nil && !slices.Equal(x, y) {
		return fmt.Errorf("%w: %#x and %#x", ErrOtherLayout, y, x)
	}
	return nil
}

// SameMachine reports whether f and g have the same machine, class and byte order.
func (f *File) SameMachine(g *File) bool {
	return f.Class == g.Class && f.BigEndian == g.BigEndian && f.Machine == g.Machine
}

// MatchBuildID returns ErrOtherBuildID if the file's build id is not id.
func (f *File) MatchBuildID(id []byte) error {
	if !bytes.Equal(f.buildID, id) {
		return fmt.Errorf("%w: %x, not %x", ErrOtherBuildID, f.buildID, id)
	}
	return nil
}

// codeAddresses returns the virtual addresses of the executable segments, or those
// of the code in a relocatable object.
func codeAddresses(f *File) (addrs []uint64) {
	// An object has sections instead of segments.
	if f.Type == elf.ET_REL {
		for _, r := range f.ExecRanges() {
			addrs = append(addrs, r.Lo)
		}
		return addrs
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; s.isCode() {
			addrs = append(addrs, s.Vaddr)
		}
	}
	return addrs
}

// hasDWARF reports whether the file itself has debug information.
func hasDWARF(f *File) bool {
	return present(f.Section(".debug_info")) != nil || present(f.Section(".debug_line")) != nil
}

// DWARF returns the file whose .debug_ sections are used: the debug file if it has
// debug information, else the main file. All .debug_ sections come from one file,
// because they refer to each other.
func (m *Image) DWARF() *File {
	if m.Debug != nil && hasDWARF(m.Debug) {
		return m.Debug
	}
	return m.Main
}

// Section returns the named section of the file that has its bytes, or nil if
// neither file does. Loaded sections come from the main file, debug information
// from DWARF, other sections (.symtab, .debug_frame) from the debug file if it has
// them, else from the main file.
func (m *Image) Section(name string) *Section {
	if m.Debug == nil {
		return present(m.Main.Section(name))
	}
	if strings.HasPrefix(name, ".debug_") && name != ".debug_frame" {
		return present(m.DWARF().Section(name))
	}

	// A stripped binary has lost the section; a debug file has no loaded bytes.
	inMain, inDebug := present(m.Main.Section(name)), present(m.Debug.Section(name))
	if inDebug == nil || inMain != nil && inMain.Flags&elf.SHF_ALLOC != 0 {
		return inMain
	}
	return inDebug
}

// SectionData returns the uncompressed bytes of the section that Section finds,
// or nil without an error if there is no such section.
func (m *Image) SectionData(name string) ([]byte, error) { return dataOf(m.Section(name)) }

// BuildID returns the build id of the main file, or else of the debug file, or nil.
func (m *Image) BuildID() []byte {
	if id := m.Main.BuildID(); id != nil || m.Debug == nil {
		return id
	}
	return m.Debug.BuildID()
}

// Close closes both files.
func (m *Image) Close() error {
	err := m.Main.Close()
	if m.Debug != nil {
		err = errors.Join(err, m.Debug.Close())
	}
	return err
}
