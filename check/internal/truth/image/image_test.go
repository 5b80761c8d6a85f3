package image

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"symkit/check/internal/eval"
	"symkit/internal/wire"
)

// TestBuildIDNote checks the reading of notes (gABI, "Note Section").
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
	if got := DebugID(id, false); got != "03020100050407060809"+"0A0B0C0D0E0F0" {
		t.Error(got)
	}
	if got := DebugID(id[:3], true); got != "000102000000000000000000000000000" {
		t.Error(got)
	}
}

// TestArchNames checks that every machine that package cfi knows has its name of MODULE records.
func TestArchNames(t *testing.T) {
	for m := range elf.Machine(300) {
		for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
			if a := eval.ArchOf(m, class); a != nil && a.Name != ArchName(m, class, 0) {
				t.Errorf("%v %v: %s and %s", m, class, a.Name, ArchName(m, class, 0))
			}
		}
	}
}
