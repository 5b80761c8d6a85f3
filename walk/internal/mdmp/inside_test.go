package mdmp

import (
	"slices"
	"testing"
)

// TestLayouts: every field lies inside the smallest form of its structure, so
// that reading one cannot fail.
func TestLayouts(t *testing.T) {
	for cpu, l := range layouts {
		for _, f := range l.fields {
			smallest := l.size
			if f.name != "" {
				smallest = l.need(0)
			}
			if int(f.off)+int(f.size) > smallest {
				t.Errorf("%v: %s%s is outside", cpu, f.name, f.shown)
			}
		}
		if l.pc == l.sp || l.flags+l.flagsSize > l.need(0) {
			t.Errorf("%v", cpu)
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
