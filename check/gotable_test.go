package check

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symkit/check/internal/checks"
	"symkit/check/internal/truth/gotable"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/testfile"
)

// goSym are two functions of the fixture, as dump_syms writes them.
const goSym = `MODULE Linux x86_64 E3F5B4DCCCCA61679E2345E7AC8F97ED0 go
FILE 0 hello.go
FUNC 7a740 3a 0 main.apply
7a740 3a 19 0
FUNC 7a780 bf 0 main.main
7a780 12 21 0
7a792 1e 22 0
7a7b0 35 23 0
7a7e5 c 24 0
7a7f1 8 23 0
7a7f9 36 24 0
7a82f 6 25 0
7a835 a 21 0
`

// goWithoutDWARF is a Go program whose sections of debug information have other names, so that only
// .gopclntab is left.
func goWithoutDWARF(t *testing.T) []byte {
	data := readTest(t, filepath.Join("..", "testdata", "elf", "go-x86_64-gc.elf"))
	return bytes.Replace(data, []byte("\x00.debug_info\x00"), []byte("\x00.xebug_info\x00"), 1)
}

func TestGoTable(t *testing.T) {
	f, err := elfx.NewFile("go", goWithoutDWARF(t))
	if err != nil {
		t.Fatal(err)
	}
	img := &elfx.Image{Main: f}
	for _, test := range []struct {
		old, new string
		check    string
		want     string
	}{
		{},
		{"7a7e5 c 24 0", "7a7e5 c 25 0", checks.Lines, "[0x7a7e5, 0x7a7f1): the line table says"},
		{"7a7e5 c 24 0\n", "", checks.Lines, "no line record for [0x7a7e5, 0x7a7f1)"},
		{"hello.go\n", "other.go\n", checks.Lines, "hello.go:19"},
		{"main.apply", "main.supply", checks.Names, "the function is main.apply"},
		{"FUNC 7a780 bf 0", "FUNC 7a780 b0 0", checks.Funcs, "0xb0 bytes: it has 0xc0 in the .gopclntab"},
		{"FUNC 7a740", "FUNC 7a741", checks.Funcs, "no function of the .gopclntab begins at 0x7a741"},
	} {
		sym := strings.Replace(goSym, test.old, test.new, 1)
		rep := mustCheck(t, img, []byte(sym), Options{Options: report.Options{Limit: 5000}})
		for _, name := range []string{checks.Funcs, checks.Names, checks.Lines} {
			k := rep.Check(name)
			if k.State != report.Checked || k.Compared == 0 || name != test.check && k.Wrong > 0 {
				t.Errorf("%q: %+v", test.new, k)
			}
		}
		if test.check != "" && !strings.Contains(text(t, rep), test.want) {
			t.Errorf("%q: not reported: %s\n%v", test.new, test.want, rep.Check(test.check))
		}
	}
}

// TestGoTableText checks that runtime.moduledata gives the address where the table's code begins,
// whatever the entry point is. Without moduledata only Go's own entry point does.
func TestGoTableText(t *testing.T) {
	for _, test := range []struct {
		name    string
		entry   func(data []byte, text uint64) uint64
		spoiled bool
		want    report.State
	}{
		{"both", goOwnEntry, false, report.Checked},
		{"entry point of C", func(_ []byte, text uint64) uint64 { return text + 1 }, false, report.Checked},
		{"no module data", goOwnEntry, true, report.Checked},
		{"neither", func(_ []byte, text uint64) uint64 { return text + 1 }, true, report.NotVerified},
		{"C's entry point begins .text, as Go's first function would", func(_ []byte, text uint64) uint64 { return text }, true, report.NotVerified},
	} {
		data := goWithoutDWARF(t)
		e, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		const entry = 24 // offset of e_entry in an Elf64_Ehdr
		binary.LittleEndian.PutUint64(data[entry:], test.entry(data, e.Section(".text").Addr))
		if test.spoiled {
			s := e.Section(".go.module")
			clear(data[s.Offset:][:s.FileSize])
		}

		f, err := elfx.NewFile("go", data)
		if err != nil {
			t.Fatal(err)
		}
		rep := mustCheck(t, &elfx.Image{Main: f}, []byte(goSym), Options{})
		for _, name := range []string{checks.Funcs, checks.Names, checks.Lines} {
			k := rep.Check(name)
			if k.State != test.want || k.Wrong > 0 {
				t.Errorf("%s: %+v", test.name, k)
			}
			if test.want == report.NotVerified && (k.Unverified == 0 || k.Notes[0] != gotable.ErrGoText.Error()) {
				t.Errorf("%s: %+v", test.name, k)
			}
		}
	}
}

// goOwnEntry returns the entry point in the header of data, a 64-bit file.
func goOwnEntry(data []byte, _ uint64) uint64 {
	return binary.LittleEndian.Uint64(data[24:])
}

// TestDamagedGoTable checks that a damaged table gives a report in a short time.
func TestDamagedGoTable(t *testing.T) {
	whole := goWithoutDWARF(t)
	e, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	table := e.Section(".gopclntab")
	for i := range 20 {
		rng := rand.New(rand.NewPCG(3, uint64(i)))
		data := bytes.Clone(whole)
		for range 1 + rng.IntN(4) {
			data[table.Offset+uint64(rng.IntN(72))] = byte(rng.Uint32()) // the header
		}
		for range rng.IntN(200) {
			data[table.Offset+uint64(rng.Int64N(int64(table.Size)))] = byte(rng.Uint32())
		}
		f, err := elfx.NewFile("go", data)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := testfile.CPULimit(t.Context(), 20*time.Second)
		if _, err := File(ctx, &elfx.Image{Main: f}, []byte(goSym), Options{}); errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d: %v", i, err)
		}
		stop()
	}
}

// TestHeaderText checks that the header gives the address where the code begins in Go 1.18 to 1.25.
// The entry point, which is C's in a program with C in it, is not used then.
func TestHeaderText(t *testing.T) {
	for _, test := range []struct {
		magic uint32
		want  uint64
	}{{0xfffffff1, 0x1234}, {0xfffffff0, 0x1234}, {0xfffffffa, 0}, {0xfffffffb, 0}} {
		data := binary.LittleEndian.AppendUint32(nil, test.magic)
		data = append(data, 0, 0, 1, 8)
		for _, word := range []uint64{5, 8, 0x1234, 0} {
			data = binary.LittleEndian.AppendUint64(data, word)
		}
		if h, err := gotable.ReadHeader(data, false); err != nil || h.Text != test.want {
			got := h.Text
			t.Errorf("magic %#x: %#x, want %#x", test.magic, got, test.want)
		}
	}

	data := goWithoutDWARF(t)
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	const entry, textStart = 24, 24 // offsets in an Elf64_Ehdr, in the table's header
	data[entry]++
	binary.LittleEndian.PutUint64(data[e.Section(".gopclntab").Offset+textStart:], e.Section(".text").Addr)
	f, err := elfx.NewFile("go", data)
	if err != nil {
		t.Fatal(err)
	}
	rep := mustCheck(t, &elfx.Image{Main: f}, []byte(goSym), Options{Options: report.Options{Limit: 5000}})
	for _, name := range []string{checks.Funcs, checks.Names, checks.Lines} {
		if k := rep.Check(name); k.State != report.Checked || k.Compared == 0 || k.Wrong > 0 {
			t.Errorf("%+v", k)
		}
	}
}
