package printable

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hiddenRunes are the characters that change what a terminal shows, with those around them.
var hiddenRunes = []rune{0, '\a', '\t', '\n', '\r', 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x061c,
	0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069}

var shownRunes = []rune{' ', '~', 0xa0, 'ü', 0x061b, 0x061d, 0x200d, 0x2010, 0x2027, 0x202f, 0x2065, 0x206a, '数', 0xfffd, 0x1f600}

func TestHidden(t *testing.T) {
	for _, r := range hiddenRunes {
		if !Hidden(r) {
			t.Errorf("%U is shown", r)
		}
	}
	for _, r := range shownRunes {
		if Hidden(r) {
			t.Errorf("%U is hidden", r)
		}
	}
	for r := range rune(unicode.MaxRune) {
		want := unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029
		if Hidden(r) != want {
			t.Errorf("%U: %v, want %v", r, !want, want)
		}
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"plain text":                   "plain text",
		"größe<数>":                     "größe<数>",
		"a\x1b[31m\r\x7f":              `a\x1b[31m\x0d\x7f`,
		"a\nb\tc\x00":                  `a\x0ab\x09c\x00`,
		"a\u009bm":                     `a\xc2\x9bm`,
		"a\u202eb\u2069":               `a\xe2\x80\xaeb\xe2\x81\xa9`,
		"\u061c\u200e\u2028":           `\xd8\x9c\xe2\x80\x8e\xe2\x80\xa8`,
		"\x9b\xff\xc3":                 `\x9b\xff\xc3`,
		"\xed\xa0\x80 no surrogates":   `\xed\xa0\x80 no surrogates`,
		"\ufffd stands for itself \\n": "\ufffd stands for itself \\n",
	} {
		if got := String(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Text that is written in parts of any size comes out the same.
func TestWriters(t *testing.T) {
	text := "tab\tline\n" + string(hiddenRunes) + "\n" + string(shownRunes) + "\x9b\xff\xe2\x80.\xc2\n"
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	wantText := strings.NewReplacer(`\x0a`, "\n", `\x09`, "\t").Replace(String(text))
	for n := 1; n <= len(text); n++ {
		var out, jsonOut bytes.Buffer
		writer, jsonWriter := &Writer{W: &out}, &JSONWriter{W: &jsonOut}
		for part := range chunks(text, n) {
			if k, err := writer.Write([]byte(part)); k != len(part) || err != nil {
				t.Fatal(k, err)
			}
		}
		for part := range chunks(string(quoted), n) {
			if k, err := jsonWriter.Write([]byte(part)); k != len(part) || err != nil {
				t.Fatal(k, err)
			}
		}
		if out.String() != wantText {
			t.Fatalf("in parts of %d: %q, want %q", n, out.String(), wantText)
		}

		var back, want string
		err := json.Unmarshal(jsonOut.Bytes(), &back)
		if json.Unmarshal(quoted, &want); err != nil || back != want {
			t.Fatalf("JSON in parts of %d: %q, want %q (%v)", n, back, want, err)
		}
		for _, shown := range []string{strings.NewReplacer("\n", "", "\t", "").Replace(out.String()), jsonOut.String()} {
			if strings.ContainsFunc(shown, Hidden) || !utf8.ValidString(shown) {
				t.Fatalf("in parts of %d: %q", n, shown)
			}
		}
	}
}

// chunks yields s in parts of n bytes.
func chunks(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			k := min(n, len(s))
			if !yield(s[:k]) {
				return
			}
			s = s[k:]
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := String(s)
		if strings.ContainsFunc(got, Hidden) || !utf8.ValidString(got) || String(got) != got {
			t.Errorf("%q: %q", s, got)
		}
	})
}

// TestEachByte: a byte among others is escaped as the byte alone is.
func TestEachByte(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			before, after := strings.Repeat("~", at), strings.Repeat(" ", 16-at)
			one := string([]byte{byte(c)})
			got, want := String(before+one+after), before+String(one)+after
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// TestAppendJSON: a string is as encoding/json writes it through a JSONWriter.
func TestAppendJSON(t *testing.T) {
	texts := []string{"", "plain", `a "quoted" \ text`, "<a&b>", "größe", "\xff\xc3"}
	for _, r := range append(hiddenRunes, shownRunes...) {
		texts = append(texts, "12345678"+string(r)+"x")
	}
	for _, text := range texts {
		var want bytes.Buffer
		e := json.NewEncoder(&JSONWriter{W: &want})
		e.SetEscapeHTML(false)
		err := e.Encode([]string{text, "x"})
		if err != nil {
			t.Fatal(err)
		}
		got := append(AppendJSON([]byte("["), text), ",\"x\"]\n"...)
		if string(got) != want.String() {
			t.Errorf("%q: %s, want %s", text, got, want.String())
		}
	}
}
