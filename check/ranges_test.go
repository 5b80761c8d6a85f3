package check

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/internal/wire"
)

func TestUnionAndWithin(t *testing.T) {
	got := union(ranges{{20, 30}, {5, 5}, {0, 10}, {8, 12}, {30, 31}})
	want := ranges{{0, 12}, {20, 31}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(addrRange{})); diff != "" {
		t.Error(diff)
	}
	if n := within(want, ranges{{10, 25}, {40, 50}}); n != 7 {
		t.Errorf("%d bytes in common", n)
	}
	var out ranges
	want.outside(5, 40, func(lo, hi uint64) { out = append(out, addrRange{lo, hi}) })
	if diff := cmp.Diff(ranges{{12, 20}, {31, 40}}, out, cmp.AllowUnexported(addrRange{})); diff != "" {
		t.Error(diff)
	}
}

// DWARF 5 §2.17.3: what sets an address decides whether it is of discarded
// code.
func TestRangeLists(t *testing.T) {
	code := ranges{{0x1000, 0x3000}}
	d := &dwarfData{rngLists: []byte{
		5, 0, 0, 0, 0, // base_address 0: discarded
		4, 0x80, 0x20, 0x90, 0x20, // offset_pair 0x1000..0x1010: not somebody else's code
		5, 0, 0x20, 0, 0, // base_address 0x2000
		4, 0, 4, // 0x2000..0x2004
		7, 0x10, 0x10, 0, 0, 8, // start_length 0x1010, 8
		6, 0, 0x11, 0, 0, 4, 0x11, 0, 0, // start_end
		2, 0, 1, // startx_endx
		3, 1, 4, // startx_length
		6, 0, 0x90, 0, 0, 4, 0x90, 0, 0, // not in code
		0,
	}, ranges: []byte{
		0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, // base 1: discarded by GNU ld
		0, 0x10, 0, 0, 4, 0x10, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0, 0x20, 0, 0,
		0, 0, 0, 0, 8, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0,
	}, addr: []byte{0, 0x12, 0, 0, 4, 0x12, 0, 0}}
	u := &unitBases{addrSize: 4, version: 5}
	budget := 100
	got, err := d.rangesV5(nil, 0, u, code, &budget)
	want := []addrRange{{0x2000, 0x2004}, {0x1010, 0x1018}, {0x1100, 0x1104}, {0x1200, 0x1204}, {0x1204, 0x1208}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(addrRange{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = d.rangesV4(nil, 0, u, code, &budget)
	if diff := cmp.Diff([]addrRange{{0x2000, 0x2008}}, got, cmp.AllowUnexported(addrRange{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	budget = 2
	if _, err = d.rangesV5(nil, 0, u, code, &budget); !errors.Is(err, errShared) {
		t.Errorf("over budget: %v", err)
	}
}

func TestRangeListErrors(t *testing.T) {
	u := &unitBases{addrSize: 4, version: 5}
	for _, test := range []struct {
		name   string
		list   []byte
		off    uint64
		want   error
		offset int
	}{
		{"no end", []byte{4, 1, 2}, 0, wire.ErrTruncated, 3},
		{"outside", []byte{0}, 2, wire.ErrOffset, 0},
		{"address index", []byte{3, 9, 1, 0}, 0, wire.ErrOffset, 1},
		{"kind", []byte{4, 1, 2, 9}, 0, nil, 3},
	} {
		budget := 100
		_, err := (&dwarfData{rngLists: test.list}).rangesV5(nil, test.off, u, nil, &budget)
		e, ok := errors.AsType[*wire.Error](err)
		if !ok || test.want != nil && !errors.Is(err, test.want) || e.Offset != test.offset {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// gABI, "Note Section".
func TestBuildIDNote(t *testing.T) {
	type byteOrder interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	note := func(order byteOrder, name string, typ uint32, desc string) []byte {
		b := order.AppendUint32(nil, uint32(len(name)))
		b = order.AppendUint32(b, uint32(len(desc)))
		b = order.AppendUint32(b, typ)
		for _, s := range []string{name, desc} {
			b = append(b, s...)
			b = append(b, make([]byte, (4-len(s)%4)%4)...)
		}
		return b
	}
	for _, order := range []byteOrder{binary.LittleEndian, binary.BigEndian} {
		find := func(notes []byte) []byte {
			left := 10
			return gnuNote(wire.New("notes", notes, order == binary.BigEndian), &left)
		}
		notes := append(note(order, "Xen\x00", 3, "no"), note(order, "GNU\x00", 1, "abi")...)
		if id := find(notes); id != nil {
			t.Errorf("found %q", id)
		}
		notes = append(notes, note(order, "GNU\x00", 3, "build-id.")...)
		if id := find(notes); string(id) != "build-id." {
			t.Errorf("found %q", id)
		}
		for n := range len(notes) - 4 {
			if id := find(notes[:n]); id != nil {
				t.Errorf("found %q in %d bytes", id, n)
			}
		}
	}
}

func TestDebugID(t *testing.T) {
	id := []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10")
	if got := debugID(id, false); got != "03020100050407060809"+"0A0B0C0D0E0F0" {
		t.Error(got)
	}
	if got := debugID(id[:3], true); got != "000102000000000000000000000000000" {
		t.Error(got)
	}
}

// Every machine that cfi knows has the name that MODULE records give it.
func TestArchNames(t *testing.T) {
	for m := range elf.Machine(300) {
		for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
			if a := archOf(m, class); a != nil && a.Name != archName(m, class, 0) {
				t.Errorf("%v %v: %s and %s", m, class, a.Name, archName(m, class, 0))
			}
		}
	}
}

// A header whose counts exceed its bytes is not given to debug/dwarf.
func TestLineHeaderLimits(t *testing.T) {
	head := func(body ...byte) []byte {
		h := append([]byte{5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1}, body...)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(h))), h...)
	}
	d := &dwarfData{line: head(1, 1, 8, 1, 'd', 0, 2, 1, 8, 2, 11, 2, 'a', 0, 0, 'b', 0, 7)}
	h, err := d.lineHeader(0, 0)
	if err != nil || h.version != 5 || len(h.files) != 2 || h.files[0].dir != 0 || h.files[1].dir != 7 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, body := range [][]byte{
		{1, 1, 8, 0xff, 0xff, 0xff, 0xff, 0x7f}, // directories
		{0, 0xff, 0xff, 0xff, 0xff, 0x7f},       // without a format
		{1, 1, 0x77, 1, 0},                      // unknown form
		{1, 1},
	} {
		d.line = head(body...)
		if _, err := d.lineHeader(0, 0); err == nil {
			t.Errorf("% x: no error", body)
		}
	}
}

// Text that is no UTF-8 or has control characters is quoted.
func TestShown(t *testing.T) {
	for in, want := range map[string]string{"größe<a>": "größe<a>", "a\x1b[1m": `"a\x1b[1m"`, "a\xff": `"a\xff"`} {
		if got := shown([]byte(in)); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
	long := bytes.Repeat([]byte{'x'}, 1000)
	s, err := parse(append([]byte("MODULE Linux x86 0 a\nINFO X "), append(long, '\n')...), nil, nil)
	if err != nil || len(s.text(2)) > maxShown+len("…") {
		t.Errorf("%v: %d bytes", err, len(s.text(2)))
	}
}
