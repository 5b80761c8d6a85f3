package single_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/dump/single"
	"symkit/elfx/companion"
	"symkit/test/elftest"
)

// TestOtherFormats: debug information that is not DWARF is named; only a file without any was stripped.
func TestOtherFormats(t *testing.T) {
	for section, want := range map[string]string{
		".comment": "app: has no debug information: no functions",
		".stab":    "app: its debug information is stabs, which is not read: no functions",
		".debug":   "app: its debug information is DWARF 1, which is not read: no functions",
		".mdebug":  "app: its debug information is ECOFF, which is not read: no functions",
	} {
		spec := elftest.Plain(elf.ELFCLASS64, false)
		spec.Sections = spec.Sections[:3] // no DWARF
		text := spec.Layout().Addr[".text"]
		const function = 0x12 // global
		spec.Sections = append(spec.Sections,
			elftest.Sec{Name: section, Kind: elf.SHT_PROGBITS, Data: make([]byte, 12)},
			elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 1, Entsize: 24,
				Data: spec.Enc().Sym(0, 0, 0, 0, 0, 0).Sym(1, text, 8, function, 0, 1).B},
			elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Data: []byte("\x00main\x00")})
		path := filepath.Join(t.TempDir(), "app")
		err := os.WriteFile(path, spec.Build(), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		opened, warnings, err := companion.Open(t.Context(), []string{path}, companion.Search{})
		if err != nil {
			t.Fatal(err)
		}
		m := single.New(opened, warnings)
		_, err = m.Dump(t.Context(), single.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Stripped == nil || !strings.Contains(m.Stripped.Error(), want) {
			t.Errorf("%s: %v, want %s", section, m.Stripped, want)
		}
		opened.Close()
	}
}
