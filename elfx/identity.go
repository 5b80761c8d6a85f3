package elfx

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"symkit/internal/wire"
)

// ErrNoIdentity: the file has neither a build id nor code to hash, as a debug
// file that was linked without a build id.
var ErrNoIdentity = errors.New("no build id and no code to make an id from; give one with --id")

const (
	guidSize = 16
	// hashSize is how much of .text Breakpad's fallback id covers.
	hashSize = 4096
)

// BuildID is the descriptor of the file's GNU build id note, or nil. It is a
// copy.
func (f *File) BuildID() []byte { return slices.Clone(f.buildID) }

// CodeID is the whole build id in upper-case hexadecimal, the value of the INFO
// CODE_ID record; empty without a build id.
func (f *File) CodeID() string {
	return strings.ToUpper(hex.EncodeToString(f.buildID))
}

// ModuleID is the id of the MODULE record: that of the build id, else of
// Breakpad's hash over .text, or over the code of other sections, else
// ErrNoIdentity.
func (f *File) ModuleID() (id string, err error) {
	err = f.do(func() error {
		if f.buildID != nil {
			id = ModuleID(f.buildID, f.BigEndian)
			return nil
		}
		hash, err := f.hashText()
		id = ModuleID(hash[:], f.BigEndian)
		return err
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// ModuleID turns an identifier of any length into the id of a MODULE record:
// its first 16 bytes, padded with zeros, as a GUID in upper-case hexadecimal,
// and an age of 0. Breakpad reads the bytes as a GUID structure in memory, so
// that a little-endian file has the first three fields (4, 2 and 2 bytes)
// swapped and a big-endian one has the bytes as they stand.
func ModuleID(id []byte, bigEndian bool) string {
	var guid [guidSize]byte
	copy(guid[:], id)
	if !bigEndian {
		slices.Reverse(guid[0:4])
		slices.Reverse(guid[4:6])
		slices.Reverse(guid[6:8])
	}
	return strings.ToUpper(hex.EncodeToString(guid[:])) + "0"
}

// hashText is Breakpad's identifier of a file without a build id: the XOR of
// the 16-byte blocks in the first 4096 bytes of the code section. The last
// block is read whole even where the section ends inside it; it then covers
// the bytes that follow in the file, zeros past the file's end.
func (f *File) hashText() (hash [guidSize]byte, err error) {
	s := f.codeSection()
	if s == nil {
		return f.hashCode()
	}
	if _, err := s.raw(); err != nil {
		return hash, err
	}
	n := min(s.Size, hashSize)
	n = (n + guidSize - 1) / guidSize * guidSize
	rest := f.data[s.Offset:]
	for i, b := range rest[:min(n, uint64(len(rest)))] {
		hash[i%guidSize] ^= b
	}
	return hash, nil
}

// codeSection is the section that Breakpad hashes: .text, or text as Android's
// packed libraries call it.
func (f *File) codeSection() *Section {
	for _, name := range []string{".text", "text"} {
		if s := f.named(name); s != nil && s.Present() && s.Size > 0 {
			return s
		}
	}
	return nil
}

// hashCode is the identifier of a file with code, but none in .text: an object
// file with main in .text.startup, or with a section for each function. Breakpad
// has no identifier for these. The blocks are those of all code sections, in
// header order and without gaps.
func (f *File) hashCode() (hash [guidSize]byte, err error) {
	n := 0
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&elf.SHF_ALLOC == 0 || s.Flags&elf.SHF_EXECINSTR == 0 || s.Size == 0 {
			continue
		}
		if !s.Present() { // the code is in another file, whose id is not that of the rest
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
