// Package identity says what symbol files call an ELF file: the CPU and the id of the
// MODULE record, which debuggers' minidumps have too.
//
//	id, err := identity.Of(img) // the build id, or Breakpad's hash of the code
//	if err != nil {
//		return err
//	}
//	fmt.Println("MODULE Linux", arch, identity.ModuleID(id, img.Main.BigEndian), name)
package identity

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/located"
)

// ErrNone: the file has neither a build id nor code to hash, such as a debug file that
// was linked without a build id.
var ErrNone = errors.New("no build id and no code to make an id from")

const (
	guidSize = 16
	// hashSize is the number of bytes of .text that Breakpad's fallback id covers.
	hashSize = 4096
)

// Of returns the bytes that Breakpad identifies a module by: the build id of the main
// file, else of the debug file, else Breakpad's hash over .text, else the same hash over
// the other code. The error is ErrNone if the image has none of these.
func Of(img *elfx.Image) ([]byte, error) {
	if id := img.BuildID(); id != nil {
		return id, nil
	}

	// The hash fails on its own, or because the file changes meanwhile.
	f := img.Main
	var hash [guidSize]byte
	var err error
	changed := mem.Guard(func() error {
		hash, err = hashText(f)
		return nil
	})
	if changed != nil {
		err = &filename.Error{Path: f.Path(), Err: changed}
	}
	if err != nil {
		return nil, err
	}
	return hash[:], nil
}

// ModuleID turns an identifier of any length into the id of a MODULE record: the
// first 16 bytes, padded with zeros, as a GUID in upper-case hexadecimal, and an age
// of 0. Breakpad reads the bytes as a GUID structure in memory. Therefore the first
// three fields (4, 2 and 2 bytes) are swapped for a little-endian file, and no field
// is swapped for a big-endian file.
func ModuleID(id []byte, bigEndian bool) string {
	var guid [guidSize]byte
	copy(guid[:], id)

	// The GUID's first three fields are numbers in the byte order of the file.
	if !bigEndian {
		slices.Reverse(guid[0:4])
		slices.Reverse(guid[4:6])
		slices.Reverse(guid[6:8])
	}
	return strings.ToUpper(hex.EncodeToString(guid[:])) + "0"
}

// hashText returns Breakpad's identifier of a file without a build id: the XOR of
// the 16-byte blocks in the first 4096 bytes of the code section. If the section ends
// inside the last block, the block includes the bytes that follow in the file, or
// zeros after the file's end.
func hashText(f *elfx.File) (hash [guidSize]byte, err error) {
	s := codeSection(f)
	if s == nil {
		return hashCode(f)
	}
	if _, err := s.Raw(); err != nil {
		return hash, err
	}

	// Whole blocks are hashed, even if the section ends inside the last one.
	n := min(s.Size, hashSize)
	n = (n + guidSize - 1) / guidSize * guidSize
	for i, b := range f.FileBytes(s.Offset, n) {
		hash[i%guidSize] ^= b
	}
	return hash, nil
}

// codeSection returns the section that Breakpad hashes, or nil: .text, or "text" in
// Android's packed libraries.
func codeSection(f *elfx.File) *elfx.Section {
	for _, name := range []string{".text", "text"} {
		if s := f.Section(name); s != nil && s.Present() && s.Size > 0 {
			return s
		}
	}
	return nil
}

// hashCode returns the identifier of a file that has code, but not in .text: an
// object file with main in .text.startup, or with a section for each function.
// Breakpad has no identifier for such files. The hash is hashText's over the bytes of
// all code sections, in header order and without gaps.
func hashCode(f *elfx.File) (hash [guidSize]byte, err error) {
	// The bytes of the code sections follow each other, up to 4096 in total.
	n := 0
	for i := range f.Sections {
		s := &f.Sections[i]
		const code = elf.SHF_EXECINSTR | elf.SHF_ALLOC
		if s.Flags&code != code || s.Size == 0 {
			continue
		}
		if !s.Present() { // the code is in another file, which would have another id
			return [guidSize]byte{}, none(f, s.Name)
		}
		data, err := s.Raw()
		if err != nil {
			return hash, err
		}

		for _, b := range data[:min(len(data), hashSize-n)] {
			hash[n%guidSize] ^= b
			n++
		}
	}
	if n == 0 {
		return [guidSize]byte{}, none(f, ".text")
	}
	return hash, nil
}

// none returns ErrNone at a section.
func none(f *elfx.File, section string) error {
	return &filename.Error{Path: f.Path(), Err: &located.Error{Section: section, Err: ErrNone}}
}
