package mdmp

import (
	"cmp"
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLayouts: every field lies inside the smallest form of its structure, so
// that reading one cannot fail.
func TestLayouts(t *testing.T) {
	for cpu, m := range machines {
		l := m.layout
		for _, f := range l.fields {
			smallest := l.size
			if f.name != "" {
				smallest = l.need(0)
			}
			if int(f.off)+int(f.size) > smallest {
				t.Errorf("%v: %s%s is outside", cpu, f.name, f.shown)
			}
		}
		if l.pc < 0 || l.flags+l.flagsSize > l.need(0) {
			t.Errorf("%v", cpu)
		}
	}
}

// TestRecords: the sizes of records, and the tags of their fields.
func TestRecords(t *testing.T) {
	for record, want := range map[any]uint64{
		Header{}: 32, Stream{}: 12, Thread{}: 48, threadName{}: 12, ModuleRecord{}: 108, UnloadedRecord{}: 24, MemoryDescriptor{}: 16,
		MemoryDescriptor64{}: 16, memory64List{}: 16, MemoryInfo{}: 48, ExceptionRecord{}: 168, SystemRecord{}: 56, MiscInfo1{}: 24, MiscRecord{}: 1364,
		TimeZone{}: 172, XStateInfo{}: 528, HandleRecord{}: 40, HandleInfo{}: 12, BreakpadInfo{}: 12, Assertion{}: 776, crashpadInfo{}: 52,
		crashpadMask{}: 12, crashpadLink{}: 12, crashpadModule{}: 28, simpleAnnotation{}: 8, annotationObject{}: 12, GUID{}: 16, PDB20Record{}: 16,
	} {
		typ := reflect.TypeOf(record)
		if n := size(typ); n != want || len(Append(nil, binary.LittleEndian, record)) != int(want) {
			t.Errorf("%v: %d bytes, want %d", typ, n, want)
		}
		for f := range typ.Fields() {
			_, letters, _ := strings.Cut(f.Tag.Get("raw"), ",")
			_, err := strconv.ParseUint(cmp.Or(f.Tag.Get("valid"), "0"), 0, 32)
			if strings.Trim(letters, "dhtx") != "" || err != nil {
				t.Errorf("%v.%s: %s", typ, f.Name, f.Tag)
			}
		}
	}
}

// TestMemoryModel compares with a map of bytes, for every small arrangement of
// three ranges.
func TestMemoryModel(t *testing.T) {
	for n := range 4096 {
		d := &Dump{data: []byte("0123456789abcdef")}
		ranges := []Range{}
		for i := range 3 {
			begin, length := n>>(4*i)&3, n>>(4*i+2)&3
			ranges = append(ranges, Range{uint64(begin), d.data[4*i:][:length], 4 * i})
		}
		d.Memory.Ranges = slices.Clone(ranges)
		d.indexMemory()
		slices.SortStableFunc(ranges, func(a, b Range) int {
			if a.Base != b.Base {
				return int(a.Base) - int(b.Base)
			}
			return len(b.Data) - len(a.Data)
		})
		model := map[uint64]byte{}
		for _, r := range ranges {
			for i, b := range r.Data {
				if _, ok := model[r.Base+uint64(i)]; !ok {
					model[r.Base+uint64(i)] = b
				}
			}
		}
		for a := range uint64(8) {
			want, ok := model[a]
			if b := d.Memory.Bytes(a, 1); (b != nil) != ok || ok && b[0] != want {
				t.Fatalf("%v: at %d: %q, want %q", ranges, a, b, want)
			}
		}
	}
}

// TestText: UTF-16 with surrogates, whole and halves.
func TestText(t *testing.T) {
	for units, want := range map[string]string{
		"a\x00\xe9\x00": "aé", "\x3d\xd8\x00\xde": "😀", "\x3d\xd8": "\ufffd", "\x3d\xd8a\x00": "\ufffda", "\x00\xdea\x00": "\ufffda",
	} {
		if got := (Text{units: []byte(units)}).String(); got != want {
			t.Errorf("%q: %q, want %q", units, got, want)
		}
	}
}

func BenchmarkMemory(b *testing.B) {
	d := &Dump{data: make([]byte, 1<<16)}
	for i := range 4096 {
		d.Memory.Ranges = append(d.Memory.Ranges, Range{uint64(i) << 12, d.data[16*i:][:8], 16 * i})
	}
	d.indexMemory()
	for i := uint64(0); b.Loop(); i++ {
		if d.Memory.Bytes(i&4095<<12, 8) == nil {
			b.Fatal(i)
		}
	}
}
