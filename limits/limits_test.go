package limits

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"symkit/internal/limitof"
)

func TestParse(t *testing.T) {
	defer SetDefault(Limits{builtIn()})
	for _, test := range []struct {
		text string
		want map[string]uint64 // Max for an input of 1000 bytes
		err  string
	}{
		{text: "", want: map[string]uint64{"names": 8<<20 + 4*1000}},
		{text: "names=4G", want: map[string]uint64{"names": 4 << 30}},
		{text: " names=12 , threads=3K,", want: map[string]uint64{"names": 12, "threads": 3 << 10}},
		{text: "names=10%", want: map[string]uint64{"names": (8<<20 + 4*1000) / 10, "threads": 4 << 20}},
		{text: "all=10%,threads=200%", want: map[string]uint64{"names": (8<<20 + 4*1000) / 10, "threads": 8 << 20, "frames": 52428}},
		{text: "names=1000,names=7%", want: map[string]uint64{"names": 70}},
		{text: "names=0%", err: `"names=0%": want a number above 0`},
		{text: "name=1", err: `"name=1": there is no limit "name"; did you mean "names"?`},
		{text: "outptu=1", err: `there is no limit "outptu"; did you mean "output"?`},
		{text: "frames-per-theard=1", err: `did you mean "frames-per-thread"?`},
		{text: "al=1", err: `did you mean "all"?`},
		{text: "weight=1", err: `"weight=1": there is no limit "weight"; want all or one of inflate-ratio, `},
		{text: strings.Repeat("x", 1000) + "=1", err: `want all or one of inflate-ratio, `},
		{text: "names", err: `"names": want NAME=NUMBER`},
		{text: "names=0", err: `"names=0": want a number above 0`},
		{text: "names=-1", err: `want a number above 0`},
		{text: "names=1T", err: `want a number above 0`},
		{text: "names=G", err: `want a number above 0`},
		{text: "names=99999999999999G", err: `want a number above 0`},
	} {
		SetDefault(Limits{builtIn()})
		t.Setenv(Variable, test.text)
		err := FromEnv()
		if got := ""; err != nil {
			got = err.Error()
			if test.err == "" || !strings.Contains(got, test.err) {
				t.Errorf("%q: %v, want %q", test.text, err, test.err)
			}
			continue
		}
		if test.err != "" {
			t.Errorf("%q: no error, want %q", test.text, test.err)
		}
		for name, want := range test.want {
			if got := (Limits{}).Max(name, 1000); got != want {
				t.Errorf("%q: %s is %d, want %d", test.text, name, got, want)
			}
		}
	}
}

func TestMaxOverflows(t *testing.T) {
	for _, b := range []bound{{base: 1, perByte: 2}, {base: ^uint64(0), perByte: 1}, {base: 1 << 63, percent: 200}, {base: 1 << 63, percent: 1 << 63}} {
		if got := b.max(1 << 63); got != ^uint64(0) {
			t.Errorf("%+v: %d", b, got)
		}
	}
}

func TestExceeded(t *testing.T) {
	err := Limits{}.With(limitof.Threads, 7).Exceeded(limitof.Threads, 0)
	if want := "threads above the limit of 7: threads of a dump (SYMKIT_LIMITS=threads=N changes it)"; err.Error() != want || !errors.Is(err, ErrExceeded) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestWith: a value with one change leaves the value it was made of, and the default,
// as they are.
func TestWith(t *testing.T) {
	defer SetDefault(Limits{builtIn()})
	l := Limits{}.With(limitof.Names, 5)
	more := l.With(limitof.Names, 0).With(limitof.Files, 6)
	SetDefault(Limits{}.With(limitof.Names, 7))
	for _, test := range []struct {
		l    Limits
		x    string
		want uint64
	}{{l, limitof.Names, 5}, {l, limitof.Files, 16<<20 + 8}, {more, limitof.Names, 1}, {more, limitof.Files, 6}, {Limits{}, limitof.Names, 7}, {Limits{}, limitof.Files, 16<<20 + 8}} {
		if got := test.l.Max(test.x, 8); got != test.want {
			t.Errorf("%s: %d, want %d", test.x, got, test.want)
		}
	}
}

// TestDocumented: docs/robustness.md has a row for every limit, with its value.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/robustness.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range about {
		if row := "| `" + x.name + "` | " + value(x.bound) + " | " + x.what + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/robustness.md lacks the row\n%s", row)
		}
	}
}

// value returns a limit as the documentation writes it.
func value(l bound) string {
	base := strconv.FormatUint(l.base, 10)
	for i, unit := range []string{" Ki", " Mi", " Gi"} {
		if shift := 10 * (i + 1); l.base>>shift >= 1 && l.base&(1<<shift-1) == 0 {
			base = strconv.FormatUint(l.base>>shift, 10) + unit
		}
	}
	if l.perByte > 0 {
		base += " + " + strconv.FormatUint(l.perByte, 10) + " per byte"
	}
	return base
}
