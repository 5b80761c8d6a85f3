// Command importer uses symkit from another module, as a crash service would: it writes
// and looks up symbols, verifies them, walks a core file and a minidump, decodes unwind tables, and tells errors
// apart. A test of symkit builds the program and compares its
// output.
//
//	importer CORE
//
// It runs in its own directory. CORE is the unpacked core file of symkit's fixtures.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"

	"symkit/cfi"
	"symkit/check"
	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/emit"
	"symkit/limits"
	"symkit/located"
	"symkit/sframe"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/minidump"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
	"symkit/walk/symserver"
)

// The fixtures of symkit.
const (
	root     = "../../"
	elfs     = root + "testdata/elf/"
	stripped = elfs + "cxx-x86_64-gcc12-O2-dw5-stripped.elf" // its .debug is beside it
	crashed  = elfs + "crash-x86_64-gcc12-O2-dw5.elf"
	dumpFile = root + "walk/minidump/testdata/minidump2.dmp"
	symStore = root + "cmd/stackwalk/testdata/breakpad/symbols"
	sframes  = root + "sframe/testdata/v3-amd64-two.bin"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: importer CORE")
	}
	ctx := context.Background()
	for _, step := range []struct {
		title string
		do    func(io.Writer) error
	}{
		{"symbols of a program and its debug file", func(w io.Writer) error { return writeSymbols(ctx, w) }},
		{"a core file, with symbols of the ELF files", func(w io.Writer) error { return walkCore(ctx, w, os.Args[1]) }},
		{"a minidump, with symbols of a server", func(w io.Writer) error { return walkMinidump(ctx, w) }},
		{"rows of .eh_frame", ehFrame},
		{"rows of SFrame", sframeRows},
		{"a damaged file", damage},
		{"limits", func(w io.Writer) error { return limited(ctx, w) }},
	} {
		fmt.Printf("== %s\n", step.title)
		if err := step.do(os.Stdout); err != nil {
			log.Fatal(err)
		}
	}
}

// writeSymbols dumps a program, shows what the module has, and looks an address up in
// the symbol file and verifies it.
func writeSymbols(ctx context.Context, w io.Writer) error {
	program, _, err := companion.Open(ctx, []string{stripped}, companion.Search{})
	if err != nil {
		return err
	}
	defer program.Close()
	m, err := dump.Dump(ctx, program.Image, dump.Options{Inlines: true, Companions: program.Companions})
	if err != nil {
		return err
	}

	// The records as values.
	fmt.Fprintln(w, m.OS, m.Arch, m.Name)
	inlined := uint64(0)
	for f := range m.Funcs() {
		lines, calls := 0, 0
		for range f.Lines() {
			lines++
		}
		for c := range f.Calls() {
			calls++
			if c.Depth == 1 && inlined == 0 {
				inlined = c.Ranges[0].Lo
				fmt.Fprintf(w, "%s inlined at %#x, called from %s:%d\n", c.Name, inlined, m.Files()[c.File], c.Line)
			}
		}
		if calls > 2 {
			fmt.Fprintf(w, "%s at %#x, %d bytes: %d lines, %d inlined calls\n", f.Name, f.Addr, f.Size, lines, calls)
		}
	}
	for p := range m.Publics() {
		fmt.Fprintf(w, "public %s at %#x\n", p.Name, p.Addr)
		break
	}
	rows := 0
	for row, err := range m.UnwindRows() {
		if err != nil {
			return err
		}
		if rows == 1 {
			fmt.Fprintf(w, "unwind rules from %#x, %d bytes:", row.Addr, row.Size)
			for _, r := range row.Rules {
				fmt.Fprintf(w, " %s=(%s)", r.Reg, r.Expr)
			}
			fmt.Fprintln(w)
		}
		rows++
	}
	fmt.Fprintf(w, "%d unwind rows\n", rows)

	// The symbol file, and an address in it.
	var sym bytes.Buffer
	if err := m.Write(&sym); err != nil {
		return err
	}
	index := emit.NewIndex(sym.Bytes())
	found, ok := index.Symbol(inlined)
	fmt.Fprintln(w, "address found:", ok)
	for _, c := range found.Calls {
		fmt.Fprintf(w, "  %s (%s:%d)\n", c.Func, c.File, c.Line)
	}

	// Does the file tell the truth?
	report, err := check.File(ctx, program.Image, sym.Bytes(), check.Options{Companions: program.Companions})
	if err != nil {
		return err
	}
	c := report.Check("lines")
	fmt.Fprintf(w, "verified: %d findings, %d %s compared for lines\n", report.Total(), c.Compared, c.Unit)
	return nil
}

// walkCore walks the crashed thread of a core file. Its modules have no symbol
// files.
func walkCore(ctx context.Context, w io.Writer, path string) error {
	files := &sources.Files{Exe: crashed}
	defer files.Close()
	core, err := corefile.Open(path, corefile.Options{Files: files})
	if err != nil {
		return err
	}
	defer core.Close()
	return stack(ctx, w, core.Process, &elfsyms.Supplier{Files: files})
}

// walkMinidump walks the crashed thread of a minidump with symbols from a symbol server.
func walkMinidump(ctx context.Context, w io.Writer) error {
	server := httptest.NewServer(http.FileServer(http.Dir(symStore)))
	defer server.Close()
	cache, err := os.MkdirTemp("", "symbols")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	supplier, err := symserver.New(server.URL, cache)
	if err != nil {
		return err
	}

	data, err := os.ReadFile(dumpFile)
	if err != nil {
		return err
	}
	d, err := minidump.New(data)
	if err != nil {
		return err
	}
	return stack(ctx, w, d.Process(), supplier)
}

// stack writes the first frames of the crashed thread.
func stack(ctx context.Context, w io.Writer, p *walk.Process, s walk.Supplier) error {
	result, err := walk.Walk(ctx, p, s, walk.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, p.Crash.Reason)
	for i, f := range result.Stacks[result.Crashed()].Frames {
		if i == 4 {
			break
		}
		for _, call := range f.Place.Inlines {
			fmt.Fprintf(w, "  %s (%s:%d), inlined\n", call.Func, call.File, call.Line)
		}
		fmt.Fprintf(w, "  %s (%s:%d), found by %s\n", f.Place.Func, f.Place.File, f.Place.Line, f.Trust.Key())
	}
	return nil
}

// ehFrame writes the rows of a function of .eh_frame, and of STACK CFI rules made of them.
func ehFrame(w io.Writer) error {
	f, err := elfx.Open(elfs + "hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		return err
	}
	defer f.Close()
	s := f.Section(".eh_frame")
	data, err := s.Copy()
	if err != nil {
		return err
	}

	section := cfi.Section{Kind: cfi.EHFrame, Data: data, Addr: s.Addr, AddrSize: f.AddrSize(), BigEndian: f.BigEndian, Machine: f.Machine}
	text := cfi.NewText(cfi.ArchOf(f.Machine, f.Class))
	for fde, err := range section.FDEs() {
		if err != nil {
			return err
		}
		if fde.End-fde.Begin != 30 {
			continue // not main
		}
		text.Begin(fde.CIE.RA)
		for row, err := range fde.Rows() {
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%#x: CFA = r%d%+d, %d registers saved\n", row.Begin, row.CFA.Reg, row.CFA.Off, len(row.Regs))
			text.Add(row)
		}
	}
	for i := range text.Len() {
		r := text.Record(i)
		fmt.Fprintf(w, "%#x %s\n", r.Addr, r.Rules)
	}
	return nil
}

// sframeRows writes the rows of a section of SFrame.
func sframeRows(w io.Writer) error {
	data, err := os.ReadFile(sframes)
	if err != nil {
		return err
	}
	section, err := sframe.Parse(data, sframe.Options{Addr: 0x2050, ABI: sframe.AMD64})
	if err != nil {
		return err
	}
	for fde, err := range section.FDEs() {
		if err != nil {
			return err
		}
		for row, err := range fde.Rows() {
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%#x to %#x: CFA = r%d%+d\n", row.Begin, row.End, row.CFA.Reg, row.CFA.Off)
		}
	}
	return nil
}

// damage asks an error for the place of the damage.
func damage(w io.Writer) error {
	_, err := elfx.NewFile("short.elf", []byte("\x7fELF\x02\x01\x01"))
	place, ok := errors.AsType[*located.Error](err)
	if !ok {
		return fmt.Errorf("no place: %w", err)
	}
	fmt.Fprintf(w, "%v\n%s, offset %d: %v\n", err, place.Section, place.Offset, place.Err)
	fmt.Fprintln(w, "truncated:", errors.Is(err, located.ErrTruncated))
	return nil
}

// limited dumps one program twice at the same time, once with a limit on names.
func limited(ctx context.Context, w io.Writer) error {
	var group sync.WaitGroup
	var errs [2]error
	var lost [2][]error
	for i, l := range []limits.Limits{limits.Limits{}.With("names", 64), {}} {
		group.Go(func() {
			program, _, err := companion.Open(ctx, []string{stripped}, companion.Search{Limits: l})
			if err != nil {
				errs[i] = err
				return
			}
			defer program.Close()
			m, err := dump.Dump(ctx, program.Image, dump.Options{Companions: program.Companions, Limits: l})
			if err != nil {
				errs[i] = err
				return
			}
			lost[i] = m.Stats.Losses
		})
	}
	group.Wait()
	fmt.Fprintln(w, "exceeded:", errors.Is(errors.Join(lost[0]...), limits.ErrExceeded), errors.Is(errors.Join(lost[1]...), limits.ErrExceeded))
	return errors.Join(errs[:]...)
}
