package check

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/planted"
)

// verifySFrame returns the findings about an ELF file, and the notes.
func verifySFrame(t *testing.T, data []byte) ([]report.Finding, []string) {
	t.Helper()
	f, err := elfx.NewFile("x.so", data)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := SFrame(t.Context(), &elfx.Image{Main: f}, report.Options{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return rep.Findings, rep.Checks[0].Notes
}

// known are the differences of right files: what an assembler ignored (sframe/testdata/src/special-*.s).
func known(name string) bool {
	return strings.Contains(name, "special") && !strings.HasPrefix(name, "v3")
}

// consequences are causes that a defect can have beside its own.
var consequences = map[string][]string{
	"versions": {"unmerged"}, "damaged": {"unmerged"}, "discarded": {"only-eh-frame"}, "outside-code": {"only-eh-frame", "overlap"},
	"overlap": {"cfa", "frame-pointer", "return-address", "pac-state"}, "unsorted": nil,
}

// TestSFramePlanted plants defects into right libraries of all machines: each defect is named with its
// cause, and nothing is named in the right files.
func TestSFramePlanted(t *testing.T) {
	files, err := filepath.Glob("../dump/testdata/sframe/v[23]-*.so")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d libraries, %v", len(files), err)
	}
	kinds, total := map[string]int{}, 0
	for _, file := range files {
		name := filepath.Base(file)
		if known(name) || strings.Contains(name, "noeh") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := verifySFrame(t, data); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		for _, p := range planted.SFrames(data) {
			kinds[p.Kind]++
			total++
			found, _ := verifySFrame(t, p.Data)
			if !slices.ContainsFunc(found, func(f report.Finding) bool { return f.Cause == p.Cause }) {
				t.Errorf("%s: %s: no finding with cause %s: %v", name, p.Kind, p.Cause, found)
			}
			for _, f := range found {
				if f.Cause != p.Cause && !slices.Contains(consequences[p.Cause], f.Cause) {
					t.Errorf("%s: %s: also %s: %s", name, p.Kind, f.Cause, f.What)
				}
			}
		}
	}
	t.Logf("%d defects of %d kinds", total, len(kinds))
	if len(kinds) < 40 || total < 200 {
		t.Errorf("%d defects of %d kinds", total, len(kinds))
	}
}

// TestSFrameObject changes the relocations of an object: the start address of a function of another
// object, of a discarded one, and one that has no relocation at all.
func TestSFrameObject(t *testing.T) {
	data, err := os.ReadFile("../sframe/testdata/v3-amd64-rel.o")
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	const entry, infoAt = 24, 8
	at := int(f.Section(".rela.sframe").Offset) + 2*entry
	for _, c := range []struct {
		name, cause string
		change      func(data []byte)
	}{
		{"right", "", func([]byte) {}},
		{"undefined symbol", "outside-code", func(d []byte) { binary.LittleEndian.PutUint32(d[at+infoAt+4:], 0) }},
		{"R_NONE", "only-eh-frame", func(d []byte) { binary.LittleEndian.PutUint64(d[at+infoAt:], 0) }},
		{"no relocation", "outside-code", func(d []byte) { copy(d[at:at+entry], d[at-entry:at]) }},
	} {
		changed := bytes.Clone(data)
		c.change(changed)
		found, notes := verifySFrame(t, changed)
		if named := slices.ContainsFunc(found, func(f report.Finding) bool { return f.Cause == c.cause }); named != (c.cause != "") || c.cause == "" && len(found) > 0 {
			t.Errorf("%s: %v %q", c.name, found, notes)
		}
	}
}

// TestSFrameForms: sections that have nothing to verify, and files without .eh_frame, have no findings
// and say so.
func TestSFrameForms(t *testing.T) {
	data, err := os.ReadFile("../dump/testdata/sframe/v3-amd64-basic.so")
	if err != nil {
		t.Fatal(err)
	}
	bare, err := os.ReadFile("../dump/testdata/sframe/v3-amd64-basic-noeh.so")
	if err != nil {
		t.Fatal(err)
	}
	header := []byte{0xe2, 0xde, 3, 5, 3, 0, 0xf8, 27: 0}
	for _, c := range []struct {
		name string
		data []byte
		note string
	}{
		{"empty", planted.WithSFrame(data, nil), ".sframe is empty"},
		{"no FDEs", planted.WithSFrame(data, header), ".sframe describes no function"},
		{"no .eh_frame", bare, "no .eh_frame: rows are not compared"},
	} {
		found, notes := verifySFrame(t, c.data)
		if len(found) > 0 || !slices.ContainsFunc(notes, func(s string) bool { return strings.HasPrefix(s, c.note) }) {
			t.Errorf("%s: %v %q", c.name, found, notes)
		}
	}
}

// FuzzSFrame: whatever a section has, each finding names its cause, their number is that of the check,
// and a second look finds the same.
func FuzzSFrame(f *testing.F) {
	var files [][]byte
	for _, name := range []string{"v3-amd64-basic", "v2-aarch64-basic", "v3-aarch64be-basic", "v3-s390x-special"} {
		data, err := os.ReadFile("../dump/testdata/sframe/" + name + ".so")
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, data)
		for _, p := range planted.SFrames(data) {
			x, err := elfx.NewFile("x.so", p.Data)
			if err != nil {
				f.Fatal(err)
			}
			section, err := x.SectionData(".sframe")
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(len(files)-1), section)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, section []byte) {
		data := planted.WithSFrame(files[int(i)%len(files)], section)
		found, _ := verifySFrame(t, data)
		for _, f := range found {
			if f.Cause == "" || f.What == "" || f.Check != "sframe" {
				t.Fatalf("%+v", f)
			}
		}
		again, _ := verifySFrame(t, data)
		if !slices.EqualFunc(found, again, func(a, b report.Finding) bool { return a.Cause == b.Cause && a.Addr == b.Addr && a.What == b.What }) {
			t.Fatalf("%v\n%v", found, again)
		}
	})
}
