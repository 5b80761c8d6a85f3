package gosym

import (
	"errors"
	"testing"

	"symkit/located"
)

// FuzzTable reads damaged tables: every error has a place, functions are
// sorted and within the code, rows tile their function, and the ranges of a
// call lie within those of the call it is in.
func FuzzTable(f *testing.F) {
	const textSize = 0x100000
	for _, version := range []Version{Go12, Go116, Go118, Go120} {
		a := sample(version, version == Go118, 8, 1)
		data, im := a.build()
		var mem []byte
		if im.Read != nil {
			mem = im.Read(im.Data[0].Lo, im.Data[0].Hi-im.Data[0].Lo)
		}
		f.Add(data, mem)
	}
	f.Fuzz(func(t *testing.T, data, mem []byte) {
		im := Image{
			Read: func(addr, n uint64) []byte {
				if off := addr - dataAddr; addr >= dataAddr && off <= uint64(len(mem)) && n <= uint64(len(mem))-off {
					return mem[off:][:n:n]
				}
				return nil
			},
			Data: []Range{{Lo: dataAddr, Hi: dataAddr + uint64(len(mem))}},
			Exec: []Range{{Lo: 0x401000, Hi: 0x401000 + textSize}},
			Text: 0x401000,
		}
		placed := func(err error) {
			if e, ok := errors.AsType[*located.Error](err); !ok || e.Offset > len(data) {
				t.Fatalf("error without a place: %v", err)
			}
		}
		tab, err := Open("fuzz", data, 0x600000, im)
		if err != nil {
			placed(err)
			return
		}
		floor := uint64(0)
		var in Inlines
		for fn, err := range tab.Funcs() {
			if err != nil {
				placed(err)
				continue
			}
			if fn.Entry < floor || fn.End < fn.Entry || fn.Entry < im.Exec[0].Lo || fn.End > im.Exec[0].Hi {
				t.Fatalf("function %#x-%#x after %#x", fn.Entry, fn.End, floor)
			}
			floor = fn.End
			tab.Name(fn.Name)
			pc := fn.Entry
			for row, err := range tab.Lines(fn) {
				if err != nil {
					placed(err)
					continue
				}
				if row.Start != pc || row.End <= pc || row.End > fn.End {
					t.Fatalf("row %#x-%#x at %#x of %#x-%#x", row.Start, row.End, pc, fn.Entry, fn.End)
				}
				pc = row.End
				tab.File(row.File)
			}
			if err := tab.Inlines(fn, &in); err != nil {
				placed(err)
			}
			checkInlines(t, fn, &in)
		}
	})
}

func checkInlines(t *testing.T, fn Func, in *Inlines) {
	outer := func(parent int32) []Range {
		if parent < 0 {
			return []Range{{Lo: fn.Entry, Hi: fn.End}}
		}
		return in.Ranges[in.Calls[parent].First:in.Calls[parent].Last]
	}
	for i, call := range in.Calls {
		if call.Parent >= int32(i) || call.First >= call.Last {
			t.Fatalf("call %d: %+v", i, call)
		}
		floor := uint64(0)
		for _, r := range in.Ranges[call.First:call.Last] {
			if r.Lo >= r.Hi || floor != 0 && r.Lo <= floor {
				t.Fatalf("call %d: range %#x-%#x after %#x", i, r.Lo, r.Hi, floor)
			}
			floor = r.Hi
			within := false
			for _, o := range outer(call.Parent) {
				within = within || o.Lo <= r.Lo && r.Hi <= o.Hi
			}
			if !within {
				t.Fatalf("call %d: range %#x-%#x outside of its caller", i, r.Lo, r.Hi)
			}
		}
	}
}
