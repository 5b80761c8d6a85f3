package gsymout

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"symkit/dump/internal/files"
	"symkit/dump/internal/inlines"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/record"
	"symkit/emit"
	"symkit/internal/dwarfx"
	"symkit/lookup/gsym"
)

// TestModule: functions and symbols at virtual addresses, each with its end; rows where lines have gaps; a function of
// more than 4 GiB in parts.
func TestModule(t *testing.T) {
	const load, large = 0x10000, 1 << 33
	m := &record.Module{
		Load:    load,
		Files:   files.Ordered{Names: []string{"/a.c", "/b.h"}, Place: []uint32{1, 0}},
		Origins: naming.Origins{Texts: []string{"inlined"}, Place: []uint32{0}},
		Funcs: []record.Func{
			{Addr: 0x100, Size: 0x20, Name: "f", Lines: []emit.Line{{Addr: 0x104, Size: 4, Line: 7, File: 1}, {Addr: 0x110, Size: 8, Line: 8, File: 0}}},
			{Addr: 0x200, Size: large, Name: "", Lines: []emit.Line{{Addr: 0x200, Size: 1<<32 - 1, Line: 1, File: 1}, {Addr: 1<<32 + 0x300, Size: 1, Line: 2, File: 1}},
				Calls: inlines.Calls{List: []dwarfx.Inline{{CallLine: 9, CallFile: 1, Ranges: dwarfx.Span{To: 1}}}, Ranges: []dwarfx.Range{{Lo: load + 0x210, Hi: load + 1<<32 + 0x400}}}},
		},
		Publics: []emit.Public{
			{Addr: 0x80, Name: []byte("sized")}, {Addr: 0x90, Name: []byte("next")}, {Addr: 0x110, Name: []byte("within")},
			{Addr: 0x120, Name: []byte("long")}, {Addr: large + 0x1000, Name: []byte("last")},
		},
		PublicSizes: []uint32{8, 0, 0, 0x1000, 0},
	}
	var out bytes.Buffer
	code := dwarfx.NewCodeMap([]dwarfx.Range{{Lo: load, Hi: load + large + 0x1040}})
	err := Module(&out, []byte{1}, false, code, m)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gsym.Open(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}

	var functions []string
	for s, err := range f.Symbols() {
		functions = append(functions, fmt.Sprintf("%s %#x+%#x %v", s.Name, s.Addr-load, s.Size, err))
	}
	want := []string{
		"sized 0x80+0x8 <nil>", "next 0x90+0x70 <nil>", "f 0x100+0x20 <nil>", "long 0x120+0xe0 <nil>",
		"<name omitted> 0x200+0xffffffff <nil>", "<name omitted> 0x1000001ff+0xffffffff <nil>", "<name omitted> 0x2000001fe+0x2 <nil>",
		"last 0x200001000+0x40 <nil>",
	}
	if strings.Join(functions, "\n") != strings.Join(want, "\n") {
		t.Errorf("functions\n%s\nwant\n%s", strings.Join(functions, "\n"), strings.Join(want, "\n"))
	}
	for addr, want := range map[uint64]string{
		0x100: "f /a.c:0", 0x104: "f /a.c:7", 0x108: "f /a.c:0", 0x110: "f /b.h:8", 0x11f: "f /b.h:0",
		0x200: "<name omitted> /a.c:1", 0x210: "inlined /a.c:1 <name omitted> /a.c:9", 1<<32 + 0x250: "inlined /a.c:0 <name omitted> /a.c:9",
		1<<32 + 0x300: "inlined /a.c:2 <name omitted> /a.c:9", 1<<32 + 0x400: "<name omitted> /a.c:0", large + 0x1ff: "<name omitted> :0",
	} {
		_, frames, err := f.Lookup(nil, load+addr)
		var got []string
		for _, frame := range frames {
			got = append(got, fmt.Sprintf("%s %s:%d", frame.Name, frame.AppendPath(nil), frame.Line))
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%#x: %s, %v, want %s", addr, got, err, want)
		}
	}
}
