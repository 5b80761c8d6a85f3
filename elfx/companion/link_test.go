package companion

import (
	"bytes"
	"debug/elf"
	"errors"
	"path/filepath"
	"testing"

	"symkit/elfx"
	"symkit/located"
	"symkit/test/elftest"
)

// gABI has nothing on it: GDB manual, "Separate Debug Files".
func TestDebugLink(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := &elftest.Spec{Class: class, Big: big}
		s.Sections = []elftest.Sec{s.LinkSection("a.debug", 0x12345678),
			{Name: ".gnu_debugaltlink", Kind: elf.SHT_PROGBITS, Data: []byte("../.dwz/x\x00ID")}}
		f := mustFile(t, s.Build())
		if link, err := readDebugLink(f); link != (debugLink{"a.debug", 0x12345678}) || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
		if link, err := ReadAltLink(f); link.Path != "../.dwz/x" || string(link.ID) != "ID" || link.Sup || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
	})
	none := mustFile(t, (&elftest.Spec{}).Build())
	if link, err := readDebugLink(none); link.Name != "" || err != nil {
		t.Errorf("no link: %+v, %v", link, err)
	}
	for _, test := range []struct {
		section, data string
		want          error
		offset        int
	}{
		{".gnu_debuglink", "abc", located.ErrUnterminated, 0},
		{".gnu_debuglink", "abc\x00\x01\x02", located.ErrTruncated, 4},
		{".gnu_debuglink", "\x00\x00\x00\x00\x01\x02\x03\x04", errLinkName, 0},
		{".gnu_debuglink", "../../x\x00\x01\x02\x03\x04", errLinkName, 0},
		{".gnu_debugaltlink", "abc", located.ErrUnterminated, 0},
		{".gnu_debugaltlink", "\x00ID", errLinkName, 0},
	} {
		f := mustFile(t, (&elftest.Spec{Sections: []elftest.Sec{{Name: test.section, Kind: elf.SHT_PROGBITS, Data: []byte(test.data)}}}).Build())
		_, err := readDebugLink(f)
		if test.section == ".gnu_debugaltlink" {
			_, err = ReadAltLink(f)
		}
		elftest.WantError(t, err, test.want, test.section, test.offset)
	}
}

func TestSup(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		link, err := ReadAltLink(mustFile(t, elftest.SupSpec(class, big, 0, "../x", "SUM").Build()))
		if link.Path != "../x" || string(link.ID) != "SUM" || !link.Sup || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
		// What is supplementary itself refers to nothing.
		link, err = ReadAltLink(mustFile(t, elftest.SupSpec(class, big, 1, "", "SUM").Build()))
		if link.Path != "" || link.Sup || err != nil {
			t.Errorf("supplementary: %+v, %v", link, err)
		}
	})
	for _, test := range []struct {
		name, data string
		want       error
		offset     int
	}{
		{"no version", "\x05", located.ErrTruncated, 0},
		{"version", "\x04\x00\x00x\x00\x00", errSupVersion, 0},
		{"no flag", "\x05\x00", located.ErrTruncated, 2},
		{"path", "\x05\x00\x00abc", located.ErrUnterminated, 3},
		{"no path", "\x05\x00\x00\x00\x00", errLinkName, 3},
		{"no length", "\x05\x00\x00x\x00", located.ErrTruncated, 5},
		{"length", "\x05\x00\x00x\x00\x80", located.ErrTruncated, 6},
		{"checksum", "\x05\x00\x00x\x00\x04abc", located.ErrTruncated, 6},
	} {
		t.Run("DWARF 5 §7.3.6 "+test.name, func(t *testing.T) {
			s := &elftest.Spec{Sections: []elftest.Sec{{Name: ".debug_sup", Kind: elf.SHT_PROGBITS, Data: []byte(test.data)}}}
			f := mustFile(t, s.Build())
			_, err := ReadAltLink(f)
			elftest.WantError(t, err, test.want, ".debug_sup", test.offset)
		})
	}
}

// linkSections hold what FuzzLinks varies.
var linkSections = []string{".gnu_debuglink", ".gnu_debugaltlink", ".debug_sup", ".gnu_debugdata", ".note.gnu.build-id", ".dynamic"}

// FuzzLinks: sections that name or hold companions are read within their bounds, or fail at a
// place inside; names have no directory, ids and paths alias nothing outside.
func FuzzLinks(f *testing.F) {
	for i, content := range []string{
		"a.debug\x00\x01\x02\x03\x04", "../a.dwz\x0001234567890123456789", "\x05\x00\x00a.sup\x00\x0412345678",
		"\xfd7zXZ\x00", "\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x0001234567890123456789", "",
	} {
		f.Add(byte(i), false, []byte(content))
		f.Add(byte(i), true, []byte(content))
	}
	f.Fuzz(func(t *testing.T, which byte, big bool, content []byte) {
		if len(content) > 1<<12 {
			return
		}
		s := elftest.Plain(elf.ELFCLASS64, big)
		name, kind := linkSections[int(which)%len(linkSections)], elf.SHT_PROGBITS
		switch name {
		case ".note.gnu.build-id":
			kind = elf.SHT_NOTE
		case ".dynamic":
			kind = elf.SHT_DYNAMIC
		}
		s.Sections = append(s.Sections, elftest.Sec{Name: name, Kind: kind, Data: content})
		file, err := elfx.NewFile("fuzz", s.Build())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if link, err := readDebugLink(file); err == nil && link.Name != "" && (filepath.Base(link.Name) != link.Name || !bytes.Contains(content, []byte(link.Name))) {
			t.Fatalf("%q", link.Name)
		}
		if link, err := ReadAltLink(file); err == nil && link.Path != "" && (!bytes.Contains(content, []byte(link.Path)) || !bytes.Contains(content, link.ID)) {
			t.Fatalf("%+v", link)
		}
		if id := file.BuildID(); len(id) > 0 && name == ".note.gnu.build-id" && !bytes.Contains(content, id) {
			t.Fatalf("build id %x", id)
		}
		if mini, err := elfx.DebugData(file); err == nil && mini != nil {
			if _, err := mini.Symtab(); err != nil && !errors.As(err, new(*located.Error)) {
				t.Fatalf("error without a place: %v", err)
			}
		}
	})
}
