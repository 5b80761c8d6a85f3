package elfx

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/located"
	"symkit/test/elftest"
)

func checkPlain(t *testing.T, f *File, class elf.Class, big bool) {
	t.Helper()
	if f.Class != class || f.BigEndian != big || f.Machine != elf.EM_PPC64 || f.Type != elf.ET_DYN ||
		f.Flags != 2 || f.Entry != elftest.LoadBase+0x1000 {
		t.Errorf("header %+v", f.Header)
	}
	if len(f.Losses()) != 0 || len(f.Sections) != 7 || len(f.Segments) != 2 {
		t.Errorf("losses %v, %d sections, %d segments", f.Losses(), len(f.Sections), len(f.Segments))
	}
	if s := f.Section(".text"); s == nil || s.Addr != elftest.LoadBase+s.Offset || s.Size != 40 || s.Align != 16 || s.Index != 1 {
		t.Errorf(".text %+v", s)
	}
	if data, err := f.SectionData(".debug_info"); string(data) != "hello" || err != nil {
		t.Errorf(".debug_info %q, %v", data, err)
	}
	if data, err := f.SectionData(".debug_str"); data == nil || len(data) != 0 || err != nil {
		t.Errorf("empty section: %v, %v; want not nil", data, err)
	}
	for _, absent := range []string{".bss", ".debug_line"} {
		if data, err := f.SectionData(absent); data != nil || err != nil {
			t.Errorf("%s: %v, %v; want nil", absent, data, err)
		}
	}
	_, err := f.Section(".bss").Data()
	elftest.WantError(t, err, errAbsent, ".bss", 0)
	if !f.HoldsLoaded() || f.LoadAddress() != elftest.LoadBase || string(f.BuildID()) != "0123456789abcdefghij" {
		t.Errorf("loaded %v, load address %#x, build id %q", f.HoldsLoaded(), f.LoadAddress(), f.BuildID())
	}
}

// gABI, "ELF Header": every class and byte order, and extended numbering.
func TestHeaders(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		checkPlain(t, mustFile(t, elftest.Plain(class, big).Build()), class, big)
		s := elftest.Plain(class, big)
		s.Extended = true
		checkPlain(t, mustFile(t, s.Build()), class, big)
	})
}

// A header cut at any byte gives a located error; a file cut behind its headers
// still opens, by its program headers.
func TestTruncated(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		l := elftest.Plain(class, big).Layout()
		ehsize := 64
		if class == elf.ELFCLASS32 {
			ehsize = 52
		}
		for n := range l.Data {
			f, err := NewFile("cut", l.Data[:n])
			switch {
			case n < 4:
				elftest.WantError(t, err, ErrNotELF, "ELF header", 0)
			case n < ehsize:
				e, ok := errors.AsType[*located.Error](err)
				if !ok || e.Section != "ELF header" || e.Err != located.ErrTruncated || e.Offset > n {
					t.Errorf("cut at %d: %v", n, err)
				}
			case n < ehsize+2*l.Phsize:
				elftest.WantError(t, err, located.ErrTruncated, "section headers", 0)
			case err != nil:
				t.Errorf("cut at %d: %v", n, err)
			case len(f.Losses()) == 0:
				t.Errorf("cut at %d: no loss", n)
			default:
				useAll(t, f)
			}
		}
	})
}

func TestHeaderErrors(t *testing.T) {
	le := func(data []byte, at int, b ...byte) { copy(data[at:], b) }
	noSegments := func() *elftest.Spec { s := elftest.Plain(elf.ELFCLASS64, false); s.Segments = nil; return s }
	noSections := func() *elftest.Spec { s := elftest.Plain(elf.ELFCLASS64, false); s.NoSections = true; return s }
	for _, test := range []struct {
		name    string
		spec    *elftest.Spec
		damage  func(data []byte)
		want    error
		section string
		offset  int
	}{
		{"class", elftest.Plain(0, false), func(d []byte) { d[4] = 3 }, errIdent, "ELF header", 4},
		{"order", elftest.Plain(0, false), func(d []byte) { d[5] = 0 }, errIdent, "ELF header", 5},
		{"version", elftest.Plain(0, false), func(d []byte) { d[6] = 2 }, errIdent, "ELF header", 6},
		{"e_shentsize", noSegments(), func(d []byte) { le(d, 58, 65) }, errEntrySize, "ELF header", 58},
		{"e_phentsize", noSections(), func(d []byte) { le(d, 54, 55) }, errEntrySize, "ELF header", 54},
		{"e_phnum", noSections(), func(d []byte) { le(d, 56, 0xff, 0xff) }, errNoFirst, "ELF header", 56},
		{"e_shoff", noSegments(), func(d []byte) { le(d, 40+7, 1) }, located.ErrTruncated, "section headers", 0},
		{"e_shnum", noSegments(), func(d []byte) { le(d, 60, 200) }, located.ErrTruncated, "section headers", 7 * 64},
		{"e_phoff", noSections(), func(d []byte) { le(d, 32+7, 1) }, located.ErrTruncated, "program headers", 0},
	} {
		data := test.spec.Build()
		test.damage(data)
		_, err := NewFile("bad", data)
		t.Run(test.name, func(t *testing.T) { elftest.WantError(t, err, test.want, test.section, test.offset) })
	}
}

// Damage that the other table makes up for is a loss, not an error.
func TestLosses(t *testing.T) {
	for _, test := range []struct {
		name    string
		damage  func(l *elftest.Placed)
		want    error
		section string
		offset  int
	}{
		{"section headers", func(l *elftest.Placed) { l.Data[40+7] = 1 }, located.ErrTruncated, "section headers", 0},
		{"e_shentsize", func(l *elftest.Placed) { l.Data[58] = 1 }, errEntrySize, "ELF header", 58},
		{"program headers", func(l *elftest.Placed) { l.Data[32+7] = 1 }, located.ErrTruncated, "program headers", 0},
		{"e_shstrndx", func(l *elftest.Placed) { l.Data[62] = 1 }, errStrings, "ELF header", 62},
		{"e_shstrndx outside", func(l *elftest.Placed) { l.Data[63] = 1 }, errStrings, "ELF header", 62},
		{"sh_name", func(l *elftest.Placed) { l.Data[l.Shoff+2*64+3] = 1 }, located.ErrOffset, "section headers", 128},
		{"names outside", func(l *elftest.Placed) { l.Data[l.Shoff+6*64+24+7] = 1 }, located.ErrTruncated, "section 6", 0},
		{"names too large", func(l *elftest.Placed) { l.Data[l.Shoff+6*64+32+7] = 1 }, errStrings, "section 6", 0},
		{"note", func(l *elftest.Placed) { l.Data[l.Offset[".note.gnu.build-id"]+5] = 1 }, located.ErrTruncated, ".note.gnu.build-id", 16},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := elftest.Plain(elf.ELFCLASS64, false).Layout()
			test.damage(l)
			f := mustFile(t, l.Data)
			if len(f.Losses()) == 0 {
				t.Fatal("no loss")
			}
			elftest.WantError(t, f.Losses()[0], test.want, test.section, test.offset)
			if test.name != "note" && f.BuildID() == nil {
				t.Error("build id lost")
			}
			useAll(t, f)
		})
	}
}

// A core file opens; its type is ET_CORE.
func TestCoreFile(t *testing.T) {
	s := &elftest.Spec{Kind: elf.ET_CORE, NoSections: true, Segments: []elftest.Seg{{Kind: elf.PT_NOTE}}}
	if f := mustFile(t, s.Build()); f.Type != elf.ET_CORE {
		t.Errorf("type %v", f.Type)
	}
}

func TestNotELF(t *testing.T) {
	for data, want := range map[string]string{
		"":                             "x: ELF header+0x0: not an ELF file: it is empty",
		"\x7fEL":                       "x: ELF header+0x0: not an ELF file",
		"not really ELF\n":             "x: ELF header+0x0: not an ELF file: it is a text file",
		"#!/bin/sh\n":                  "x: ELF header+0x0: not an ELF file: it is a script",
		"!<arch>\nfoo.o/":              "x: ELF header+0x0: not an ELF file: it is an ar archive",
		"MODULE Linux x86_64 0 a\n":    "x: ELF header+0x0: not an ELF file: it is a Breakpad symbol file, which symcheck lint reads",
		strings.Repeat("ß", 400)[1:]:   "x: ELF header+0x0: not an ELF file",
		"a" + strings.Repeat("ß", 400): "x: ELF header+0x0: not an ELF file: it is a text file",
		"\x00\x01\x02\x03":             "x: ELF header+0x0: not an ELF file",
	} {
		_, err := NewFile("x", []byte(data))
		if err == nil || err.Error() != want || !errors.Is(err, ErrNotELF) {
			t.Errorf("%.12q: %v\nwant %s", data, err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "good")
	data := elftest.Plain(elf.ELFCLASS32, true).Build()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	checkPlain(t, f, elf.ELFCLASS32, true)
	if f.Path() != path || f.Size() != len(data) || f.Info() == nil {
		t.Errorf("path %s, size %d, info %v", f.Path(), f.Size(), f.Info())
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}

	if _, err = Open(dir); !errors.Is(err, ErrNotRegular) || !strings.HasPrefix(err.Error(), dir+": ") || !strings.HasSuffix(err.Error(), "it is a directory") {
		t.Errorf("directory: %v", err)
	}
	gone := filepath.Join(dir, "gone")
	if _, err = Open(gone); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), gone) != 1 {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(gone, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Open(gone)
	elftest.WantError(t, err, ErrNotELF, "ELF header", 0)
}
