package elfx

import (
	"errors"
	"fmt"

	"symkit/internal/bounds"
	"symkit/internal/wire"
	"symkit/limits"
)

// ErrUnpackedSize: compressed data claims an uncompressed size that is not credible.
var ErrUnpackedSize = errors.New("unpacks to an unbelievable size")

const debugDataName = ".gnu_debugdata"

// Separator separates the path of a file from the name of a file inside it.
const Separator = "!/"

// DebugData decompresses .gnu_debugdata, an xz-compressed ELF file whose .symtab has
// the functions that .dynsym lacks ("MiniDebugInfo", GDB manual). The result is nil
// without an error if f does not have the section. It must have f's machine and
// build id. It is valid until f is closed.
//
// Memory is bounded before the decoding: by the sizes in the index of the xz file,
// which must be below 16 MiB or 256 times the section's size and within limits.Inflated,
// and by the same amount again for the dictionary.
func (f *File) DebugData() (*File, error) {
	s := present(f.Section(debugDataName))
	if s == nil {
		return nil, nil
	}

	mini := &File{opt: f.opt, paid: f.paid, path: f.path + Separator + debugDataName, archive: f.path}
	err := f.do(func() error {
		data, err := s.bytes()
		if err != nil {
			return err
		}
		return mini.unxz(debugDataName, data)
	})

	// The decompressed bytes must be an ELF file of the same module.
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

// unxz decodes the .xz file in a section into the bytes of f.
func (f *File) unxz(section string, data []byte) error {
	stream, err := openXZ(section, data)
	if err != nil {
		return err
	}

	// The index of the xz file has the size, so memory is bounded before it is allocated.
	switch {
	case stream.size > bounds.Inflated(f.opt.Limits, uint64(len(data))):
		err = fmt.Errorf("%w: %d bytes to %d", ErrUnpackedSize, len(data), stream.size)
	case stream.size > f.opt.Limits.Max(limits.Inflated, f.paid):
		err = f.opt.Limits.Exceeded(limits.Inflated, f.paid)
	}
	if err != nil {
		return &wire.Error{Section: section, Err: err}
	}
	f.data = f.memory.get(stream.size).Bytes()
	return stream.decode(f.data)
}

// acceptDebugData returns an error if mini is not of the same module as f.
func (f *File) acceptDebugData(mini *File) (err error) {
	// Both build ids must agree, but a file without one is accepted.
	switch {
	case !f.SameMachine(mini):
		err = ErrOtherMachine
	case f.buildID != nil && mini.buildID != nil:
		err = mini.MatchBuildID(f.buildID)
	}
	if err != nil {
		err = &wire.Error{Section: debugDataName, Err: fmt.Errorf("symbols of another program: %w", err)}
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	return err
}
