package elfx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mikelolasagasti/xz"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/located"
)

// ErrUnpackedSize: compressed data has an uncompressed size that is not credible.
var ErrUnpackedSize = errors.New("unpacks to an unbelievable size")

// errXZ: the data of .gnu_debugdata is damaged, or no .xz file.
var errXZ = errors.New("unusable xz data")

const debugDataName = ".gnu_debugdata"

// Separator separates the path of a file from the name of a file inside it.
const Separator = "!/"

// DebugData decompresses .gnu_debugdata, an xz-compressed ELF file whose .symtab has
// the functions that .dynsym lacks ("MiniDebugInfo", GDB manual). The result is nil
// without an error if f does not have the section. It must have f's machine and
// build id. It is valid until f is closed.
//
// Memory is bounded: the file by 16 MiB or 256 times the section's size and by
// the limit inflated, the dictionary by that of "xz -9", 64 MiB.
func DebugData(f *File) (*File, error) {
	s := present(f.Section(debugDataName))
	if s == nil {
		return nil, nil
	}
	mini := &File{opt: f.opt, input: input{path: f.path + Separator + debugDataName, archive: f.path, paid: f.paid}}
	err := f.do(func() (err error) {
		mini.data, err = unpackedDebugData(f, s)
		return err
	})

	// The decompressed bytes must be an ELF file of the same module.
	if err == nil {
		err = mini.do(mini.parse)
	}
	if err == nil {
		err = acceptDebugData(f, mini)
	}
	if err != nil {
		mini.Close()
		return nil, err
	}
	f.memory.own(mini)
	return mini, nil
}

// unpackedDebugData decompresses the .xz file in s.
func unpackedDebugData(f *File, s *Section) ([]byte, error) {
	packed, err := s.unpacked()
	if err != nil {
		return nil, err
	}
	credible := bounds.Inflated(f.opt.Limits, uint64(len(packed)))
	most := min(credible, f.opt.Limits.Max(limitof.Inflated, f.paid))

	// A byte more than allowed shows that there are too many.
	var data bytes.Buffer
	r, err := xz.NewReader(bytes.NewReader(packed), xz.DefaultDictMax)
	if err == nil {
		_, err = io.Copy(&data, io.LimitReader(r, int64(min(most, math.MaxInt64-1))+1))
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", errXZ, err)
	case uint64(data.Len()) <= most:
		return data.Bytes(), nil
	case most == credible:
		err = fmt.Errorf("%w: %d bytes to more than %d", ErrUnpackedSize, len(packed), most)
	default:
		err = f.opt.Limits.Exceeded(limitof.Inflated, f.paid)
	}
	return nil, &located.Error{Section: debugDataName, Err: err}
}

// acceptDebugData returns an error if mini is not of the same module as f.
func acceptDebugData(f, mini *File) (err error) {
	// Both build ids must agree, but a file without one is accepted.
	switch {
	case !f.SameMachine(mini):
		err = ErrOtherMachine
	case f.buildID != nil && mini.buildID != nil:
		err = mini.MatchBuildID(f.buildID)
	}
	if err != nil {
		err = &located.Error{Section: debugDataName, Err: fmt.Errorf("symbols of another program: %w", err)}
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	return err
}
