package check

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"symkit/check/internal/checks"
	"symkit/check/internal/truth/gotable"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/testfile"
)

// TestGoInlines replays the records from the DWARF of a program of each Go release against the same
// program stripped, whole and with one mistake.
func TestGoInlines(t *testing.T) {
	goldens, err := filepath.Glob("../testdata/go/*.sym")
	if err != nil || len(goldens) < 12 {
		t.Fatalf("%v, %d files", err, len(goldens))
	}
	for _, golden := range goldens {
		t.Run(filepath.Base(golden), func(t *testing.T) {
			f, err := elfx.NewFile("prog", readTest(t, strings.TrimSuffix(golden, ".sym")+".elf"))
			if err != nil {
				t.Fatal(err)
			}
			img, sym := &elfx.Image{Main: f}, readTest(t, golden)
			for _, test := range []struct {
				what     string
				old, new string // expression and replacement
				want     string // expression for a finding
			}{
				{what: "whole"},
				{"line of a call", `(?m)^(INLINE 0) 26 `, "$1 27 ", "main.add called from .*main.go:26"},
				{"file of a call", `(?m)^(FILE .*)main.go$`, "${1}other.go", "called from .*main.go:"},
				{"name of a call", `main\.neg`, "main.not", "main.neg called from .*main.go:16"},
				{"a call too much", `(?m)^(INLINE) 0 26 (.*)$`, "$0\n$1 1 16 $2", "at depth 1"},
				{"a call too few", `(?m)^INLINE 2 .*\n`, "", "at depth 2: main.neg called from .*main.go:16"},
				{"a range", `(?m)^(INLINE 0 26 .*) (.*) .*$`, "$1 $2 1", "at depth 0: main.add called from .*main.go:26"},
			} {
				changed := sym
				if test.old != "" {
					changed = regexp.MustCompile(test.old).ReplaceAll(sym, []byte(test.new))
					if bytes.Equal(changed, sym) {
						t.Fatalf("%s: nothing changed", test.what)
					}
				}
				rep := mustCheck(t, img, changed, Options{Options: report.Options{Limit: 5000, Only: []string{checks.Inlines}}})
				k := rep.Check(checks.Inlines)
				if k.State != report.Checked || k.Compared < 50 || k.Unverified > 0 || (k.Findings > 0) != (test.want != "") {
					t.Errorf("%s: %+v", test.what, k)
				}
				if out := text(t, rep); !regexp.MustCompile(test.want).MatchString(out) {
					t.Errorf("%s: not reported: %s\n%s", test.what, test.want, out)
				}
			}
		})
	}
}

// TestGoInlinesUnread checks that inline trees that no word of the module data makes right are
// reported as unverified, not as wrong.
func TestGoInlinesUnread(t *testing.T) {
	f, err := elfx.NewFile("prog", readTest(t, "../testdata/go/go1.27.1.elf"))
	if err != nil {
		t.Fatal(err)
	}
	data := f.Section(".go.module")
	words := f.BytesAt(data.Addr, data.Size)
	file := readTest(t, "../testdata/go/go1.27.1.elf")
	clear(file[bytes.Index(file, words)+24*8:][:30*8]) // behind etext
	f, err = elfx.NewFile("prog", file)
	if err != nil {
		t.Fatal(err)
	}
	rep := mustCheck(t, &elfx.Image{Main: f}, readTest(t, "../testdata/go/go1.27.1.sym"), Options{})
	if k := rep.Check(checks.Inlines); k.Findings > 0 || k.Unverified == 0 || len(k.Notes) != 1 || k.Notes[0] != gotable.NoteGoBase {
		t.Errorf("%+v", k)
	}
}

// TestDamagedGoInlines checks that damaged tables and module data give a report in a short time.
func TestDamagedGoInlines(t *testing.T) {
	for _, release := range []string{"go1.17.13", "go1.27.1"} {
		whole, sym := readTest(t, "../testdata/go/"+release+".elf"), readTest(t, "../testdata/go/"+release+".sym")
		f, err := elfx.NewFile("prog", whole)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			rng := rand.New(rand.NewPCG(5, uint64(i)))
			data := bytes.Clone(whole)
			for _, name := range []string{".gopclntab", ".go.module", ".noptrdata"} {
				s := f.Section(name)
				if s == nil {
					continue
				}
				for range rng.IntN(1 << (i / 3)) {
					data[s.Offset+uint64(rng.Int64N(int64(s.Size)))] = byte(rng.Uint32())
				}
			}
			damaged, err := elfx.NewFile("prog", data)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := testfile.CPULimit(t.Context(), 20*time.Second)
			if _, err := File(ctx, &elfx.Image{Main: damaged}, sym, Options{}); errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s %d: %v", release, i, err)
			}
			stop()
		}
	}
}
