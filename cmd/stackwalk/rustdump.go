package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"symkit/elfx"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
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

	print := func(out io.Writer) error {
		return mem.Guard(func() error {
			return rawdump.Write(bounded(ctx, f.Minidump, 0, out), file.Bytes(), rawdump.Options{Brief: f.Brief})
		})
	}
	if f.OutputFile == "" || f.OutputFile == "-" {
		err = print(stdout)
	} else {
		err = atomicfile.Write(ctx, f.OutputFile, print)
	}
	switch {
	case errors.Is(err, minidump.ErrSignature):
		return fmt.Errorf("%s: --dump is about minidumps, and this is none", f.Minidump)
	case errors.Is(err, elfx.ErrChanged):
		return fmt.Errorf("%s: %w", f.Minidump, err)
	}
	if _, damaged := errors.AsType[*wire.Error](err); damaged {
		return fmt.Errorf("%s: %w", f.Minidump, incomplete(err))
	}
	return err
}

// rustSkips are the types of streams that stackwalk reads and rust-minidump only names.
var rustSkips = []minidump.StreamType{minidump.LinuxCmdLineStream, minidump.LinuxAuxvStream}

// rustReads are the types that rust-minidump reads and stackwalk does not.
var rustReads = []minidump.StreamType{minidump.StabilityReportStream}

// unreadStreams returns lines about the streams of a minidump that rust-minidump does not
// read: those that it knows, and others. A dump that cannot be read has none.
func unreadStreams(path string) (unimplemented, unknown []string) {
	file, err := mem.Open(path)
	if err != nil {
		return nil, nil
	}
	defer file.Release()
	_ = mem.Guard(func() error { // a dump that changes has no such lines
		unimplemented, unknown = unread(file.Bytes())
		return nil
	})
	return unimplemented, unknown
}

func unread(data []byte) (unimplemented, unknown []string) {
	if !bytes.HasPrefix(data, []byte("MDMP")) && !bytes.HasPrefix(data, []byte("PMDM")) {
		return nil, nil
	}
	d, err := minidump.New(data)
	if err != nil {
		return nil, nil
	}

	// Of several streams of one type the last counts.
	last := map[minidump.StreamType]minidump.Stream{}
	for _, s := range d.Directory {
		last[s.Type] = s
	}
	types := make([]minidump.StreamType, 0, len(last))
	for typ := range last {
		types = append(types, typ)
	}
	slices.SortFunc(types, cmp.Compare)
	for _, typ := range types {
		at := last[typ].Location.RVA
		switch {
		case !typ.Known():
			unknown = append(unknown, fmt.Sprintf("Stream 0x%08x (%s) @ 0x%08x", uint32(typ), vendor(typ), at))
		case !typ.Decoded() && !slices.Contains(rustReads, typ), slices.Contains(rustSkips, typ):
			unimplemented = append(unimplemented, fmt.Sprintf("Stream 0x%08x %s (%s) @ 0x%08x", uint32(typ), rawdump.StreamName(typ), vendor(typ), at))
		}
	}
	return unimplemented, unknown
}

// vendor returns the name of the project that defines a type of streams.
func vendor(typ minidump.StreamType) string {
	switch {
	case typ <= 0xffff:
		return "Official"
	case typ>>16 == 0x4767:
		return "Google Extension"
	case typ>>16 == 0x4d7a:
		return "Mozilla Extension"
	}
	return "Unknown Extension"
}
