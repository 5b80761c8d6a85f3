package dwarfinfo

import (
	"errors"
	"testing"

	"symkit/check/internal/pcs"
	"symkit/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// TestRangeLists checks that the value that sets an address decides whether the address is one of
// discarded code (DWARF 5 §2.17.3).
func TestRangeLists(t *testing.T) {
	code := pcs.Set{{Lo: 0x1000, Hi: 0x3000}}
	d := &Info{rngLists: []byte{
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
	u := &Unit{in: d, addrSize: 4, version: 5}
	budget := 100
	got, err := u.rangesV5(nil, 0, code, &budget)
	want := []pcs.Range{{Lo: 0x2000, Hi: 0x2004}, {Lo: 0x1010, Hi: 0x1018}, {Lo: 0x1100, Hi: 0x1104}, {Lo: 0x1200, Hi: 0x1204}, {Lo: 0x1204, Hi: 0x1208}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(pcs.Range{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = u.rangesV4(nil, 0, code, &budget)
	if diff := cmp.Diff([]pcs.Range{{Lo: 0x2000, Hi: 0x2008}}, got, cmp.AllowUnexported(pcs.Range{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	budget = 2
	if _, err = u.rangesV5(nil, 0, code, &budget); !errors.Is(err, errShared) {
		t.Errorf("over budget: %v", err)
	}
}

func TestRangeListErrors(t *testing.T) {
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
		u := &Unit{in: &Info{rngLists: test.list}, addrSize: 4, version: 5}
		_, err := u.rangesV5(nil, test.off, nil, &budget)
		e, ok := errors.AsType[*wire.Error](err)
		if !ok || test.want != nil && !errors.Is(err, test.want) || e.Offset != test.offset {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
