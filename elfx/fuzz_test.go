package elfx

import (
	"debug/elf"
	"errors"
	"testing"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
	"symkit/test/elftest"
)

// useAll calls every accessor; each error must have a place.
func useAll(t *testing.T, f *File) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err == nil {
			return
		}
		if e, ok := errors.AsType[*located.Error](err); !ok || e.Section == "" || e.Offset < 0 {
			t.Fatalf("error without a place: %v", err)
		}
	}
	for _, err := range f.Losses() {
		check(err)
	}
	inflated := 0
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.compressed() {
			// Each may inflate to bounds.FreeSize, so only the first ones are read.
			if inflated++; inflated > 4 {
				continue
			}
		}
		size, err := s.UncompressedSize()
		check(err)
		data, dataErr := s.Data()
		check(dataErr)
		if dataErr == nil && (err != nil || uint64(len(data)) != size) {
			t.Fatalf("%s: %d bytes, announced %d, %v", s.label(), len(data), size, err)
		}
		_, err = s.Relocs()
		check(err)
	}
	for i := range f.synthetic {
		_, err := f.synthetic[i].Data()
		check(err)
	}
	for _, read := range []func() (*SymbolTable, error){f.Symtab, f.Dynsym} {
		table, err := read()
		check(err)
		if table == nil {
			continue
		}
		if len(table.Symbols)*16 > f.Size()*(limits.Limits{}).Int(limitof.InflateRatio)+bounds.FreeSize {
			t.Fatalf("%d symbols in %d bytes", len(table.Symbols), f.Size())
		}
		for j := range table.Symbols {
			if n := len(table.NameOf(&table.Symbols[j])); n > maxSymbolName {
				t.Fatalf("name of %d bytes", n)
			}
		}
	}
	var err error
	_, err = Soname(f)
	check(err)
	mini, err := DebugData(f)
	check(err)
	if mini != nil {
		useAll(t, mini)
	}
	for _, err := range f.RelocLosses() {
		check(err)
	}
	var end uint64
	for i, r := range f.ExecRanges() {
		if r.Hi <= r.Lo || i > 0 && r.Lo <= end {
			t.Fatalf("range %#x after %#x", r, end)
		}
		end = r.Hi
	}
	f.BytesAt(f.LoadAddress(), 64)
	f.BytesAt(f.Entry, 1)
}

func FuzzOpen(f *testing.F) {
	for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
		for _, big := range []bool{false, true} {
			f.Add(elftest.Plain(class, big).Build())
			f.Add(dynamicSpec(class, big, true).Build())
			f.Add(dynamicSpec(class, big, false).Build())
			f.Add(unwindSpec(class, big).Build())
		}
	}
	f.Add(compressedSpec().Build())
	f.Add(symbolSpec(elf.ELFCLASS64, true).Build())
	f.Add(crelSpec(elf.ELFCLASS64, shtCrelLLVM, []byte{2<<3 | 4, 2<<3 | 7, 5, 1, 0x7d, 8 << 3}).Build())
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		file, err := NewFile("fuzz", data)
		if err != nil {
			if _, ok := errors.AsType[*located.Error](err); !ok {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		useAll(t, file)
	})
}
