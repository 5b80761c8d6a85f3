package dump

import (
	"bytes"
	"compress/zlib"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/inflate"
	"symkit/internal/testfile"
)

// outcome is what a dump comes to.
type outcome struct {
	text             string
	losses, warnings string
	units            int
	err              error
}

// dumpOf dumps img, which must not take for ever.
func dumpOf(t *testing.T, ctx context.Context, img *elfx.Image, opt Options) (o outcome) {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { done <- o }()
		m, err := Dump(ctx, img, opt)
		if o.err = err; err != nil {
			return
		}
		var text bytes.Buffer
		o.err = m.Write(&text)
		o.text, o.units = text.String(), m.Stats.Units
		o.losses, o.warnings = fmt.Sprint(m.Stats.LossCount, m.Stats.Losses), fmt.Sprint(m.Stats.Warnings)
	}()
	select {
	case o = <-done:
		return o
	case <-time.After(2 * time.Minute):
		stacks := make([]byte, 1<<20)
		t.Fatalf("it hangs:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	return o
}

var jobsOf = []int{1, 2, 8}

// dumpFile is dumpOf for a file with some goroutines.
func dumpFile(t *testing.T, data []byte, jobs int) outcome {
	t.Helper()
	return dumpOf(t, t.Context(), &elfx.Image{Main: openProgram(t, data)}, Options{Inlines: true, Jobs: jobs})
}

// same checks that the program's compressed forms come to the same as want.
func (p *program) same(t *testing.T, want outcome) {
	t.Helper()
	for _, level := range []int{0, 6} {
		data := p.zlib(t, level)
		for _, jobs := range jobsOf {
			got := dumpFile(t, data, jobs)
			if got.losses != want.losses || got.warnings != want.warnings || got.units != want.units || fmt.Sprint(got.err) != fmt.Sprint(want.err) {
				t.Errorf("level %d, %d goroutines: %d units, %s, %v; want %d, %s, %v", level, jobs, got.units, got.losses, got.err, want.units, want.losses, want.err)
			}
			if got.text != want.text {
				t.Errorf("level %d, %d goroutines: another text: %s", level, jobs, firstDiff(got.text, want.text))
			}
		}
	}
}

// firstDiff is the first line in which texts differ.
func firstDiff(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: %q, want %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// wants checks that text has all names.
func (p *program) wants(t *testing.T, text string, names ...string) {
	t.Helper()
	missing := 0
	for _, name := range names {
		if !strings.Contains(text, " "+name+"\n") && !strings.Contains(text, " "+name+"()\n") {
			if missing++; missing <= 10 {
				t.Errorf("no %s", name)
			}
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d names are missing", missing, len(names))
	}
}

// The least that makes many pieces of little: what Slide asks for, and not more than
// two or three of it at the same time.
const leastPiece = 360 << 10

// TestPieces: a file gives the same text whether its .debug_info is there or is
// inflated piece by piece, into pieces of any size, with units that are larger than
// one. Names that turn out to be plain when their units are gone get their scopes.
func TestPieces(t *testing.T) {
	p := newProgram()
	p.fill(1 << 20)
	p.unit(3<<20, true)
	p.fill(1 << 20)
	p.unit(1<<20, false)
	p.unit(1<<20, false)
	p.fill(1 << 20)
	want := dumpFile(t, p.flat(t), 1)
	if want.err != nil || want.losses != "0 []" || want.units != p.units {
		t.Fatalf("%d of %d units, %s, %v", want.units, p.units, want.losses, want.err)
	}
	p.wants(t, want.text, p.plain...)
	t.Run("usual pieces", func(t *testing.T) { p.same(t, want) })
	for _, most := range []int{1, 3 * leastPiece, 64 << 20} {
		t.Run(fmt.Sprintf("small pieces, up to %d bytes", most), func(t *testing.T) {
			smallPieces(t, leastPiece, most)
			p.same(t, want)
			for _, jobs := range jobsOf {
				if got := dumpFile(t, p.flat(t), jobs); got != want {
					t.Errorf("not compressed, %d goroutines: another outcome", jobs)
				}
			}
		})
	}
}

// TestPiecesMemory: units that are done leave their memory to others.
func TestPiecesMemory(t *testing.T) {
	const most = 4 * leastPiece
	smallPieces(t, leastPiece, most)
	p := newProgram()
	p.fill(6 << 20)
	for _, jobs := range jobsOf {
		d := &dumper{ctx: t.Context(), img: &elfx.Image{Main: openProgram(t, p.zlib(t, 6))}, m: &Module{}}
		d.opt = Options{Jobs: jobs, Inlines: true}
		d.code = codeMap(d.img.Main)
		if err := d.readUnits(); err != nil || len(d.units) != p.units || d.m.Stats.LossCount > 0 {
			t.Fatal(len(d.units), err, d.m.Stats.Losses)
		}
		// A larger piece for a large unit is made whatever there is.
		spare := 0
		for _, data := range d.info.spare {
			spare += len(data)
		}
		if d.info.size > most+2*leastPiece || len(d.info.list) > 0 || spare != d.info.size {
			t.Errorf("%d goroutines: %d bytes of buffers, %d pieces in use, %d bytes spare", jobs, d.info.size, len(d.info.list), spare)
		}
		for i, u := range d.units {
			if !u.Dropped() {
				t.Fatalf("%d goroutines: unit %d is there", jobs, i)
			}
		}
	}
}

// TestPiecesCrossing: where a unit may refer to another one, none is given up before
// the end.
func TestPiecesCrossing(t *testing.T) {
	smallPieces(t, leastPiece, 1)
	p := newProgram()
	p.fill(1 << 20)
	p.crossing(p.funcs[1])
	p.fill(1 << 20)
	p.crossing(p.funcs[len(p.funcs)-2])
	p.crossing(p.funcs[0])
	want := dumpFile(t, p.flat(t), 1)
	if want.err != nil || want.losses != "0 []" || strings.Count(want.text, " space1::plain1\n") != 2 || strings.Count(want.text, " space0::plain0\n") != 2 {
		t.Fatalf("%s, %v", want.losses, want.err)
	}
	p.wants(t, want.text, p.plain...)
	p.same(t, want)
}

// TestPiecesSplit: a skeleton's bytes are not what is needed of it later.
func TestPiecesSplit(t *testing.T) {
	smallPieces(t, leastPiece, 1)
	p := newProgram()
	p.skeleton("first.dwo", 1)
	p.fill(1 << 20)
	p.skeleton("middle.dwo", 2)
	p.fill(1 << 20)
	p.skeleton("last.dwo", 3)
	want := dumpFile(t, p.flat(t), 1)
	if want.err != nil || !strings.Contains(want.warnings, "first.dwo") || want.units != p.units {
		t.Fatalf("%d units, %s, %v", want.units, want.losses, want.err)
	}
	p.same(t, want)
}

// TestPiecesLengths, DWARF 5 §7.4: a unit that says that it is longer than the section
// is damage there, and costs nothing before it.
func TestPiecesLengths(t *testing.T) {
	smallPieces(t, leastPiece, 2*leastPiece)
	p := newProgram()
	p.fill(1<<20 + 1<<19)
	good := p.info
	longer := func(n uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0xff, 0xff, 0xff, 0xff}, n) }
	for name, length := range map[string][]byte{
		"more than there is": {0, 0, 0x30, 0}, "2^31 bytes": {0, 0, 0, 0x80}, "the most in 32 bits": {0xef, 0xff, 0xff, 0xff}, "reserved": {0xf0, 0xff, 0xff, 0xff},
		"2^40 bytes": longer(1 << 40), "2^62 bytes": longer(1 << 62), "2^63 bytes": longer(1 << 63), "12 less than 2^64": longer(1<<64 - 12), "the most": longer(1<<64 - 1),
		"nothing": {0, 0, 0, 0}, "a length that is cut": {1, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p.info = append(append(bytes.Clone(good), length...), bytes.Repeat([]byte{1, 2, 3, 0, 0xff}, 200_000)...)
			if len(length) < 4 {
				p.info = append(bytes.Clone(good), length...)
			}
			want := dumpFile(t, p.flat(t), 1)
			if want.err != nil || want.losses[:2] == "0 " || want.units < p.units {
				t.Fatalf("%d units, %.200s, %v", want.units, want.losses, want.err)
			}
			p.wants(t, want.text, p.plain...)
			p.same(t, want)
		})
	}
}

// TestPiecesDamage: of a stream that is damaged anywhere, nothing of .debug_info is
// believed, as if it had been inflated as a whole, and nobody waits for more of it.
func TestPiecesDamage(t *testing.T) {
	p := newProgram()
	p.fill(3 << 20)
	none := dumpFile(t, p.elf(nil, 0), 1)
	if none.err != nil || none.units != 0 {
		t.Fatalf("%d units, %v", none.units, none.err)
	}
	const chdr = 24
	for _, test := range []struct {
		name   string
		damage func(data []byte) []byte
		err    error
	}{
		{"checksum", func(data []byte) []byte { data[len(data)-1] ^= 1; return data }, inflate.ErrChecksum},
		{"header", func(data []byte) []byte { data[chdr] = 0; return data }, inflate.ErrHeader},
		{"cut", func(data []byte) []byte { return data[:len(data)-1] }, nil},
		{"cut in the middle", func(data []byte) []byte { return data[:len(data)/2] }, nil},
		{"in the middle", func(data []byte) []byte { clear(data[len(data)/2:][:1000]); return data }, nil},
		{"longer than it says", func(data []byte) []byte { data[8] -= 5; return data }, inflate.ErrTooLong},
		{"a piece longer than it says", func(data []byte) []byte { data[10] -= 5; return data }, inflate.ErrTooLong},
		{"shorter than it says", func(data []byte) []byte { data[10] += 5; return data }, inflate.ErrTooShort},
	} {
		t.Run(test.name, func(t *testing.T) {
			smallPieces(t, leastPiece, 2*leastPiece)
			data := p.elf(test.damage(zlibSection(t, p.info, 6)), elf.SHF_COMPRESSED)
			for _, jobs := range jobsOf {
				f := openProgram(t, data)
				_, err := f.SectionData(".debug_info")
				if !errors.Is(err, elfx.ErrCompression) || test.err != nil && !errors.Is(err, test.err) {
					t.Fatal(err)
				}
				want := none
				want.losses = fmt.Sprint(1, []error{err})
				if got := dumpOf(t, t.Context(), &elfx.Image{Main: f}, Options{Inlines: true, Jobs: jobs}); got != want {
					t.Errorf("%d goroutines: %d units, %s, %v; want %s", jobs, got.units, got.losses, got.err, want.losses)
				}
			}
		})
	}
}

// endedContext is cancelled when it is asked for the nth time.
type endedContext struct {
	context.Context
	asked atomic.Int64
	nth   int64
}

func (c *endedContext) Err() error {
	if c.asked.Add(1) >= c.nth {
		return context.Canceled
	}
	return nil
}

// TestPiecesCancelled: whenever a dump is given up, it ends.
func TestPiecesCancelled(t *testing.T) {
	p := newProgram()
	p.fill(2 << 20)
	smallPieces(t, leastPiece, 1)
	for _, jobs := range jobsOf {
		f := openProgram(t, p.zlib(t, 1))
		all := &endedContext{Context: t.Context(), nth: 1 << 62}
		if o := dumpOf(t, all, &elfx.Image{Main: f}, Options{Inlines: true, Jobs: jobs}); o.err != nil || o.units != p.units {
			t.Fatal(o.units, o.err)
		}
		most := all.asked.Load()
		for nth := int64(1); nth < most; nth += 1 + nth/20 {
			ctx := &endedContext{Context: t.Context(), nth: nth}
			if o := dumpOf(t, ctx, &elfx.Image{Main: f}, Options{Inlines: true, Jobs: jobs}); o.err == nil && ctx.asked.Load() >= nth {
				t.Errorf("%d goroutines, given up at %d of %d: no error", jobs, nth, most)
			}
		}
	}
}

// TestPackedFixtures: every program gives the same text when its .debug_info is
// compressed, with what it needs of other files.
func TestPackedFixtures(t *testing.T) {
	packed := 0
	for _, name := range programs(t) {
		data, err := testfile.Read(filepath.Join(fixtures, name))
		if err != nil {
			t.Fatal(err)
		}
		again := packInfo(t, data)
		if again == nil {
			continue
		}
		packed++
		var want outcome
		for i, data := range [][]byte{data, again, again} {
			f, err := elfx.NewFile(filepath.Join(fixtures, strings.TrimSuffix(name, ".xz")), data)
			if err != nil {
				t.Fatal(err)
			}
			img := &elfx.Image{Main: f}
			others := companion.Find(img, companion.Places{})
			o := dumpOf(t, t.Context(), img, Options{Name: "app", ID: "0", Inlines: true, Jobs: 1 + i, Companions: others})
			if i == 0 {
				want = o
			} else if o != want {
				t.Errorf("%s, %d goroutines: %d units, %s, %v, want %d, %s, %v: %s", name, 1+i, o.units, o.losses, o.err, want.units, want.losses, want.err, firstDiff(o.text, want.text))
			}
			if others != nil {
				others.Close()
			}
			f.Close()
		}
	}
	if packed < 60 {
		t.Errorf("only %d programs", packed)
	}
}

// packInfo compresses the .debug_info of a file, nil where it has none that is not.
func packInfo(t *testing.T, data []byte) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".debug_info")
	if s == nil || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 || f.Type == elf.ET_REL {
		return nil
	}
	plain, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	wide := f.Class == elf.ELFCLASS64
	if wide {
		err = binary.Write(&b, f.ByteOrder, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: s.Size, Addralign: 1})
	} else {
		err = binary.Write(&b, f.ByteOrder, elf.Chdr32{Type: uint32(elf.COMPRESS_ZLIB), Size: uint32(s.Size), Addralign: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	w := zlib.NewWriter(&b)
	w.Write(plain)
	w.Close()
	data = append(bytes.Clone(data), make([]byte, -len(data)&7)...)
	at := len(data)
	data = append(data, b.Bytes()...)
	for i, other := range f.Sections {
		if other != s {
			continue
		}
		if wide {
			h := data[int(f.ByteOrder.Uint64(data[40:]))+64*i:]
			f.ByteOrder.PutUint64(h[8:], uint64(s.Flags|elf.SHF_COMPRESSED))
			f.ByteOrder.PutUint64(h[24:], uint64(at))
			f.ByteOrder.PutUint64(h[32:], uint64(b.Len()))
		} else {
			h := data[int(f.ByteOrder.Uint32(data[32:]))+40*i:]
			f.ByteOrder.PutUint32(h[8:], uint32(s.Flags|elf.SHF_COMPRESSED))
			f.ByteOrder.PutUint32(h[16:], uint32(at))
			f.ByteOrder.PutUint32(h[20:], uint32(b.Len()))
		}
	}
	return data
}
