package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"symkit/check/internal/checks"
	"symkit/check/lint"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/testfile"
)

// TestDamagedELF checks that damaged ELF files give an error or a report in a short time, and never
// a panic.
func TestDamagedELF(t *testing.T) {
	for _, name := range []string{"lang-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-gcc12-O2-dw5.elf"} {
		_, sym := own(t, name)
		whole := readTest(t, filepath.Join("..", "testdata", "elf", name))
		for i := range 150 {
			rng := rand.New(rand.NewPCG(2, uint64(i)))
			data := append([]byte(nil), whole...)
			for range 1 + rng.IntN(20) {
				data[64+rng.IntN(len(data)-64)] = byte(rng.Uint32())
			}
			f, err := elfx.NewFile("damaged", data)
			if err != nil {
				continue
			}
			ctx, stop := testfile.CPULimit(t.Context(), 20*time.Second)
			if _, err := File(ctx, &elfx.Image{Main: f}, sym, Options{}); errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %d: %v", name, i, err)
			}
			stop()
		}
	}
}

func TestCancel(t *testing.T) {
	img, sym := own(t, "lang-x86_64-gcc12-O2-dw5.elf")
	ctx, stop := context.WithCancelCause(context.Background())
	want := errors.New("enough")
	stop(want)
	if _, err := File(ctx, img, sym, Options{}); !errors.Is(err, want) {
		t.Error(err)
	}
}

// TestNotVerified checks that reports state what could not be verified.
func TestNotVerified(t *testing.T) {
	const sym = "MODULE Linux x86_64 000000000000000000000000000000000 x\nFUNC 1000 10 0 f\n1000 10 1 0\n"
	for name, want := range map[string]report.State{
		"cxx-x86_64-gcc12-O2-dw5-stripped.elf": report.NotInELF,
		"cxx-x86_64-gcc12-O2-dw5-split.elf":    report.NotVerified,
	} {
		img := openTest(t, filepath.Join("..", "testdata", "elf", name), name)
		rep := mustCheck(t, img, []byte(sym), Options{})
		k := rep.Check(checks.Funcs)
		if k.State != want || k.Unverified == 0 || k.Findings > 0 {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// TestOverlappingCalls checks that a symbol file whose calls all overlap is reported in a short
// time.
func TestOverlappingCalls(t *testing.T) {
	img, own := own(t, "lang-x86_64-gcc12-O2-dw5.elf")
	_, from, _ := bytes.Cut(own, []byte("\nFUNC "))
	begin, err := strconv.ParseUint(string(from[:bytes.IndexByte(from, ' ')]), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	sym := fmt.Appendf(nil, "MODULE Linux x86_64 00 x\nFILE 0 a\nINLINE_ORIGIN 0 f\nFUNC %x %x 0 f\n", begin, 2*n)
	for i := range uint64(n) {
		sym = fmt.Appendf(sym, "INLINE %d 1 0 0 %x %x\n", i%2, begin+i, 2*n-i)
	}
	ctx, stop := testfile.CPULimit(t.Context(), 20*time.Second)
	defer stop()
	rep, err := File(ctx, img, sym, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []string{checks.Overlaps, checks.Inlines} {
		if rep.Check(check).Findings == 0 {
			t.Errorf("%+v", rep.Check(check))
		}
	}
}

// TestImports checks that package check does not import the dumper that it verifies
// (docs/design.md).
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(dep, "symkit/dump") || strings.HasPrefix(dep, "symkit/walk") {
			t.Errorf("imports %s", dep)
		}
	}
}

// FuzzFile checks that no symbol file causes a panic, and that the report is the same on any
// number of goroutines.
func FuzzFile(f *testing.F) {
	name := "lang-x86_64-gcc12-O2-dw5.elf"
	data, err := os.ReadFile(filepath.Join("..", "testdata", "elf", name))
	if err != nil {
		f.Fatal(err)
	}
	_, sym := own(f, name)
	f.Add(sym)
	f.Fuzz(func(t *testing.T, sym []byte) {
		file, err := elfx.NewFile(name, data)
		if err != nil {
			t.Fatal(err)
		}
		img := &elfx.Image{Main: file}
		a, errA := File(t.Context(), img, sym, Options{Jobs: 1})
		b, errB := File(t.Context(), img, sym, Options{Jobs: 3})
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v and %v", errA, errB)
		}
		if errA == nil && text(t, a) != text(t, b) {
			t.Fatalf("with one goroutine:\n%s\nwith three:\n%s", text(t, a), text(t, b))
		}
	})
}

func BenchmarkFile(b *testing.B) {
	img, sym := own(b, "cxx-x86_64-gcc12-O2-dw5.elf")
	b.SetBytes(int64(len(sym)))
	for b.Loop() {
		mustCheck(b, img, sym, Options{})
	}
}

func BenchmarkLint(b *testing.B) {
	_, sym := own(b, "cxx-x86_64-gcc12-O2-dw5.elf")
	b.SetBytes(int64(len(sym)))
	for b.Loop() {
		if _, err := lint.File(sym, report.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
