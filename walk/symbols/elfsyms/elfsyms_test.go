package elfsyms

import (
	"testing"

	"symkit/elfx"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// TestSupplier: symbols of a module's file; why there are none of another one.
func TestSupplier(t *testing.T) {
	const exe = "../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"
	f, err := elfx.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &Supplier{Files: &sources.Files{Exe: exe}}
	defer s.Files.Close()

	got := s.Symbols(t.Context(), &walk.Module{Path: "/bin/app", Name: "app", BuildID: f.BuildID()})
	if got.Index == nil || got.From != exe {
		t.Fatalf("%+v", got)
	}
	main, ok := got.Index.Symbol(f.Entry - f.LoadAddress())
	if name := main.Calls[len(main.Calls)-1].Func; !ok || string(name) != "_start" {
		t.Errorf("%q is at the entry point", name)
	}
	if got.Heap == 0 {
		t.Error("symbols without memory")
	}

	got = s.Symbols(t.Context(), &walk.Module{Path: "/none", BuildID: []byte{1, 2, 3}})
	if got.Index != nil || got.From != "" || len(got.Tried) != 4 {
		t.Errorf("%+v", got)
	}
}
