package rawdump

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/walk/internal/mdmp"
)

// skipped are the types of streams that stackwalk reads and rust-minidump only names.
var skipped = []mdmp.StreamType{mdmp.LinuxCmdLineStream, mdmp.LinuxAuxvStream}

// Unread returns lines about the streams of the minidump in data that rust-minidump does not read:
// those that it knows, and others. A dump that cannot be read has none.
func Unread(data []byte) (unimplemented, unknown []string) {
	d, err := mdmp.Read(data)
	if err != nil {
		return nil, nil
	}

	// Of several streams of one type the last counts.
	last := map[mdmp.StreamType]mdmp.Stream{}
	for _, s := range d.Directory {
		last[s.Type] = s
	}
	types := make([]mdmp.StreamType, 0, len(last))
	for typ := range last {
		types = append(types, typ)
	}
	slices.SortFunc(types, cmp.Compare)
	for _, typ := range types {
		at := last[typ].Location.RVA
		switch {
		case !typ.Known():
			unknown = append(unknown, fmt.Sprintf("Stream 0x%08x (%s) @ 0x%08x", uint32(typ), vendor(typ), at))
		case !typ.Decoded() && typ != mdmp.StabilityReportStream, slices.Contains(skipped, typ):
			unimplemented = append(unimplemented, fmt.Sprintf("Stream 0x%08x %s (%s) @ 0x%08x", uint32(typ), streamName(typ), vendor(typ), at))
		}
	}
	return unimplemented, unknown
}

// vendor returns the name of the project that defines a type of streams.
func vendor(typ mdmp.StreamType) string {
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
