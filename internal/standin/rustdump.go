package standin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"symkit/elfx"
	"symkit/internal/atomicfile"
	"symkit/internal/bounds"
	"symkit/internal/command"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/wire"
	"symkit/walk/minidump"
	"symkit/walk/peers/rawdump"
)

// rawDump writes the streams of the minidump.
func (f *rustFlags) rawDump(ctx context.Context, stdout io.Writer) error {
	file, err := mem.Open(f.Minidump)
	if err != nil {
		return command.Unreadable("", f.Minidump, err, "the path of a minidump")
	}
	defer file.Release()
	err = atomicfile.Clobbers(f.OutputFile, stdout, f.Minidump)
	if err != nil {
		return err
	}

	err = atomicfile.WriteOr(ctx, f.OutputFile, stdout, func(out io.Writer) error {
		return mem.Guard(func() error {
			return rawdump.Write(bounds.NewWriter(ctx, out, limitof.Report, f.Minidump, uint64(file.Info().Size())), file.Bytes(), rawdump.Options{Brief: f.Brief})
		})
	})
	switch {
	case errors.Is(err, minidump.ErrSignature):
		return fmt.Errorf("%s: --dump is about minidumps, and this is none", f.Minidump)
	case errors.Is(err, elfx.ErrChanged):
		return fmt.Errorf("%s: %w", f.Minidump, err)
	}
	_, damaged := errors.AsType[*wire.Error](err)
	switch {
	case errors.Is(err, wire.ErrTruncated):
		return fmt.Errorf("%s: %w: the dump is not complete; copy it again", f.Minidump, err)
	case damaged:
		return fmt.Errorf("%s: %w", f.Minidump, err)
	}
	return err
}

// unreadStreams returns lines about the streams of a minidump that rust-minidump does not
// read: those that it knows, and others. A dump that cannot be read has none.
func unreadStreams(path string) (unimplemented, unknown []string) {
	file, err := mem.Open(path)
	if err != nil {
		return nil, nil
	}
	defer file.Release()
	_ = mem.Guard(func() error { // a dump that changes has no such lines
		unimplemented, unknown = rawdump.Unread(file.Bytes())
		return nil
	})
	return unimplemented, unknown
}
