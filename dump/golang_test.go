package dump

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx"
	"symkit/test/testfile"
)

// TestGoReleases compares a stripped program of each Go release with what the
// DWARF of the same program has for package main.
func TestGoReleases(t *testing.T) {
	goldens, err := filepath.Glob("../testdata/go/*.sym")
	if err != nil || len(goldens) < 12 {
		t.Fatalf("%v, %d files", err, len(goldens))
	}
	for _, golden := range goldens {
		name := strings.TrimSuffix(golden, ".sym")
		t.Run(filepath.Base(name), func(t *testing.T) {
			want, err := testfile.Read(golden)
			if err != nil {
				t.Fatal(err)
			}
			data, err := testfile.Read(name + ".elf")
			if err != nil {
				t.Fatal(err)
			}
			f, err := elfx.NewFile("prog", data)
			if err != nil {
				t.Fatal(err)
			}
			m, got := dumpText(t, f, Options{Inlines: true})
			if len(m.Stats.Losses) > 0 {
				t.Errorf("losses: %v", m.Stats.Losses)
			}
			if diff := cmp.Diff(packageMain(string(want)), packageMain(string(got))); diff != "" {
				t.Errorf("DWARF (-) and .gopclntab (+):\n%s", diff)
			}
		})
	}
}

// packageMain returns the FUNC records of package main with their INLINE and line
// records, in which numbers of files and origins are replaced by names.
func packageMain(sym string) (records []string) {
	files, origins := map[string]string{}, map[string]string{}
	keep := false
	for line := range strings.Lines(sym) {
		w := strings.Fields(line)
		switch w[0] {
		case "FILE":
			files[w[1]] = w[2]
		case "INLINE_ORIGIN":
			origins[w[1]] = w[2]
		case "FUNC":
			if keep = strings.HasPrefix(w[4], "main."); keep {
				records = append(records, strings.Join(w, " "))
			}
		case "INLINE":
			if keep {
				w[3], w[4] = files[w[3]], origins[w[4]]
				records = append(records, strings.Join(w, " "))
			}
		case "PUBLIC", "STACK":
			keep = false
		default:
			if keep {
				w[3] = files[w[3]]
				records = append(records, strings.Join(w, " "))
			}
		}
	}
	return records
}
