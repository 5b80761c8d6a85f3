package walk

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/internal/wire"
)

// TestGeneratedCode: frames in anonymous executable memory, at 0x700000, whose
// return addresses follow no call; a stale return address is among them.
func TestGeneratedCode(t *testing.T) {
	code := []Mapping{{Begin: 0x8000, End: 0x9000, Read: true, Write: true}, {Begin: 0x400000, End: 0x410000, Read: true, Execute: true},
		{Begin: 0x700000, End: 0x710000, Read: true, Execute: true}}
	for _, test := range []struct {
		name, want string
		mappings   []Mapping
		stack      []uint64
	}{
		{"a chain", "inner@context 0x700010@frame_pointer 0x700020@frame_pointer 0x700030@frame_pointer middle@frame_pointer end", code,
			[]uint64{0x401250, 0x8020, 0x700010, 0, 0x8040, 0x700020, 0, 0, 0x8060, 0x700030, 0, 0, 0x8080, 0x401150, 0, 0, 0}},
		{"a chain to the end", "inner@context 0x700010@frame_pointer 0x700020@frame_pointer", code,
			[]uint64{0x401250, 0x8020, 0x700010, 0, 0x8040, 0x700020, 0, 0, 0, 0, 0}},
		{"the next record leads nowhere", "inner@context outer@scan end", code, []uint64{0x401250, 0x8020, 0x700010, 0, 0x8000, 0x700020}},
		{"the next record leads to no code", "inner@context outer@scan end", code, []uint64{0x401250, 0x8020, 0x700010, 0, 0x8040, 0x12345678, 0, 0, 0x8060}},
		{"an executable stack is no code", "inner@context outer@scan end",
			append([]Mapping{{Begin: 0x8000, End: 0x9000, Read: true, Write: true, Execute: true}}, code[1:]...),
			[]uint64{0x401250, 0x8020, 0x8070, 0, 0x8040, 0x8078, 0, 0, 0x8060, 0x8070, 0, 0, 0x8080, 0x401150, 0, 0, 0}},
		{"the memory is no code", "inner@context outer@scan end", code[:2],
			[]uint64{0x401250, 0x8020, 0x700010, 0, 0x8040, 0x700020, 0, 0, 0x8060, 0x700030, 0, 0, 0x8080, 0x401150, 0, 0, 0}},
	} {
		calls := span{0x401240, []byte("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xe8\x00\x00\x00\x00")}
		others := span{0x401140, calls.data}
		stack := append(test.stack, make([]uint64, 0x1000/8-len(test.stack))...)
		p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000, 6: 0x8008}), words(0x8000, 8, stack...), calls, others,
			span{0x700000, make([]byte, 0x100)})
		p.Mappings = test.mappings
		got := stackOf(t, p, symbolsText+"STACK CFI INIT 1100 200 .cfa: 1 .ra: 0\n")
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestCFAOfRecord: on arm64 a frame found by the frame pointer may begin higher
// up the stack than right above the record; its rules have the distance.
func TestCFAOfRecord(t *testing.T) {
	const rules = "STACK CFI INIT 1100 100 .cfa: sp 32 + x29: .cfa -32 + ^ .ra: .cfa -24 + ^\n"
	// inner's record, 16 bytes of its frame that look like middle's, middle's record.
	stack := words(0x8000, 8, 0x8020, 0x401150, 0, 0, 0, 0x401350, 0, 0x401350, 0, 0)
	p := process("arm64", regsOf(0x401050, map[cfi.Reg]uint64{31: 0x8000, 29: 0x8000}), stack)
	want := "inner@context middle@frame_pointer _start@cfi end"
	if got := stackOf(t, p, strings.Replace(symbolsText, "x86_64", "arm64", 1)+rules); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	res, err := Walk(t.Context(), p, fixed(symbolsText+rules), Options{})
	if err != nil || res.Stacks[0].Frames[2].SP != 0x8040 {
		t.Errorf("%v, %+v", err, res.Stacks[0].Frames[2])
	}
}

// jitRecord is a record of a jitdump file.
func jitRecord(id uint32, body ...any) (out []byte) {
	for _, v := range body {
		if s, ok := v.(string); ok {
			out = append(append(out, s...), 0)
		} else {
			out, _ = binary.Append(out, binary.LittleEndian, v)
		}
	}
	head, _ := binary.Append(nil, binary.LittleEndian, []uint32{id, uint32(16 + len(out)), 0, 0})
	return append(head, out...)
}

func TestGeneratedFiles(t *testing.T) {
	header, _ := binary.Append([]byte(jitMagicLittle), binary.LittleEndian, []uint32{1, 40, 62, 0, 1, 0, 0, 0, 0})
	jit := append(header, jitRecord(2, uint64(0x1000), uint64(2), uint64(0x1000), uint32(7), uint32(0), "a.js", uint64(0x1010), uint32(9), uint32(0), "b.js")...)
	jit = append(jit, jitRecord(0, uint32(1), uint32(1), uint64(0x1000), uint64(0x1000), uint64(0x20), uint64(5), "f", "code")...)
	jit = append(jit, jitRecord(99, "unknown")...)
	jit = append(jit, jitRecord(1, uint32(1), uint32(1), uint64(0), uint64(0x1000), uint64(0x2000), uint64(0x20), uint64(5))...)
	for _, test := range []struct {
		name, file string
		at         map[uint64]string
		err        error
	}{
		{"a perf map", "1000 20 f with blanks\r\n0x2000 0x10 g\nnot a line\n3000 0 empty\n4000 10 \n", map[uint64]string{0xfff: "", 0x1000: "f with blanks", 0x101f: "f with blanks",
			0x1020: "", 0x2008: "g", 0x3000: "", 0x4000: ""}, nil},
		{"what is compiled again replaces what it overlaps", "1000 100 old\n1010 10 inner\n1080 100 new\n1000 8 newest\n",
			map[uint64]string{0x1004: "newest", 0x1008: "old", 0x1018: "inner", 0x1020: "old", 0x1090: "new", 0x1100: "new"}, nil},
		{"no function", "1000 hello\n", nil, errGenerated},
		{"empty", "", nil, errGenerated},
		{"a range beyond the address space", "ffffffffffffff00 200 f\n", nil, errGenerated},
		{"jitdump", string(jit), map[uint64]string{0x1000: "f a.js 7", 0x100f: "f a.js 7", 0x1010: "f b.js 9", 0x2000: "f", 0x1020: ""}, nil},
		{"jitdump, cut short", string(jit[:len(jit)-8]), map[uint64]string{0x1000: "f a.js 7", 0x2000: ""}, nil},
		{"jitdump, cut before the first function", string(jit[:60]), nil, wire.ErrTruncated},
		{"jitdump with a record of no size", string(header) + "\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", nil, wire.ErrTruncated},
	} {
		g := &Generated{}
		if err := g.Add([]byte(test.file)); !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", test.name, err, test.err)
		}
		for addr, want := range test.at {
			p := g.place(addr)
			got := p.Func
			if p.File != "" {
				got = strings.TrimSpace(strings.Join([]string{p.Func, p.File, string('0' + rune(p.Line))}, " "))
			}
			if got != want {
				t.Errorf("%s: %#x is %q, want %q", test.name, addr, got, want)
			}
		}
	}
	if err := new(Generated).AddFile("testdata/missing"); err == nil {
		t.Error("a file that is not there")
	}
}

func FuzzGenerated(f *testing.F) {
	f.Add([]byte("1000 20 f\n1010 20 g\n"))
	f.Add(append([]byte(jitMagicLittle+"\x01\x00\x00\x00\x0c\x00\x00\x00"), jitRecord(0, uint32(1), uint32(1), uint64(0), uint64(0x1000), uint64(0x20), uint64(5), "f")...))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &Generated{}
		if g.Add(data) != nil {
			return
		}
		for _, fn := range g.funcs {
			if p := g.place(fn.addr); p == noPlace || p.FuncAddr > fn.addr {
				t.Fatalf("no function at %#x", fn.addr)
			}
		}
	})
}
