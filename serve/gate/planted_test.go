package gate

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/elfx/companion"
	"symkit/test/testfile"
)

// A plant makes a symbol file wrong at the n-th place that there is for it. It returns nil if there is no such place.
type plant func(lines []string, n int) []string

// nth returns the index of the n-th line, counted modulo their number, that begins with a word, or -1.
func nth(lines []string, n int, word string) int {
	var at []int
	for i, line := range lines {
		if word == "" && strings.IndexByte("0123456789abcdef", line[0]) >= 0 || word != "" && strings.HasPrefix(line, word+" ") {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return -1
	}
	return at[n%len(at)]
}

// change returns a plant that replaces a line by what edit makes of its words; nil removes the line.
func change(word string, edit func(fields []string) []string) plant {
	return func(lines []string, n int) []string {
		i := nth(lines, n, word)
		if i < 0 {
			return nil
		}
		out := slices.Clone(lines)
		fields := edit(strings.Fields(lines[i]))
		if fields == nil {
			return slices.Delete(out, i, i+1)
		}
		out[i] = strings.Join(fields, " ")
		return out
	}
}

// add returns an edit that adds to a number.
func add(field, base, n int) func([]string) []string {
	return func(f []string) []string {
		v, err := strconv.ParseUint(f[field], base, 64)
		if err != nil {
			return f
		}
		f[field] = strconv.FormatUint(v+uint64(n), base)
		return f
	}
}

// text returns an edit that changes a word.
func text(field int, to func(string) string) func([]string) []string {
	return func(f []string) []string {
		if field < len(f) {
			f[field] = to(f[field])
		}
		return f
	}
}

func lost([]string) []string { return nil }

// plants are the kinds of wrong files.
var plants = map[string]plant{
	"a line of other source":    change("", add(2, 10, 1)),
	"a line of another file":    change("", text(3, func(s string) string { return map[bool]string{true: "1", false: "0"}[s == "0"] })),
	"a line lost":               change("", lost),
	"a line's code too short":   change("", func(f []string) []string { f[1] = "1"; return f }),
	"a function renamed":        change("FUNC", func(f []string) []string { return append(f[:4], "planted") }),
	"a name escaped":            change("FUNC", func(f []string) []string { return append(f[:4], `pla\x6eted`) }),
	"an inlined call lost":      change("INLINE", lost),
	"an inlined call elsewhere": change("INLINE", add(2, 10, 7)),
	"another inlined function":  change("INLINE_ORIGIN", func(f []string) []string { return append(f[:2], "planted") }),
	"a file renamed":            change("FILE", func(f []string) []string { return append(f[:2], "/planted.c") }),
	"a public symbol renamed":   change("PUBLIC", func(f []string) []string { return append(f[:3], "planted") }),
	"a public symbol lost":      change("PUBLIC", lost),
	"a public symbol elsewhere": change("PUBLIC", add(1, 16, 1)),
	"rules of a function lost":  without("STACK CFI INIT"),
	"a rule lost":               change("STACK CFI", lost),
	"a rule too late": change("STACK CFI", func(f []string) []string {
		return map[bool]func([]string) []string{true: add(3, 16, 1), false: add(2, 16, 1)}[f[2] == "INIT"](f)
	}),
	"a rule with another offset": change("STACK CFI", text(5, func(s string) string { return "800" })),
	"a rule of another register": change("STACK CFI", func(f []string) []string { return append(f, "$rbx:", ".cfa", "64", "-", "^") }),
	"a function lost":            without("FUNC"),
	"all lines one off":          all("", add(2, 10, 1)),
	"all functions moved":        all("FUNC", add(1, 16, 0x10)),
	"another CPU":                change("MODULE", text(2, func(string) string { return "x86" })),
}

// without removes a record and those that belong to it.
func without(word string) plant {
	return func(lines []string, n int) []string {
		i := nth(lines, n, word)
		if i < 0 {
			return nil
		}
		end := i + 1
		for end < len(lines) && (word == "FUNC" && !strings.HasPrefix(lines[end], "FUNC") && !strings.HasPrefix(lines[end], "PUBLIC") && !strings.HasPrefix(lines[end], "STACK") ||
			word != "FUNC" && !strings.HasPrefix(lines[end], word)) {
			end++
		}
		return slices.Delete(slices.Clone(lines), i, end)
	}
}

// all changes all lines that begin with a word.
func all(word string, edit func([]string) []string) plant {
	return func(lines []string, _ int) []string {
		if nth(lines, 0, word) < 0 {
			return nil
		}
		out := slices.Clone(lines)
		for i, line := range lines {
			if nth([]string{line}, 0, word) == 0 {
				out[i] = strings.Join(edit(strings.Fields(line)), " ")
			}
		}
		return out
	}
}

// TestPlanted: of right symbol files none is refused, and of more than 1,000 wrong ones of 22 kinds all are.
func TestPlanted(t *testing.T) {
	const dir = "../../testdata/elf/"
	most, least := 60, 1000
	if testing.Short() {
		most, least = 6, 100
	}
	refused, kept := map[string]int{}, map[string]int{}
	modules := 0
	for _, name := range testfile.Programs(t, dir) {
		if !strings.HasPrefix(name, "cxx-") && !strings.HasPrefix(name, "hello-") && !strings.HasPrefix(name, "lang-") || strings.Contains(name, "split") || strings.Contains(name, "dwz") /* its file of names is not there */ || strings.Contains(name, "stripped") || !strings.HasSuffix(name, ".elf") {
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
		decide := func(text []byte) Decision {
			got, err := Decide(t.Context(), Input{Key: Key{d.Name, d.ID}, Sym: text, Accept: Check, ELF: &ELF{m.Image, m.Companions, "the test"}})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := decide(sym.Bytes()); got.Verdict != New {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		lines := strings.Split(strings.TrimSuffix(sym.String(), "\n"), "\n")
		for _, what := range slices.Sorted(maps.Keys(plants)) {
			wrong := plants[what](lines, 7*modules)
			if wrong == nil || slices.Equal(wrong, lines) {
				continue
			}
			if got := decide([]byte(strings.Join(wrong, "\n") + "\n")); got.Verdict == Refused {
				refused[what]++
			} else {
				kept[what]++
				if kept[what] < 4 {
					t.Logf("%s: %s: %+v: %s", name, what, got.Verdict, firstDifference(lines, wrong))
				}
			}
		}
		if modules == most {
			break
		}
	}
	sum := 0
	for what, n := range refused {
		sum += n
		if kept[what] > 0 {
			t.Errorf("%s: %d refused, %d kept", what, n, kept[what])
		}
	}
	if sum < least || len(refused) < 20 {
		t.Errorf("%d wrong files of %d kinds", sum, len(refused))
	}
	t.Logf("%d modules, %d wrong files of %d kinds refused", modules, sum, len(refused))
}

func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%q, was %q", b[i], a[i])
		}
	}
	return "the end"
}
