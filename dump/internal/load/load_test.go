package load_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symkit/dump"
	"symkit/dump/internal/load"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/inflate"
	"symkit/test/testfile"
)

// outcome is what a dump comes to.
type outcome struct {
	text             string
	losses, warnings string
	units            int
	err              error
}

// dumpOf dumps img, which must not take for ever.
func dumpOf(t *testing.T, ctx context.Context, img *elfx.Image, opt dump.Options) (o outcome) {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { done <- o }()
		m, err := dump.Dump(ctx, img, opt)
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
	return dumpOf(t, t.Context(), &elfx.Image{Main: openProgram(t, data)}, dump.Options{Inlines: true, Jobs: jobs})
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

// leastSegment cuts a small section into many segments: it is the size that Slide asks
// for, of which two or three are in memory at the same time.
const leastSegment = 360 << 10

// TestSegments: a file gives the same text whether its .debug_info is there or is
// inflated into segments of any size, with units that are larger than one segment.
// Names that turn out to be plain when their units are gone get their scopes.
func TestSegments(t *testing.T) {
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
	t.Run("usual segments", func(t *testing.T) { p.same(t, want) })
	sizes := []int{3 * leastSegment, 1, 64 << 20}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, most := range sizes {
		t.Run(fmt.Sprintf("small segments, up to %d bytes", most), func(t *testing.T) {
			smallSegments(t, leastSegment, most)
			p.same(t, want)
			for _, jobs := range jobsOf {
				if got := dumpFile(t, p.flat(t), jobs); got != want {
					t.Errorf("not compressed, %d goroutines: another outcome", jobs)
				}
			}
		})
	}
}

// TestSegmentsCrossing: where a unit may refer to another one, none is given up before
// the end.
func TestSegmentsCrossing(t *testing.T) {
	smallSegments(t, leastSegment, 1)
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

// TestSegmentsSplit: a skeleton's bytes are not what is needed of it later.
func TestSegmentsSplit(t *testing.T) {
	smallSegments(t, leastSegment, 1)
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

// TestSegmentsLengths, DWARF 5 §7.4: a unit that says that it is longer than the section
// is damage there, and costs nothing before it.
func TestSegmentsLengths(t *testing.T) {
	smallSegments(t, leastSegment, 2*leastSegment)
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

// TestSegmentsDamage: if the compressed stream is damaged anywhere, all of .debug_info is
// lost, as if it had been inflated as a whole, and no worker waits for more segments.
func TestSegmentsDamage(t *testing.T) {
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
		{"a segment longer than it says", func(data []byte) []byte { data[10] -= 5; return data }, inflate.ErrTooLong},
		{"shorter than it says", func(data []byte) []byte { data[10] += 5; return data }, inflate.ErrTooShort},
	} {
		t.Run(test.name, func(t *testing.T) {
			smallSegments(t, leastSegment, 2*leastSegment)
			data := p.elf(test.damage(zlibSection(t, p.info, 6)), elf.SHF_COMPRESSED)
			for _, jobs := range jobsOf {
				f := openProgram(t, data)
				_, err := f.SectionData(".debug_info")
				if !errors.Is(err, elfx.ErrCompression) || test.err != nil && !errors.Is(err, test.err) {
					t.Fatal(err)
				}
				want := none
				want.losses = fmt.Sprint(1, []error{err})
				if got := dumpOf(t, t.Context(), &elfx.Image{Main: f}, dump.Options{Inlines: true, Jobs: jobs}); got != want {
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

// TestSegmentsCancelled: whenever a dump is given up, it ends.
func TestSegmentsCancelled(t *testing.T) {
	p := newProgram()
	p.fill(2 << 20)
	smallSegments(t, leastSegment, 1)
	for _, jobs := range jobsOf {
		f := openProgram(t, p.zlib(t, 1))
		all := &endedContext{Context: t.Context(), nth: 1 << 62}
		if o := dumpOf(t, all, &elfx.Image{Main: f}, dump.Options{Inlines: true, Jobs: jobs}); o.err != nil || o.units != p.units {
			t.Fatal(o.units, o.err)
		}
		most := all.asked.Load()
		for nth := int64(1); nth < most; nth += 1 + nth/20 {
			ctx := &endedContext{Context: t.Context(), nth: nth}
			if o := dumpOf(t, ctx, &elfx.Image{Main: f}, dump.Options{Inlines: true, Jobs: jobs}); o.err == nil && ctx.asked.Load() >= nth {
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
			others := companion.Find(t.Context(), img, companion.Search{})
			o := dumpOf(t, t.Context(), img, dump.Options{Name: "app", ID: "0", Inlines: true, Jobs: 1 + i, Companions: others})
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

// TestSegmentsMutants: a damaged .debug_info has the same outcome, errors and all, when
// it is inflated into segments. SYMKIT_MUTANTS sets how many there are.
func TestSegmentsMutants(t *testing.T) {
	count := mutantCount()
	for _, crossing := range []bool{false, true} { // then no segment is released before the end
		t.Run(fmt.Sprintf("crossing %v", crossing), func(t *testing.T) { segmentsMutants(t, crossing, count) })
	}
}

func segmentsMutants(t *testing.T, crossing bool, count int) {
	smallSegments(t, leastSegment, leastSegment)
	p := newProgram()
	p.fill(1 << 20)
	if crossing {
		p.crossing(p.funcs[2])
	}
	p.skeleton("x.dwo", 1)
	p.fill(1 << 18)
	good := p.info
	starts := []int{0}
	for at := 0; at < len(good); starts = append(starts, at) {
		at += 4 + int(le.Uint32(good[at:]))
	}
	for seed := range uint64(count) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		p.info = append([]byte(nil), good...)
		for range 1 + rnd.IntN(4) {
			at := starts[rnd.IntN(len(starts)-1)]
			switch rnd.IntN(6) {
			case 0: // another length
				le.PutUint32(p.info[at:], uint32(rnd.IntN(1<<rnd.IntN(22))))
			case 1: // of what is not a length in 32 bits
				le.PutUint32(p.info[at:], 0xfffffff0+uint32(rnd.IntN(16)))
			case 2:
				le.PutUint64(p.info[at+4:], rnd.Uint64()>>rnd.IntN(64))
			case 3: // the header, the root or the DIEs after it
				p.info[at+rnd.IntN(100)] = byte(rnd.Uint32())
			case 4: // units that are not even that
				clear(p.info[at:][:rnd.IntN(64)])
			case 5: // the section ends here
				p.info = p.info[:at+rnd.IntN(14)]
				at = 0
			}
			if len(p.info) < len(good) {
				break
			}
		}
		want := dumpFile(t, p.flat(t), 1)
		jobs := jobsOf[seed%3]
		if got := dumpFile(t, p.zlib(t, 1), jobs); got != want {
			t.Errorf("seed %d, %d goroutines: %d units, %.500s, %v, want %d, %.500s, %v; %s",
				seed, jobs, got.units, got.losses, got.err, want.units, want.losses, want.err, firstDiff(got.text, want.text))
		}
	}
}

// TestSegmentsChanged: a file that is truncated while it is mapped is an error, and no
// worker waits for the rest of it.
func TestSegmentsChanged(t *testing.T) {
	smallSegments(t, leastSegment, 1)
	p := newProgram()
	p.fill(2 << 20)
	data := p.zlib(t, 1)
	for _, jobs := range jobsOf {
		f := mapped(t, data)
		if err := os.Truncate(f.Path(), int64(len(data)/2)); err != nil {
			t.Fatal(err)
		}
		if o := dumpOf(t, t.Context(), &elfx.Image{Main: f}, dump.Options{Jobs: jobs}); !errors.Is(o.err, elfx.ErrChanged) {
			t.Errorf("%d goroutines: %v", jobs, o.err)
		}
	}
}

// smallSegments makes segments as small as they can be, and few, until t ends.
func smallSegments(t *testing.T, size, most int) {
	t.Cleanup(load.SetSegments(size, most))
}

const fixtures = "../../../testdata/elf"

// programs are the fixtures that hold a program or library.
func programs(t testing.TB) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch filepath.Ext(strings.TrimSuffix(e.Name(), ".xz")) {
		case ".elf", ".so", ".debug":
			names = append(names, e.Name())
		}
	}
	return names
}

// mutantCount returns the number in SYMKIT_MUTANTS, by default a few.
func mutantCount() int {
	n, err := strconv.Atoi(os.Getenv("SYMKIT_MUTANTS"))
	if err != nil {
		return 40
	}
	return n
}

// mapped opens a file with the contents data until t ends.
func mapped(t *testing.T, data []byte) *elfx.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	err := os.WriteFile(path, data, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
