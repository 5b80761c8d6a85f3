package elfx

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"testing"

	"symkit/test/elftest"
)

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
		file, err := NewFile("fuzz", s.Build())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		useAll(t, file)
		if link, err := file.DebugLink(); err == nil && link.Name != "" && (filepath.Base(link.Name) != link.Name || !bytes.Contains(content, []byte(link.Name))) {
			t.Fatalf("%q", link.Name)
		}
		if link, err := file.AltLink(); err == nil && link.Path != "" && (!bytes.Contains(content, []byte(link.Path)) || !bytes.Contains(content, link.ID)) {
			t.Fatalf("%+v", link)
		}
		if id := file.BuildID(); len(id) > 0 && name == ".note.gnu.build-id" && !bytes.Contains(content, id) {
			t.Fatalf("build id %x", id)
		}
		if mini, err := file.DebugData(); err == nil && mini != nil {
			useAll(t, mini)
		}
	})
}
