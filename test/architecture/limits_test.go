package architecture

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"symkit/check"
	"symkit/check/diff"
	"symkit/check/lint"
	"symkit/check/report"
	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/sframe"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
)

// limited is a call with limits. run returns what the call gives as text, in which
// damage that a limit causes can be seen.
type limited struct {
	name  string
	tight limits.Limits
	run   func(l limits.Limits) (string, error)
}

// TestLimitsOfCalls: each of the main calls takes its limits from its options alone.
// Calls with tight limits and calls with the default run at the same time, and give what
// they give alone.
func TestLimitsOfCalls(t *testing.T) {
	t.Chdir(top)
	const hello, big = "testdata/elf/hello-x86_64-gcc12-O2-dw5.elf", "testdata/elf/cxx-x86_64-gcc12-O2-dw5-zlib.elf"
	const crash = "testdata/elf/crash-x86_64-gcc12-O2-dw5"
	sym := dumped(t, big)
	core, err := testfile.Read(crash + ".core.xz")
	if err != nil {
		t.Fatal(err)
	}
	sframes, err := os.ReadFile("sframe/testdata/v1-amd64-ibt.bin")
	if err != nil {
		t.Fatal(err)
	}
	packed := gzipped(t, sym)

	var none limits.Limits
	calls := []limited{
		{"elfx.Open", none.With(limitof.SectionNames, 1), func(l limits.Limits) (string, error) {
			f, err := elfx.Options{Limits: l}.Open(hello)
			if err != nil {
				return "", err
			}
			defer f.Close()
			return fmt.Sprint(f.Losses()), nil
		}},
		{"dump.Dump, names", none.With(limitof.Names, 1), dumpOf(big)},
		{"dump.Dump, files", none.With(limitof.Files, 1), dumpOf(big)},
		{"dump.Dump, depth", none.With(limitof.DIEDepth, 1), dumpOf(big)},
		{"dump.Dump, ranges", none.With(limitof.RangeEntries, 1), dumpOf(big)},
		{"dump.Dump, attributes", none.With(limitof.AbbrevAttributes, 1), dumpOf(big)},
		{"check.File", none.With(limitof.CheckStrings, 1), func(l limits.Limits) (string, error) {
			m, _, err := companion.Open(t.Context(), []string{big}, companion.Search{})
			if err != nil {
				return "", err
			}
			defer m.Close()
			rep, err := check.File(t.Context(), m.Image, sym, check.Options{Options: report.Options{Limits: l}})
			return reportText(rep), err
		}},
		{"lint.File", none.With(limitof.CheckLines, 1), func(l limits.Limits) (string, error) {
			rep, err := lint.File(sym, report.Options{Limits: l})
			return reportText(rep), err
		}},
		{"diff.Files", none.With(limitof.CheckRecords, 1), func(l limits.Limits) (string, error) {
			rep, err := diff.Files(sym, sym, report.Options{Limits: l})
			return reportText(rep), err
		}},
		{"corefile.New", none.With(limitof.Notes, 3), func(l limits.Limits) (string, error) {
			c, err := corefile.New("core", core, corefile.Options{Limits: l})
			if err != nil {
				return "", err
			}
			defer c.Close()
			return fmt.Sprint(c.Process.Warnings), nil
		}},
		{"walk.Walk", none.With(limitof.FramesPerThread, 1), func(l limits.Limits) (string, error) {
			return walkText(t, recursion(), nil, walk.Options{Limits: l})
		}},
		{"elfsyms.Supplier", none.With(limitof.LineRecords, 1), func(l limits.Limits) (string, error) {
			files := &sources.Files{Exe: crash + ".elf"}
			defer files.Close()
			c, err := corefile.New("core", core, corefile.Options{Files: files})
			if err != nil {
				return "", err
			}
			defer c.Close()
			return walkText(t, c.Process, &elfsyms.Supplier{Files: files, Limits: l}, walk.Options{})
		}},
		{"sources.Load", none.With(limitof.UnpackedSymbols, 1), func(l limits.Limits) (string, error) {
			var s walk.Symbols
			err := sources.Load(&s, packed, &walk.Module{}, l)
			if err != nil {
				return "", err
			}
			defer s.Close()
			return fmt.Sprint(s.Index.Counts()), nil
		}},
		{"sframe.Parse", none.With(limitof.MaskRows, 1), func(l limits.Limits) (string, error) {
			s, err := sframe.Parse(sframes, sframe.Options{Limits: l})
			if err != nil {
				return "", err
			}
			var text strings.Builder
			for fde, err := range s.FDEs() {
				text.WriteString(fmt.Sprintln(fde != nil, err))
			}
			return text.String(), nil
		}},
	}

	// Each call alone first: the limit must make a difference.
	type outcome struct{ text, err string }
	result := func(text string, err error) outcome {
		o := outcome{text: text}
		if err != nil {
			o.err = err.Error()
		}
		return o
	}
	free, tight := make([]outcome, len(calls)), make([]outcome, len(calls))
	for i, c := range calls {
		free[i], tight[i] = result(c.run(none)), result(c.run(c.tight))
		if free[i].err != "" {
			t.Errorf("%s: %s", c.name, free[i].err)
		}
		if free[i] == tight[i] {
			t.Errorf("%s: the limit changes nothing", c.name)
		}
		if _, err := c.run(c.tight); err != nil && !errors.Is(err, limits.ErrExceeded) {
			t.Errorf("%s: %v is no ErrExceeded", c.name, err)
		}
	}

	// All at once.
	var group sync.WaitGroup
	for i, c := range calls {
		for range 2 {
			group.Go(func() {
				if got := result(c.run(none)); got != free[i] {
					t.Errorf("%s beside others: %.200s, want %.200s", c.name, got, free[i])
				}
			})
			group.Go(func() {
				if got := result(c.run(c.tight)); got != tight[i] {
					t.Errorf("%s with a limit, beside others: %.200s, want %.200s", c.name, got, tight[i])
				}
			})
		}
	}
	group.Wait()
}

// dumpOf returns a call that dumps the file at path.
func dumpOf(path string) func(limits.Limits) (string, error) {
	return func(l limits.Limits) (string, error) {
		img, _, err := companion.Open(context.Background(), []string{path}, companion.Search{Limits: l})
		if err != nil {
			return "", err
		}
		defer img.Close()
		m, err := dump.Dump(context.Background(), img.Image, dump.Options{Inlines: true, Limits: l})
		if err != nil {
			return "", err
		}
		var text bytes.Buffer
		err = m.Write(&text)
		return text.String() + fmt.Sprint(m.Stats.Losses), err
	}
}

// dumped returns the symbols of the file at path.
func dumped(t *testing.T, path string) []byte {
	t.Helper()
	img, _, err := companion.Open(t.Context(), []string{path}, companion.Search{})
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	m, err := dump.Dump(t.Context(), img.Image, dump.Options{Inlines: true})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// reportText returns the text of a report, which may be nil.
func reportText(rep *report.Report) string {
	if rep == nil {
		return ""
	}
	var text bytes.Buffer
	_ = rep.WriteText(&text, "sym") // a bytes.Buffer never fails
	return text.String()
}

// walkText returns the functions and lines of all frames.
func walkText(t *testing.T, p *walk.Process, s walk.Supplier, opt walk.Options) (string, error) {
	result, err := walk.Walk(t.Context(), p, s, opt)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, stack := range result.Stacks {
		for _, f := range stack.Frames {
			text.WriteString(fmt.Sprintln(f.Place.Func, f.Place.Line))
		}
		text.WriteString(stack.End + "\n")
	}
	return text.String(), nil
}

// gzipped returns the path of a file with the compressed text.
func gzipped(t *testing.T, text []byte) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(text)
	path := filepath.Join(t.TempDir(), "app.sym.gz")
	if err := errors.Join(err, w.Close(), os.WriteFile(path, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// words is memory of 64-bit words from address 0 on.
type words []byte

// Bytes implements walk.Memory.
func (w words) Bytes(addr, n uint64) []byte {
	if addr > uint64(len(w)) || n > uint64(len(w))-addr {
		return nil
	}
	return w[addr:][:n:n]
}

// recursion returns a process whose stack has a hundred frames with frame pointers.
func recursion() *walk.Process {
	const frames, frame, code = 100, 32, 0x40000
	stack := make(words, (frames+1)*frame)
	for at := uint64(0); at < frames*frame; at += frame {
		binary.LittleEndian.PutUint64(stack[at:], at+frame)
		binary.LittleEndian.PutUint64(stack[at+8:], code+0x20)
	}
	p := &walk.Process{OS: "Linux", CPU: "x86_64", Memory: stack, Threads: make([]walk.Thread, 1)}
	p.Modules = []*walk.Module{{Path: "/app", Base: code, End: code + 0x1000}}
	regs := &p.Threads[0].Regs
	regs.PC = code + 0x10
	regs.Set(6, 0) // rbp
	regs.Set(7, 0) // rsp
	return p
}
