package dump

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/internal/testfile"
)

// span is [lo, hi).
type span [2]uint64

func framesOf(spans []span) (frames []frame) {
	for _, s := range spans {
		frames = append(frames, frame{lo: s[0], hi: s[1]})
	}
	return frames
}

func spansOf(frames []frame) (spans []span) {
	for _, f := range frames {
		spans = append(spans, span{f.lo, f.hi})
	}
	return spans
}

func TestDisjoint(t *testing.T) {
	got := spansOf(disjoint(framesOf([]span{{30, 40}, {10, 25}, {20, 35}, {21, 24}})))
	want := []span{{10, 25}, {25, 35}, {35, 40}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnion(t *testing.T) {
	for _, tt := range []struct {
		name       string
		a, b, want []span
	}{
		{"nothing", nil, nil, nil},
		{"only the first", []span{{10, 20}}, nil, []span{{10, 20}}},
		{"only the second", nil, []span{{10, 20}}, []span{{10, 20}}},
		{"the same", []span{{10, 20}}, []span{{10, 20}}, []span{{10, 20}}},
		{"in turn", []span{{10, 20}, {30, 40}}, []span{{20, 30}, {40, 50}}, []span{{10, 20}, {20, 30}, {30, 40}, {40, 50}}},
		{"the second begins first", []span{{10, 20}}, []span{{5, 15}}, []span{{5, 10}, {10, 20}}},
		{"the second ends last", []span{{10, 20}}, []span{{15, 25}}, []span{{10, 20}, {20, 25}}},
		{"holes filled", []span{{10, 20}, {30, 40}}, []span{{0, 100}}, []span{{0, 10}, {10, 20}, {20, 30}, {30, 40}, {40, 100}}},
		{"several in one hole", []span{{10, 20}, {50, 60}}, []span{{18, 22}, {25, 30}, {45, 55}}, []span{{10, 20}, {20, 22}, {25, 30}, {45, 50}, {50, 60}}},
	} {
		if got := spansOf(union(framesOf(tt.a), framesOf(tt.b), nil)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestDamagedRules: an instruction that is none costs the rest of its FDE, and is
// one loss, however often the module is written.
func TestDamagedRules(t *testing.T) {
	data, err := testfile.Read(filepath.Join(fixtures, "lang-x86_64-gcc12-O2-dw5.elf"))
	if err != nil {
		t.Fatal(err)
	}
	const fdeHead = 17 // length, CIE pointer, begin and size in 4 bytes, no augmentation data
	open := func() *elfx.File {
		f, err := elfx.NewFile("program", data)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	section := f.Section(".eh_frame")
	s := &cfi.Section{Data: data[section.Offset:][:section.Size], Addr: section.Addr, AddrSize: 8, Machine: f.Machine}
	var last cfi.FDE
	for fde := range s.FDEs() {
		last = fde
	}
	good, want := dumpText(t, f, Options{})
	s.Data[last.Offset+fdeHead] = 0x3f
	for _, jobs := range []int{1, 3} {
		m, text := dumpText(t, open(), Options{Jobs: jobs})
		again := new(bytes.Buffer)
		if err := m.Write(again); err != nil || !bytes.Equal(again.Bytes(), text) {
			t.Errorf("written again: %v, %d bytes instead of %d", err, again.Len(), len(text))
		}
		if len(text) >= len(want) || m.Stats.FDEs != good.Stats.FDEs {
			t.Errorf("%d bytes instead of %d, %d FDEs", len(text), len(want), m.Stats.FDEs)
		}
		if m.Stats.LossCount != 1 || !strings.Contains(m.Stats.Losses[0].Error(), ".eh_frame+") {
			t.Errorf("%d losses: %v", m.Stats.LossCount, m.Stats.Losses)
		}
	}
}

// BenchmarkUnwind is the stage for SYMKIT_BENCH, a file, on one goroutine: list
// without the text, text without the list.
func BenchmarkUnwind(b *testing.B) {
	path := os.Getenv("SYMKIT_BENCH")
	if path == "" {
		b.Skip("SYMKIT_BENCH is not set")
	}
	img, err := elfx.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer img.Close()
	d := &dumper{ctx: context.Background(), img: &elfx.Image{Main: img}, opt: Options{Jobs: 1}, m: &Module{}}
	d.arch, d.bias, d.code = cfi.ArchOf(img.Machine, img.Class), img.LoadAddress(), codeMap(img)
	t := d.listFrames()
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			t = d.listFrames()
		}
	})
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		var text []byte
		for b.Loop() {
			u := newUnwinder(d, t)
			for i := range u.losses {
				text = u.append(text[:0], i)
			}
		}
	})
}

// TestLinkagePCs: the PCs of a row of GNU ld's linkage table are counted as if one by one.
func TestLinkagePCs(t *testing.T) {
	for k := range uint64(16) {
		p := pltRule{reg: 7, off: 8, k: k}
		for lo := uint64(0); lo < 40; lo++ {
			for hi := lo; hi < 80; hi += 3 {
				for _, off := range []int64{0, 8, 16} {
					other := cfi.Rule{Kind: cfi.KindReg, Reg: 7, Off: off}
					want := uint64(0)
					for pc := lo; pc < hi; pc++ {
						if is := p.off + 8*int64(min(max(pc%16+1, k)-k, 1)); is != off {
							want++
						}
					}
					if got := p.differ(lo, hi, other); got != want {
						t.Fatalf("[%d, %d), from byte %d on, CFA+%d: %d PCs, want %d", lo, hi, k, off, got, want)
					}
				}
			}
		}
	}
}
