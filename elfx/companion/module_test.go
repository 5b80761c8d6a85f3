package companion

import (
	"debug/elf"
	"errors"
	"hash/crc32"
	"path/filepath"
	"slices"
	"testing"

	"symkit/elfx"
	"symkit/test/elftest"
)

// TestOpen: the debug file is looked for where it is needed, joined where
// it fits, and its absence or misfit is reported.
func TestOpen(t *testing.T) {
	const class = elf.ELFCLASS64
	fits := elftest.DebugSpec(class, false)
	moved := elftest.DebugSpec(class, false)
	moved.Segments[0].Section = ".note.gnu.build-id" // code at another address
	for _, test := range []struct {
		name     string
		main     *elftest.Spec
		debug    *elftest.Spec
		linked   bool
		missing  string
		mismatch error
	}{
		{name: "fits", main: elftest.StrippedSpec(class, false), debug: fits, linked: true},
		{name: "misfit", main: elftest.StrippedSpec(class, false), debug: moved, linked: true, mismatch: elfx.ErrOtherLayout},
		{name: "missing", main: elftest.StrippedSpec(class, false), linked: true, missing: "x.debug"},
		{name: "no link", main: elftest.StrippedSpec(class, false)},
		{name: "not needed", main: elftest.Plain(class, false), debug: fits, linked: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prog")
			var debug []byte
			if test.debug != nil {
				debug = test.debug.Build()
				elftest.Write(t, path[:len(path)-len("prog")]+"x.debug", debug)
			}
			if test.linked {
				test.main.Sections = append(test.main.Sections, test.main.LinkSection("x.debug", crc32.ChecksumIEEE(debug)))
			}
			elftest.Write(t, path, test.main.Build())

			m, warnings, err := Open(t.Context(), []string{path}, Search{DebugDirs: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			var want []Warning
			switch {
			case test.missing != "":
				want = []Warning{{Missing, test.missing, DebugFile, nil}}
			case test.mismatch != nil:
				want = []Warning{{Misfit, filepath.Join(filepath.Dir(path), "x.debug"), DebugFile, nil}}
			}
			for _, w := range warnings {
				if !errors.Is(w, test.mismatch) && test.mismatch != nil {
					t.Errorf("%v", w)
				}
			}
			if !slices.EqualFunc(warnings, want, func(a, b Warning) bool { return a.Problem == b.Problem && a.Path == b.Path && a.What == b.What }) {
				t.Errorf("warnings %v", warnings)
			}
			if joined := m.Image.Debug != nil; joined != (test.name == "fits") {
				t.Errorf("debug file: %v", joined)
			}
			if searched := m.Probes != nil; searched != (test.linked && test.name != "not needed") {
				t.Errorf("%d places were looked at", len(m.Probes))
			}
			if m.Image.Main.Path() != path || m.Companions == nil {
				t.Errorf("main file %s", m.Image.Main.Path())
			}
		})
	}
	if _, _, err := Open(t.Context(), []string{filepath.Join(t.TempDir(), "absent")}, Search{}); err == nil {
		t.Error("an absent file was opened")
	}
}
