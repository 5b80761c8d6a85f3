package check

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx/identity"
)

// TestNoBuildID checks that a file without a build id has Breakpad's hash of its code as id.
func TestNoBuildID(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5-nobuildid.elf"
	img := openTest(t, filepath.Join("..", "testdata", "elf", name), name)
	const module = "MODULE Linux x86_64 BB6F393111F5ABE8D511E5FFF1E17A250 " + name + "\n"
	for _, test := range []struct {
		text, id string
		findings uint64
	}{
		{text: module},
		{text: module + "INFO CODE_ID 31396FBBF511E8ABD511E5FFF1E17A25\n"}, // as Breakpad writes it
		{text: module + "INFO CODE_ID 31396FBBF511E8ABD511E5FFF1E17A26\n", findings: 1},
		{text: "MODULE Linux x86_64 ABCD " + name + "\n", findings: 1},
		{text: "MODULE Linux x86_64 ABCD " + name + "\n", id: "abcd"},
		{text: module, id: "abcd"},
		{text: "MODULE Linux x86_64 ABCE " + name + "\n", id: "abcd", findings: 1},
	} {
		rep := mustCheck(t, img, []byte(test.text), Options{Options: report.Options{Only: []string{checks.Module}}, ID: test.id})
		if rep.Total() != test.findings {
			t.Errorf("%q, --id=%s: %s", test.text, test.id, text(t, rep))
		}
	}
}

// TestNoBuildIDAtTheEnd checks that the last block of the code goes on in the file where its
// segment ends inside the block, as the block that a dump hashes does.
func TestNoBuildIDAtTheEnd(t *testing.T) {
	data := readTest(t, filepath.Join("..", "testdata", "elf", "cxx-x86_64-gcc12-O2-dw5-nobuildid.elf"))
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	code := e.Section(".text")
	const headers, size, fileSize = 64, 56, 32 // of an Elf64_Ehdr, an Elf64_Phdr, p_filesz in it
	for _, cut := range []uint64{0, 1, 5} {    // from the end of the section, which moves with the segment's
		cutData := bytes.Clone(data)
		for i, p := range e.Progs {
			if p.Vaddr <= code.Addr && code.Addr < p.Vaddr+p.Filesz {
				binary.LittleEndian.PutUint64(cutData[headers+i*size+fileSize:], code.Addr+code.Size-cut-p.Vaddr)
			}
		}
		for i, s := range e.Sections {
			if s == code {
				const shoff, entry, shSize = 40, 64, 32
				at := binary.LittleEndian.Uint64(cutData[shoff:]) + uint64(i)*entry + shSize
				binary.LittleEndian.PutUint64(cutData[at:], code.Size-cut)
			}
		}
		img := openData(t, cutData, "prog")
		code, err := identity.Of(img)
		if err != nil {
			t.Fatal(err)
		}
		rep := mustCheck(t, img, []byte("MODULE Linux x86_64 "+identity.ModuleID(code, false)+" prog\n"), Options{Options: report.Options{Only: []string{checks.Module}}})
		if rep.Total() > 0 {
			t.Errorf("%d bytes less: %s", cut, text(t, rep))
		}
	}
}

// TestCodeOutsideOfText checks that the id of a file without .text is made of its other code.
func TestCodeOutsideOfText(t *testing.T) {
	data := readTest(t, filepath.Join("..", "testdata", "elf", "cxx-x86_64-gcc12-O2-dw5-nobuildid.elf"))
	data = bytes.Replace(data, []byte("\x00.text\x00"), []byte("\x00.tixt\x00"), 1)
	img := openData(t, data, "prog")
	code, err := identity.Of(img)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		id       string
		findings uint64
	}{{identity.ModuleID(code, false), 0}, {strings.Repeat("0", 33), 1}} {
		rep := mustCheck(t, img, []byte("MODULE Linux x86_64 "+test.id+" prog\n"), Options{Options: report.Options{Only: []string{checks.Module}}})
		if k := rep.Check(checks.Module); k.Unverified > 0 || uint64(rep.Total()) != test.findings {
			t.Errorf("%s: %s", test.id, text(t, rep))
		}
	}
}
