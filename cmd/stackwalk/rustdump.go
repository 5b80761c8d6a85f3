package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"symkit/internal/mem"
	"symkit/walk/minidump"
)

// rustSkips are the types of streams that rust-minidump knows and does not read, beside
// those that nothing here reads either.
var rustSkips = []minidump.StreamType{minidump.LinuxCmdLineStream, minidump.LinuxAuxvStream}

// rustReads are the types that rust-minidump reads and nothing here does.
var rustReads = []minidump.StreamType{minidump.StabilityReportStream}

// rustNames are the names that rust-minidump has for types.
var rustNames = map[minidump.StreamType]string{minidump.FunctionTableStream: "FunctionTable"}

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
			unimplemented = append(unimplemented, fmt.Sprintf("Stream 0x%08x %s (%s) @ 0x%08x", uint32(typ), cmp.Or(rustNames[typ], typ.String()), vendor(typ), at))
		}
	}
	return unimplemented, unknown
}

// vendor returns who defines a type of streams.
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
