package dwarfinfo

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"symkit/check/internal/naming"
	"symkit/check/internal/truth/image"
	"symkit/elfx"
	"symkit/limits"
)

// TestStream reads units while .debug_info is inflated, on more goroutines than there are units,
// and expects what a reading of the whole section gives.
func TestStream(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5-zlib.elf", "cxx-s390x-gcc12-O2-dw5-zlib.elf", "cxx-x86_64-gcc12-O2-dw5.elf"} {
		var want []string
		for round := range 30 {
			f, err := elfx.Open("../../../../testdata/elf/" + name)
			if err != nil {
				t.Fatal(err)
			}
			code, names := image.CodeOf(f), naming.NewTable()
			d := Open(f, limits.Limits{})
			err = d.Load(round == 0)
			if err != nil {
				t.Fatal(err)
			}

			var mu sync.Mutex
			var got []string
			_, _, err = d.Units(t.Context(), 1+round%8, func(_ int, units iter.Seq[*Unit]) error {
				var s Scan
				n := NewNamer(names)
				for u := range units {
					err := s.Scan(t.Context(), u, code)
					lines, _, lineErr := u.Group().Lines(code, naming.NewPaths())
					texts, refs := s.texts()
					n.Unit(&s)
					mu.Lock()
					got = append(got, texts...)
					got = append(got, fmt.Sprint(u.Off, err, lineErr, len(lines.runs)))
					for _, at := range refs {
						got = append(got, names.Text(n.id(at)))
					}
					mu.Unlock()
				}
				return nil
			})
			f.Close()
			if err != nil {
				t.Fatal(err)
			}

			slices.Sort(got)
			if round == 0 {
				want = got
			}
			if len(want) < 20 || !slices.Equal(got, want) {
				t.Fatalf("%s, round %d: %d texts, want %d", name, round, len(got), len(want))
			}
		}
	}
}

// TestAltStrings: strings of a file and of its supplementary file at the same offset are two, as
// are the names that consist of them.
func TestAltStrings(t *testing.T) {
	f, err := elfx.Open("../../../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := Open(f, limits.Limits{})
	d.Alt = OpenAlt(f, limits.Limits{})
	d.str, d.Alt.str = []byte("\x00own\x00"), []byte("\x00alt\x00")

	u, far := Unit{in: d}, Unit{in: d.Alt}
	own, ownID, _ := u.text(value{form: formStrp, num: 1})
	for _, tt := range []struct {
		u    *Unit
		form uint16
	}{{&u, formGNUStrpAlt}, {&u, formStrpSup}, {&far, formStrp}} {
		text, id, found := tt.u.text(value{form: tt.form, num: 1})
		if string(own) != "own" || string(text) != "alt" || !found || id == ownID {
			t.Errorf("form %#x: %q has id %#x, %q has id %#x", tt.form, text, id, own, ownID)
		}
	}
}

// TestStreamDamagedReference: while no unit refers to another one, an offset outside of a unit
// names nothing, however many units are read already. Their bytes may be given back.
func TestStreamDamagedReference(t *testing.T) {
	f, err := elfx.Open("../../../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := Open(f, limits.Limits{})
	err = d.Load(false)
	if err != nil {
		t.Fatal(err)
	}
	err = d.List(t.Context())
	if err != nil || !d.stream.alone || len(d.units) < 2 {
		t.Fatalf("%v, or units refer to others", err)
	}

	var s Scan
	first, second := d.units[0], d.units[1]
	err = s.Scan(t.Context(), second, image.CodeOf(f))
	if err != nil || len(s.Funcs) == 0 {
		t.Fatalf("%d functions: %v", len(s.Funcs), err)
	}
	at := s.Funcs[0].Ref
	if second.farDecl(at) == nil || first.farDecl(at) != nil {
		t.Errorf("function at %#x: the unit itself must find it, and no other one", at.Off)
	}
}
