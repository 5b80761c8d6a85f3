package image

import (
	"errors"
	"path/filepath"
	"testing"

	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/test/testfile"
)

// object reads an object of elfx/testdata.
func object(t *testing.T, name string) *elfx.File {
	t.Helper()
	data, err := testfile.Read(filepath.Join("..", "..", "..", "..", "elfx", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.NewFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestUnrelocated: bytes that elfx has relocated are right, and the same bytes before
// relocation are not, whatever the form of the relocations.
func TestUnrelocated(t *testing.T) {
	for _, name := range []string{"crel-x86_64.o.xz", "crel-i686.o.xz", "crel-armv7.o.xz", "crel-powerpc64.o.xz", "crel-riscv64.o.xz",
		"rela-x86_64.o.xz", "rela-i686.o.xz", "rela-armv7.o.xz", "rela-powerpc64.o.xz", "rela-riscv64.o.xz", "reloc-mips64el.o.xz"} {
		f := object(t, name)
		wrong := Unrelocated(f)
		if len(wrong) > 0 {
			t.Errorf("%s: %v", name, wrong)
		}

		table, err := f.Symtab()
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i := range f.Sections {
			s := &f.Sections[i]
			target := &f.Sections[min(int(s.Info), len(f.Sections)-1)]
			if !isRelocationOf(s, target) {
				continue
			}
			raw, err := target.Raw()
			if err != nil {
				t.Fatal(err)
			}
			err = compareFields(s, target, raw, table.Symbols)
			e, ok := errors.AsType[*wire.Error](err)
			if ok && errors.Is(err, ErrNotRelocated) && e.Section == target.Name {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing is missed without relocation", name)
		}
	}
}
