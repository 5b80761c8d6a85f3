package check

import (
	"path/filepath"
	"testing"
)

// A file without build id has the id of Breakpad's hash of its code.
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
		rep := mustReplay(t, img, []byte(test.text), Options{ID: test.id, Only: []string{CheckModule}})
		if rep.Total() != test.findings {
			t.Errorf("%q, --id=%s: %s", test.text, test.id, text(t, rep))
		}
	}
}
