package dump

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/test/mutant"
	"symkit/test/testfile"
)

// TestLargeLosses: a loss of more than a tenth is distinguished from a small one.
func TestLargeLosses(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	whole, err := testfile.Read("../testdata/elf/" + name)
	if err != nil {
		t.Fatal(err)
	}
	// damage overwrites size bytes from a part of a section on.
	damage := func(section string, part float64, size int) []byte {
		f, err := elfx.NewFile(name, whole)
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section(section)
		data := append([]byte(nil), whole...)
		at := int(s.Offset) + int(part*float64(s.Size))
		for i := range data[at : at+size] {
			data[at+i] = 0xff
		}
		return data
	}
	for _, test := range []struct {
		name string
		data []byte
		want string // regular expression; empty for none
	}{
		{"sound", whole, ""},
		{"no line table", damage(".debug_line", 0, 16), `^about [0-9]+ % of the lines are lost: elf: \.debug_line\+0x[0-9a-f]+: `},
		{"no unit", damage(".debug_info", 0, 16), `^about 100 % of the functions, with their lines and inlined calls, are lost: elf: `},
		{"the end of a line table", damage(".debug_line", 0.999, 1), ""},
		{"no FDE", damage(".eh_frame", 0, 8), `^about [0-9]+ % of the unwind rules are lost: elf: \.eh_frame\+`},
		{"a limit of lines", mutant.Named("units whose line programs are the ends of one"), `^about [0-9]+ % of the lines are lost: elf: \.debug_line\+0x[0-9a-f]+: `},
		{"a limit of calls", mutant.Named("a function of many ranges with inlined calls in each other"), `^about [0-9]+ % of the inlined calls are lost: elf: \.debug_info\+0x0: range-entries above`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := elfx.NewFile("elf", test.data)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{Inlines: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Write(io.Discard); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(m.Stats.LargeLosses(), "\n")
			if test.want == "" && got != "" || !regexp.MustCompile(test.want).MatchString(got) {
				t.Errorf("%q, want %s; %v", got, test.want, m.Stats.Losses)
			}
		})
	}
}
