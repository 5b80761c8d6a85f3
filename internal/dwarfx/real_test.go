package dwarfx

import (
	"bytes"
	"debug/elf"
	"iter"
	"path/filepath"
	"testing"

	"symkit/test/testfile"
)

// fixtures lists the ELF files under test: this package's and the module's.
func fixtures(t testing.TB) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"testdata/*.elf.xz", "../../testdata/elf/*.elf", "../../testdata/elf/*.so", "../../testdata/elf/*.elf.xz", "../../testdata/elf/*.debug"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) < 50 {
		t.Fatalf("%d fixtures", len(paths))
	}
	return paths
}

// openELF opens a file, decompressed where it is an .xz.
func openELF(t testing.TB, path string) *elf.File {
	t.Helper()
	data, err := testfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// elfSections reads the sections and the map of code of f. ok is false where
// it has no DWARF that stands by itself.
func elfSections(t testing.TB, f *elf.File) (s Sections, code CodeMap, ok bool) {
	t.Helper()
	if f.Type == elf.ET_REL || f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil || f.Section(".gnu_debugaltlink") != nil {
		return s, nil, false
	}
	for name, to := range map[string]*[]byte{
		"info": &s.Info, "abbrev": &s.Abbrev, "str": &s.Str, "line_str": &s.LineStr, "str_offsets": &s.StrOffsets,
		"addr": &s.Addr, "line": &s.Line, "ranges": &s.Ranges, "rnglists": &s.RngLists, "types": &s.Types,
	} {
		section := f.Section(".debug_" + name)
		if section == nil {
			section = f.Section(".zdebug_" + name)
		}
		if section == nil {
			continue
		}
		data, err := section.Data()
		if err != nil {
			t.Fatal(err)
		}
		if section.Name[1] == 'z' {
			return s, nil, false // GNU's own compression: no matter of this package
		}
		*to = data
	}
	var ranges []Range
	for _, section := range f.Sections {
		if section.Flags&elf.SHF_EXECINSTR != 0 {
			ranges = append(ranges, Range{Lo: section.Addr, Hi: section.Addr + section.Size})
		}
	}
	s.BigEndian = f.Data == elf.ELFDATA2MSB
	s.AddrSize = 8
	if f.Class == elf.ELFCLASS32 {
		s.AddrSize = 4
	}
	return s, NewCodeMap(ranges), true
}

// openReal opens the DWARF of a file.
func openReal(t testing.TB, path string) *Data {
	t.Helper()
	s, code, ok := elfSections(t, openELF(t, path))
	if !ok {
		t.Fatalf("%s has no DWARF", path)
	}
	d, errs := Open(s, code)
	for _, err := range errs {
		t.Fatal(err)
	}
	return d
}

// TestTextsOfOneTable: a table that is read after one with embedded texts has none of these.
func TestTextsOfOneTable(t *testing.T) {
	object := openELF(t, "../../testdata/sources/embedded.o")
	var s Sections
	for name, to := range map[string]*[]byte{"info": &s.Info, "abbrev": &s.Abbrev, "line": &s.Line, "line_str": &s.LineStr, "str": &s.Str} {
		data, err := object.Section(".debug_" + name).Data() // relocated or not, the files have texts
		if err != nil {
			t.Fatal(err)
		}
		*to = data
	}
	s.AddrSize = 8
	embedded, _ := Open(s, NewCodeMap(nil))

	table := LineTable{Texts: true}
	texts := func(d *Data) (n int) {
		for _, u := range d.Units {
			err := table.ReadFiles(u)
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint32(8) {
				if table.Text(i).Source != nil {
					n++
				}
			}
		}
		return n
	}
	for _, name := range []string{"cxx-x86_64-gcc12-O0-dw4-64.elf", "hello-x86_64-gcc12-O2-dw5.elf"} {
		with, without := texts(embedded), texts(openReal(t, "../../testdata/elf/"+name))
		if with == 0 || without != 0 {
			t.Errorf("%s: %d texts; the table before had %d", name, without, with)
		}
	}
}

// eachFixture yields the path and the debug information of every fixture that has some.
func eachFixture(t testing.TB) iter.Seq2[string, *Data] {
	return func(yield func(string, *Data) bool) {
		for _, path := range fixtures(t) {
			s, code, ok := elfSections(t, openELF(t, path))
			if !ok {
				continue
			}
			d, errs := Open(s, code)
			for _, err := range errs {
				t.Error(err)
			}
			if !yield(path, d) {
				return
			}
		}
	}
}
