package walk

import (
	"strings"
	"testing"

	"symkit/cfi"
)

// TestStart: _start of a program without symbols, whose address is AT_ENTRY: 0x401300
// in the program. The C library is at 0x500000. x86-64 psABI 3.4.1: the frame
// pointer is 0 in the outermost frame.
func TestStart(t *testing.T) {
	const rbp, rsp = 6, 7
	for _, test := range []struct {
		name  string
		entry uint64
		fp    uint64
		words []uint64
		want  string
	}{
		{"unknown: every word that leads to code", 0, 0, []uint64{8, 0x401220, 0x401300, 0x401325}, "0x501050@context 0x401220@scan 0x401300@scan 0x401325@scan"},
		{"words of other modules are passed over", 0x401300, 0, []uint64{8, 0x401220, 0x401300, 0x401325, 0x401400}, "0x501050@context 0x401325@scan end"},
		{"those of the library are not", 0x401300, 0, []uint64{8, 0x501200, 0x401325}, "0x501050@context 0x501200@scan 0x401325@scan end"},
		{"with another frame pointer all count but _start's address", 0x401300, 0x401, []uint64{8, 0x401300, 0x401220, 0x401325},
			"0x501050@context 0x401220@scan 0x401325@scan end"},
		{"the end of its reach", 0x401300, 0, []uint64{8, 0x401220, 0x401340}, "0x501050@context 0x401340@scan end"},
		{"beyond its reach", 0x401300, 0, []uint64{8, 0x401220, 0x401341}, "0x501050@context 0x401220@scan 0x401341@scan"},
	} {
		p := process("x86_64", regsOf(0x501050, map[cfi.Reg]uint64{rsp: 0x8000, rbp: test.fp}), words(0x8000, 8, test.words...))
		p.Modules = append(p.Modules, &Module{Path: "/lib/libc.so.6", Name: "libc.so.6", Base: 0x500000, End: 0x510000})
		p.Entry = test.entry
		if got := stackOf(t, p, ""); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	// The first instruction of _start is a return address where a call is before it.
	p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{rsp: 0x8000, rbp: 1}), words(0x8000, 8, 0x401300),
		span{0x4012f0, []byte("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xe8\x00\x00\x00\x00")})
	p.Entry = 0x401300
	if got, want := stackOf(t, p, ""), "0x401050@context 0x401300@scan"; got != want {
		t.Errorf("after a call: %s, want %s", got, want)
	}
}

// TestScanOn: a scan that finds nothing in its window goes on only on Windows,
// only where it is known which pages are code, and less far in many threads.
func TestScanOn(t *testing.T) {
	const far = scanWordsLong + 100
	stack := make([]uint64, far+scanWords+10)
	stack[far], stack[far+scanWords-1] = 0x401250, 0x408000 // the last one is data
	code := []Mapping{{Begin: 0x400000, End: 0x404000, Read: true, Execute: true}, {Begin: 0x404000, End: 0x410000, Read: true}}
	for _, test := range []struct {
		os       string
		mappings []Mapping
		want     string
	}{
		{"Windows NT", code, "0x401050@context 0x401250@scan"},
		{"Windows NT", nil, "0x401050@context"},
		{"Linux", code, "0x401050@context"},
		{"Windows, in a crowd", code, "0x401050@context"},
	} {
		p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, stack...))
		p.OS, p.Mappings = test.os, test.mappings
		if strings.HasSuffix(test.os, "crowd") {
			p.Threads = append(p.Threads, make([]Thread, scanWordsAll/far)...)
			for i := range p.Threads[1:] {
				p.Threads[1+i].NoRegs = true
			}
		}
		if got := stackOf(t, p, ""); got != test.want {
			t.Errorf("%s, %d mappings: %s, want %s", test.os, len(test.mappings), got, test.want)
		}
	}
}
