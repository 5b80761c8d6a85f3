package mutant

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"symkit/test/testfile"
)

func TestLayout(t *testing.T) {
	for _, test := range []struct {
		file                 string
		fields, parts, names int
	}{
		// The counts are readelf's: 22 fields of the file header, 10 of each section, 8 of each segment.
		{"elf/lang-x86_64-gcc12-O2-dw5.elf", 22 + 21*10 + 7*8, 21 - 2, 5},
		{"elf/lang-s390x-gcc12-O2-dw5.elf", 22 + 16*10 + 4*8, 16 - 2, 4},
		{"elf/lang-arm-gcc12-O2-dw5.elf", 22 + 19*10 + 5*8, 19 - 2, 4},
		{"elf/crash-x86_64-gcc12-O2-dw5.core", 22 + 10*8, 10 - 2, 0},
	} {
		data, err := testfile.Read("../../testdata/" + test.file)
		if err != nil {
			t.Fatal(err)
		}
		l := Of(data)
		if len(l.Fields) != test.fields || len(l.Parts) != test.parts || len(l.Names) != test.names {
			t.Errorf("%s: %d fields, %d parts, %d of names; want %d, %d, %d",
				test.file, len(l.Fields), len(l.Parts), len(l.Names), test.fields, test.parts, test.names)
		}
	}
}

// TestMinidumpLayout has two streams, of which one lies outside the file.
func TestMinidumpLayout(t *testing.T) {
	for order, magic := range map[binary.AppendByteOrder]string{binary.LittleEndian: "MDMP", binary.BigEndian: "PMDM"} {
		data := []byte(magic)
		for _, word := range []uint32{0xa793, 2, 32, 0, 0, 0, 0, 3, 8, 56, 7, 8, 60} {
			data = order.AppendUint32(data, word)
		}
		data = append(data, make([]byte, 8)...)
		l := Of(data)
		if len(l.Fields) != 7+2*3 || !slices.Equal(l.Parts, []Extent{{56, 8}}) {
			t.Errorf("%s: %d fields, parts %v", magic, len(l.Fields), l.Parts)
		}
	}
}

// TestMutate: mutants differ from their seed and from each other, and are the
// same for the same number; the seed stays as it was.
func TestMutate(t *testing.T) {
	data, err := testfile.Read("../../testdata/elf/lang-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(data)
	l := Of(data)
	seen, found := map[string]bool{}, map[string]bool{}
	for i := range uint64(2000) {
		mutant, kind := l.Mutate(data, rand.New(rand.NewPCG(i, 1)))
		again, _ := l.Mutate(data, rand.New(rand.NewPCG(i, 1)))
		if !bytes.Equal(mutant, again) {
			t.Fatalf("mutant %d is not the same twice", i)
		}
		seen[string(mutant)] = true
		found[kind] = true
	}
	if !bytes.Equal(data, before) {
		t.Error("the seed was changed")
	}
	if len(seen) < 1800 || seen[string(data)] && len(seen) < 1900 {
		t.Errorf("%d distinct mutants of 2000", len(seen))
	}
	if want := 11; len(found) != want {
		t.Errorf("%d kinds of damage, want %d: %v", len(found), want, found)
	}
}

// FuzzMutate: any bytes have a layout inside them, and can be damaged.
func FuzzMutate(f *testing.F) {
	for _, name := range []string{"elf/lang-arm-gcc12-O2-dw5.elf", "elf/crash-x86_64-gcc12-O2-dw5.core"} {
		data, err := testfile.Read("../../testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		l := Of(data)
		for _, part := range l.Parts {
			if part.Offset < 0 || part.Size < 0 || part.Offset+part.Size > len(data) {
				t.Fatalf("part %v of %d bytes", part, len(data))
			}
		}
		l.Mutate(data, rand.New(rand.NewPCG(seed, 0)))
	})
}
