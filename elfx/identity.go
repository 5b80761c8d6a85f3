package elfx

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"symkit/internal/wire"
)

// ErrNoIdentity: the file has neither a build id nor code to hash, such as a debug
// file that was linked without a build id.
var ErrNoIdentity = errors.New("no build id and no code to make an id from; give one with --id")

const (
	guidSize = 16
	// hashSize is the number of bytes of .text that Breakpad's fallback id covers.
	hashSize = 4096
)

// BuildID returns a copy of the descriptor of the file's GNU build id note, or nil.
func (f *File) BuildID() []byte { return slices.Clone(f.buildID) }

// CodeID returns the whole build id in upper-case hexadecimal, or "" without a build id.
func (f *File) CodeID() string {
	return strings.ToUpper(hex.EncodeToString(f.buildID))
}

// Identifier returns the bytes that Breakpad identifies the file by: the build id, else
// Breakpad's hash over .text, else the same hash over the other code. The error is
// ErrNoIdentity if the file has none of these.
func (f *File) Identifier() ([]byte, error) { return guarded(f, f.identifier) }

func (f *File) identifier() ([]byte, error) {
	if f.buildID != nil {
		return f.BuildID(), nil
	}
	hash, err := f.hashText()
	return hash[:], err
}

// ModuleID returns the id of the MODULE record, which is made of the Identifier.
func (f *File) ModuleID() (string, error) {
	id, err := f.Identifier()
	if err != nil {
		return "", err
	}
	return ModuleID(id, f.BigEndian), nil
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
func (f *File) hashText() (hash [guidSize]byte, err error) {
	s := f.codeSection()
	if s == nil {
		return f.hashCode()
	}
	if _, err := s.raw(); err != nil {
		return hash, err
	}

	// Whole blocks are hashed, even if the section ends inside the last one.
	n := min(s.Size, hashSize)
	n = (n + guidSize - 1) / guidSize * guidSize
	rest := f.data[s.Offset:]
	for i, b := range rest[:min(n, uint64(len(rest)))] {
		hash[i%guidSize] ^= b
	}
	return hash, nil
}

// codeSection returns the section that Breakpad hashes, or nil: .text, or "text" in
// Android's packed libraries.
func (f *File) codeSection() *Section {
	for _, name := range []string{".text", "text"} {
		if s := present(f.named(name)); s != nil && s.Size > 0 {
			return s
		}
	}
	return nil
}

// hashCode returns the identifier of a file that has code, but not in .text: an
// object file with main in .text.startup, or with a section for each function.
// Breakpad has no identifier for such files. The hash is hashText's over the bytes of
// all code sections, in header order and without gaps.
func (f *File) hashCode() (hash [guidSize]byte, err error) {
	// The bytes of the code sections follow each other, up to 4096 in total.
	n := 0
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.isCode() || s.Size == 0 {
			continue
		}
		if !s.Present() { // the code is in another file, which would have another id
			return [guidSize]byte{}, &wire.Error{Section: s.label(), Err: ErrNoIdentity}
		}
		data, err := s.raw()
		if err != nil {
			return hash, err
		}

		for _, b := range data[:min(len(data), hashSize-n)] {
			hash[n%guidSize] ^= b
			n++
		}
	}
	if n == 0 {
		return [guidSize]byte{}, &wire.Error{Section: ".text", Err: ErrNoIdentity}
	}
	return hash, nil
}
