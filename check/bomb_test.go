package check

import (
	"regexp"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/test/mutant"
	"symkit/test/testfile"
)

// TestBombs checks files that once caused a crash, or took minutes or gigabytes. The time allowed
// is a hundred times what each takes now.
func TestBombs(t *testing.T) {
	sym := []byte("MODULE Linux x86_64 0 x\nFILE 0 f\nFUNC 1000 10 0 f\n1000 10 1 0\n")
	for _, test := range []struct {
		name string
		note string // of the functions or their lines, a regular expression
	}{
		{"subprograms one million deep", `\.debug_info\+0x[0-9a-f]+: die-depth above the limit`},
		{"functions below a thousand long scopes", ""},
		{"functions that are each other's scopes and origins", ""},
		{"thousands of attributes without bytes", ""},
		{"string offsets that overlap", `\.debug_info: symcheck-strings above the limit`},
		{"one long name for every function", `\.debug_info: names above the limit`},
		{"one long name for every symbol", `names of symbols: names above the limit`},
		{"one long directory for every file", `\.debug_line\+0x0: files above the limit`},
		{"units that share a line program", ""},
		{"units whose line programs are the ends of one", `line programs that overlap with many others`},
		{"units whose abbreviation tables are the ends of one", `unit-records above the limit`},
		{"a Go table of 2^32 functions", `\.gopclntab\+0x8: 4294967295 functions in [0-9]+ bytes`},
		{"notes that headers share", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := elfx.NewFile("bomb", mutant.Named(test.name))
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := testfile.CPULimit(t.Context(), 60*time.Second)
			defer stop()
			rep, err := File(ctx, &elfx.Image{Main: f}, sym, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if test.note == "" {
				return
			}
			for _, k := range rep.Checks {
				for _, note := range k.Notes {
					if regexp.MustCompile(test.note).MatchString(note) {
						return
					}
				}
			}
			t.Errorf("no note %q: %+v", test.note, rep.Checks)
		})
	}
}
