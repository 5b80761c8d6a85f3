package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/testfile"
)

// unxz reads a compressed fixture of this package.
func unxz(t testing.TB, name string) []byte {
	t.Helper()
	return unxzFile(t, filepath.Join("testdata", name+".xz"))
}

func unxzFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := testfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRealAgainstDebugELF(t *testing.T) {
	for _, name := range []string{"nest.elf", "drap.elf", "g5.elf"} {
		compareDebugELF(t, name, unxz(t, name))
	}
}

// compareDebugELF compares everything with the standard library's reader. What
// does not count: it refuses files that we open with losses.
func compareDebugELF(t *testing.T, name string, data []byte) {
	t.Helper()
	want, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Errorf("%s: debug/elf: %v", name, err)
		return
	}
	f, err := NewFile(name, data)
	if err != nil {
		t.Error(err)
		return
	}
	for _, err := range f.Losses() {
		t.Error(err)
	}
	if f.Class != want.Class || f.BigEndian != (want.Data == elf.ELFDATA2MSB) || f.Type != want.Type ||
		f.Machine != want.Machine || f.Entry != want.Entry || f.OSABI != want.OSABI {
		t.Errorf("%s: header %+v, want %+v", name, f.Header, want.FileHeader)
	}
	compareTables(t, name, f, want)
	compareSymbols(t, name, f, want)
	if names, err := want.DynString(elf.DT_SONAME); err == nil {
		if got, err := Soname(f); got != strings.Join(names, "") || err != nil {
			t.Errorf("%s: soname %q, %v, want %q", name, got, err, names)
		}
	}
}

func compareTables(t *testing.T, name string, f *File, want *elf.File) {
	t.Helper()
	if len(f.Sections) != len(want.Sections) || len(f.Segments) != len(want.Progs) {
		t.Errorf("%s: %d sections, %d segments, want %d, %d", name, len(f.Sections), len(f.Segments), len(want.Sections), len(want.Progs))
		return
	}
	for i, w := range want.Sections {
		s := &f.Sections[i]
		if s.Name != w.Name || s.Type != w.Type || s.Flags != w.Flags || s.Addr != w.Addr && f.Type != elf.ET_REL || s.Offset != w.Offset ||
			s.Size != w.FileSize || s.Link != w.Link || s.Info != w.Info || s.Entsize != w.Entsize {
			t.Errorf("%s: section %d: %+v, want %+v", name, i, s.Name, w.SectionHeader)
		}
		if !s.Present() {
			continue
		}
		size, sizeErr := s.UncompressedSize()
		if data, err := s.Data(); uint64(len(data)) != size || err != nil || sizeErr != nil {
			t.Errorf("%s: %s: %d bytes, %d announced, %v, %v", name, s.Name, len(data), size, err, sizeErr)
		} else if s.applied() != 0 {
			continue // debug/elf does not relocate
		} else if theirs, err := w.Data(); err != nil || s.Name[:min(2, len(s.Name))] != ".z" && !bytes.Equal(data, theirs) {
			t.Errorf("%s: %s differs, %v", name, s.Name, err)
		}
	}
	for i, w := range want.Progs {
		s := f.Segments[i]
		if s != (Segment{w.Type, w.Flags, w.Off, w.Vaddr, w.Filesz, w.Memsz, w.Align}) {
			t.Errorf("%s: segment %d: %+v, want %+v", name, i, s, w.ProgHeader)
		}
	}
}

func compareSymbols(t *testing.T, name string, f *File, want *elf.File) {
	t.Helper()
	for _, kind := range []struct {
		name   string
		ours   func() (*SymbolTable, error)
		theirs func() ([]elf.Symbol, error)
	}{{".symtab", f.Symtab, want.Symbols}, {".dynsym", f.Dynsym, want.DynamicSymbols}} {
		theirs, err := kind.theirs()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			continue // the table is NOBITS in a debug file
		}
		table, err := kind.ours()
		if err != nil {
			t.Error(err)
			continue
		}
		if table == nil {
			table = &SymbolTable{Symbols: make([]Symbol, 1)}
		}
		if len(table.Symbols) != len(theirs)+1 && len(theirs) > 0 {
			t.Errorf("%s: %s: %d symbols, want %d", name, kind.name, len(table.Symbols)-1, len(theirs))
			continue
		}
		for i, w := range theirs {
			s := &table.Symbols[i+1]
			if string(table.NameOf(s)) != w.Name || s.Value != w.Value && f.Type != elf.ET_REL || s.Size != w.Size || s.Other != w.Other ||
				s.Type != elf.ST_TYPE(w.Info) || s.Bind != elf.ST_BIND(w.Info) ||
				uint32(w.Section) < uint32(elf.SHN_LORESERVE) && s.Shndx != uint32(w.Section) {
				t.Errorf("%s: %s %d: %+v %q, want %+v", name, kind.name, i, s, table.NameOf(s), w)
				break
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	data := unxz(b, "g5.elf")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewFile("g5", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSymtab(b *testing.B) {
	s := symbolSpec(elf.ELFCLASS64, false)
	s.Sections[0].Data = bytes.Repeat(s.Sections[0].Data[:48], 50_000)
	s.Sections = s.Sections[:2]
	f := mustFile(b, s.Build())
	b.SetBytes(int64(len(s.Sections[0].Data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Symtab(); err != nil {
			b.Fatal(err)
		}
	}
}
