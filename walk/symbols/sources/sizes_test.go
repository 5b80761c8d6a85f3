package sources

import (
	"context"
	"testing"

	"symkit/elfx"
	"symkit/emit"
	"symkit/walk"
)

// textOf supplies one symbol file.
type textOf string

func (s textOf) Symbols(context.Context, *walk.Module) *walk.Symbols {
	return &walk.Symbols{Index: emit.NewIndex([]byte(s))}
}

// TestSized: the symbol file of another program has no sizes; the ELF file has them.
func TestSized(t *testing.T) {
	const exe = "../../../testdata/elf/lang-x86_64-gcc12-O2-dw4.elf" // memset has 0x20 bytes at 0x1630
	const publics = "MODULE Linux x86_64 0 x\nPUBLIC 1630 0 memset\n"
	f, err := elfx.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := &walk.Module{Path: "/bin/app", Name: "app", BuildID: f.BuildID()}
	for _, test := range []struct {
		name, text, exe string
		addr            uint64
		found, after    bool
	}{
		{"in the symbol", publics, exe, 0x164f, true, false},
		{"after it", publics, exe, 0x1650, false, false},
		{"no file", publics, "", 0x1650, true, true},
		{"the symbol file has sizes of its own", publics + "INFO PUBLIC_SIZES 1630 1630 21\n", exe, 0x1650, true, false},
	} {
		s := &Sized{Supplier: textOf(test.text), Files: func() *Files { return &Files{Exe: test.exe} }}
		got, ok := s.Symbols(t.Context(), m).Index.Symbol(test.addr)
		if ok != test.found || got.After != test.after {
			t.Errorf("%s: %v, %+v", test.name, ok, got)
		}
	}
}
