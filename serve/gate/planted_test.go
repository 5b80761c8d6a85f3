package gate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/elfx/companion"
	"symkit/test/planted"
	"symkit/test/testfile"
)

// TestPlanted: of right symbol files none is refused, and wrong ones of all kinds are. A wrong one that is in the store
// loses to the right one, although it says more. (That symcheck refutes 1,000 wrong files is tested in test/planted.)
func TestPlanted(t *testing.T) {
	const dir = "../../testdata/elf/"
	each := 40
	if testing.Short() {
		each = 4
	}
	modules, refused, replaced := 0, 0, 0
	for _, name := range testfile.Programs(t, dir) {
		if !strings.HasPrefix(name, "cxx-x86_64") && !strings.HasPrefix(name, "hello-") || strings.Contains(name, "split") || strings.Contains(name, "dwz") /* its file of names is not there */ || strings.Contains(name, "stripped") || !strings.HasSuffix(name, ".elf") {
			continue
		}
		data, err := testfile.Read(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		err = os.WriteFile(path, data, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := companion.Open(t.Context(), []string{path}, companion.Search{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		d, err := dump.Dump(t.Context(), m.Image, dump.Options{Inlines: true})
		if err != nil {
			continue // a fixture of damage
		}
		var sym bytes.Buffer
		err = d.Write(&sym)
		if err != nil {
			t.Fatal(err)
		}
		modules++
		decide := func(text, stored []byte) Decision {
			got, err := Decide(t.Context(), Input{Key: Key{d.Name, d.ID}, Sym: text, Accept: Check, ELF: &ELF{m.Image, m.Companions, "the test"}, Stored: stored})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := decide(sym.Bytes(), nil); got.Verdict != New {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for _, kind := range planted.Kinds() {
			wrong, what, ok := planted.Plant(sym.Bytes(), kind, uint64(modules))
			if !ok {
				continue
			}
			got := decide(wrong, nil)
			if got.Verdict != Refused {
				t.Errorf("%s: %s: %+v: %s", name, kind, got, what)
			}
			refused++
			got = decide(sym.Bytes(), append(wrong, "PUBLIC fffff000 0 more\nPUBLIC fffff100 0 more\n"...))
			if got.Verdict != Better {
				t.Errorf("%s: %s in the store: %+v: %s", name, kind, got, what)
			}
			if strings.HasPrefix(got.Why, "the symbol file in the store would be refused: ") {
				replaced++
			}
		}
		if modules == each {
			break
		}
	}
	if refused < 20*modules || replaced < 5*modules {
		t.Errorf("%d modules, %d wrong files refused, %d that said more replaced", modules, refused, replaced)
	}
	t.Logf("%d modules, %d wrong files refused, %d that said more replaced", modules, refused, replaced)
}
