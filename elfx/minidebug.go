package elfx

import (
	"errors"
	"fmt"

	"symkit/internal/wire"
)

// ErrUnpackedSize: packed data that claims to unpack to more than is believed.
var ErrUnpackedSize = errors.New("unpacks to an unbelievable size")

const debugDataName = ".gnu_debugdata"

// unpackLimit is the largest size that n packed bytes are unpacked to. Symbol
// tables are below 10:1.
func unpackLimit(n int) uint64 {
	return inflated(uint64(n))
}

// DebugData unpacks .gnu_debugdata, an xz-compressed ELF file whose .symtab has
// the functions that .dynsym lacks ("MiniDebugInfo", GDB manual). The File
// is nil without an error when there is none; the caller closes it. It must be of
// the same machine and build id.
//
// Memory is bounded before anything is decoded: by the sizes in the index of
// the xz file, which must be below 16 MiB or 256 times the section's size, and
// again as much for the dictionary.
func (f *File) DebugData() (*File, error) {
	s := f.Section(debugDataName)
	if s == nil || !s.Present() {
		return nil, nil
	}
	mini := &File{path: f.path + memberSeparator + debugDataName, archive: f.path}
	err := f.do(func() error {
		data, err := s.bytes()
		if err != nil {
			return err
		}
		return mini.unxz(debugDataName, data)
	})
	if err == nil {
		err = mini.do(mini.parse)
	}
	if err == nil {
		err = f.acceptDebugData(mini)
	}
	if err != nil {
		mini.Close()
		return nil, err
	}
	f.memory.own(mini)
	return mini, nil
}

// unxz fills the file with what the .xz file in a section unpacks to.
func (f *File) unxz(section string, data []byte) error {
	stream, err := openXZ(section, data)
	if err != nil {
		return err
	}
	if stream.size > unpackLimit(len(data)) {
		err := fmt.Errorf("%w: %d bytes to %d", ErrUnpackedSize, len(data), stream.size)
		return &wire.Error{Section: section, Err: err}
	}
	return f.fill(stream.size, stream.decode)
}

// fill makes the file's bytes, which go at Close.
func (f *File) fill(size uint64, decode func(dst []byte) error) error {
	f.data = f.memory.get(size).Bytes()
	return decode(f.data)
}

// acceptDebugData tells why mini is not of the module f.
func (f *File) acceptDebugData(mini *File) error {
	err := error(nil)
	switch {
	case !f.sameMachine(mini):
		err = ErrOtherMachine
	case f.buildID != nil && mini.buildID != nil:
		err = acceptBuildID(mini, f.buildID)
	}
	if err != nil {
		err = &wire.Error{Section: debugDataName, Err: fmt.Errorf("symbols of another program: %w", err)}
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	return err
}
