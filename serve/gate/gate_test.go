package gate

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

const good = "MODULE Linux x86_64 9393B68C623AA7237971790E89F1DBA90 two words\nINFO CODE_ID 8CB693933A6223A77971790E89F1DBA9597E3982 app.so\n" +
	"FILE 0 a.c\nFUNC 1000 10 0 main\n1000 10 3 0\n"

var goodKey = Key{"two words", "9393b68c623aa7237971790e89f1dba90"}

// A symbol file that is sent under the id of another build.
func ExampleDecide() {
	sym := []byte("MODULE Linux x86_64 9393B68C623AA7237971790E89F1DBA90 app\n")
	d, err := Decide(context.Background(), Input{Key: Key{"app", "187E1D60B6C91B859A4A3C4177A1B4400"}, Sym: sym, Accept: Lint})
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Verdict)
	fmt.Println(d.Why)
	// Output:
	// refused
	// the id in the request is 187E1D60B6C91B859A4A3C4177A1B4400, but the MODULE record has 9393B68C623AA7237971790E89F1DBA90: send the file as app/9393B68C623AA7237971790E89F1DBA90
}

// TestDecide: the verdicts without an ELF file.
func TestDecide(t *testing.T) {
	for what, test := range map[string]struct {
		in      Input
		verdict Verdict
		why     string
	}{
		"new":          {Input{Key: goodKey, Sym: []byte(good), Accept: Lint}, New, "had no symbol file"},
		"same":         {Input{Key: goodKey, Sym: []byte(good), Accept: Lint, Stored: []byte(good)}, Same, ""},
		"better":       {Input{Key: goodKey, Sym: []byte(good), Accept: Lint, Stored: []byte(strings.Replace(good, "1000 10 3 0\n", "", 1))}, Better, "lines"},
		"worse":        {Input{Key: goodKey, Sym: []byte(strings.Replace(good, "1000 10 3 0\n", "", 1)), Accept: Lint, Stored: []byte(good)}, Worse, "lines"},
		"empty":        {Input{Key: goodKey, Accept: Any}, Refused, "no MODULE record"},
		"cut":          {Input{Key: goodKey, Sym: []byte("MODULE Linux x86_64 AB app"), Accept: Any}, Refused, "no MODULE record"},
		"name":         {Input{Key: Key{"app", goodKey.ID}, Sym: []byte(good), Accept: Any}, Refused, "the MODULE record has two words"},
		"any":          {Input{Key: goodKey, Sym: []byte(good + "FUNC x\n"), Accept: Any}, New, ""},
		"lint of old":  {Input{Key: goodKey, Sym: []byte(good), Accept: Lint, Stored: []byte(good + "1010 10 4 0\nFUNC 2000 10 0 more\nFUNC x\n")}, Better, "the symbol file in the store would be refused: the file is not well formed"},
		"any old":      {Input{Key: goodKey, Sym: []byte(good), Accept: Any, Stored: []byte(good + "FUNC 2000 10 0 more\nFUNC x\n")}, Worse, "functions"},
		"not well":     {Input{Key: goodKey, Sym: []byte(good + "FUNC x\n"), Accept: Lint}, Refused, "not well formed: 6: FUNC x"},
		"no ELF":       {Input{Key: goodKey, Sym: []byte(good), Accept: Check}, New, ""},
		"hidden chars": {Input{Key: Key{"a\x1b", "00"}, Sym: []byte("MODULE a b 00 \x1b[31m\n"), Accept: Any}, Refused, `\x1b[31m`},
	} {
		d, err := Decide(t.Context(), test.in)
		if err != nil || d.Verdict != test.verdict || !strings.Contains(d.Why, test.why) {
			t.Errorf("%s: %+v, %v", what, d, err)
		}
	}
}

// TestRead: the first lines of symbol files.
func TestRead(t *testing.T) {
	got, ok := Read([]byte(good))
	if want := (Module{"two words", strings.ToUpper(goodKey.ID), "app.so", "8CB693933A6223A77971790E89F1DBA9597E3982"}); !ok || got != want {
		t.Errorf("%+v", got)
	}
	got, ok = Read([]byte("MODULE windows x86 AB1 xul.pdb\r\nINFO GENERATOR x\r\nINFO CODE_ID 5F xul.dll\r\n"))
	if want := (Module{"xul.pdb", "AB1", "xul.dll", "5F"}); !ok || got != want {
		t.Errorf("%+v", got)
	}
}

// FuzzDecide: a file that is kept has the name and the id of its key, and a decision has a reason that can be shown.
func FuzzDecide(f *testing.F) {
	f.Add([]byte(good), []byte(good))
	f.Add([]byte("MODULE a b c \n"), []byte("MODULE\x00"))
	f.Fuzz(func(t *testing.T, sym, stored []byte) {
		d, err := Decide(t.Context(), Input{Key: goodKey, Sym: sym, Accept: Lint, Stored: stored})
		if err != nil {
			t.Fatal(err)
		}
		m, ok := Read(sym)
		if d.Stored() && (!ok || !strings.EqualFold(m.ID, goodKey.ID) || m.Name != goodKey.Name) {
			t.Fatalf("%+v, %+v", d, m)
		}
		if d.Why == "" || strings.ContainsFunc(d.Why+strings.Join(d.Findings, ""), func(r rune) bool { return r < ' ' }) || len(d.Findings) > maxFindings {
			t.Fatalf("%+v", d)
		}
	})
}
