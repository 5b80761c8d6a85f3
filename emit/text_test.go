package emit

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"symkit/internal/printable"
)

func TestName(t *testing.T) {
	long := strings.Repeat("a", maxName)
	for _, test := range []struct{ name, in, want string }{
		{"plain", "operator()(int) const", "operator()(int) const"},
		{"UTF-8", "größe<数>", "größe<数>"},
		{"empty", "", "<name omitted>"},
		{"spaces only", "   ", "<name omitted>"},
		{"spaces at the ends", "  a  b ", "a  b"},
		{"newline", "a\nFUNC 1 2 0 b", `a\x0aFUNC 1 2 0 b`},
		{"CR, NUL, tab, DEL", "\r\x00\t\x7f", `\x0d\x00\x09\x7f`},
		{"C1 control", "a\u009bm", `a\xc2\x9bm`},
		{"bidirectional controls", "a\u202eb\u2066\u061c\u200f", `a\xe2\x80\xaeb\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f`},
		{"line separator", "a\u2028b", `a\xe2\x80\xa8b`},
		{"joiner", "a\u200db", "a\u200db"},
		{"invalid UTF-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"replacement character", "\ufffd", "\ufffd"},
		{"bad byte after eight", "12345678\x0190", `12345678\x0190`},
		{"bad byte within eight", "1234\xff678", `1234\xff678`},
		{"every byte position", "1234567\xff\x7f234567\x1f", `1234567\xff\x7f234567\x1f`},
		{"backslash", `C:\x41\n`, `C:\x41\n`},
		{"longest", long, long},
		{"one too long", long + "b", long[:maxName-len(nameCut)] + nameCut},
		{"escape at the cut", long[:maxName-len(nameCut)-1] + "\n" + long,
			long[:maxName-len(nameCut)-1] + nameCut},
		{"rune at the cut", long[:maxName-len(nameCut)-1] + "ü" + long,
			long[:maxName-len(nameCut)-1] + nameCut},
		{"long by its escapes", strings.Repeat("\n", maxName/4), strings.Repeat(`\x0a`, maxName/4)},
	} {
		got := Name(test.in)
		if got != test.want {
			t.Errorf("%s: got %.80q (%d), want %.80q (%d)", test.name, got, len(got), test.want, len(test.want))
		}
		if again := string(appendName(nil, []byte(got))); again != got {
			t.Errorf("%s: %.80q is written as %.80q", test.name, got, again)
		}
	}
}

// "INLINE_ORIGIN records": Breakpad's reader takes a number before the name
// for the file number of the old form.
func TestOriginName(t *testing.T) {
	for in, want := range map[string]string{
		"3d::rotate": "3d::rotate",
		"3":          `\x33`,
		" 42 x":      `\x342 x`,
		"-1 main":    `\x2d1 main`,
		"+7":         `\x2b7`,
		"-":          "-",
		"- 1":        "- 1",
		"":           nameOmitted,
	} {
		if got := OriginName(in); got != want || OriginName(got) != want {
			t.Errorf("%q: got %q, then %q, want %q", in, got, OriginName(got), want)
		} else if IsOriginName(in) != (got == in) || !IsOriginName(got) {
			t.Errorf("%q: left alone: %v; %q: %v", in, IsOriginName(in), got, IsOriginName(got))
		}
		want = "INLINE_ORIGIN 5 " + want + "\n"
		if got := string(InlineOrigin{5, []byte(in)}.Append(nil)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if got := string(InlineOrigin{5, []byte(OriginName(in))}.AppendSound(nil)); got != want {
			t.Errorf("%q, known to be sound: got %q, want %q", in, got, want)
		}
	}
}

// "STACK CFI records": the same table says what the writer replaces and where
// the reader finds the fault.
var rulesTests = []struct {
	rules string
	bad   int
}{
	{".cfa: $rsp 8 + .ra: .cfa -8 + ^", -1},
	{".cfa: sp", -1},
	{"", 0},
	{" .cfa: sp", 0},
	{".cfa: sp ", 9},
	{".cfa:  sp", 6},
	{"8 .cfa: sp", 0},
	{": 8", 0},
	{".cfa: sp : 8", 9},
	{".cfa:", 5},
	{".cfa: .ra: x", 6},
	{".cfa: sp .ra:", 13},
	{".cfa: sp\t8", 8},
	{".cfa: sp\n8", 8},
	{".cfa: ü", 6},
}

func TestRules(t *testing.T) {
	for _, test := range rulesTests {
		if got := badRules([]byte(test.rules)); got != test.bad {
			t.Errorf("badRules(%q) = %d, want %d", test.rules, got, test.bad)
		}
		want := test.rules
		if test.bad >= 0 {
			want = rulesBroken
		}
		if got := string(appendRules(nil, []byte(test.rules))); got != want {
			t.Errorf("%q is written as %q", test.rules, got)
		}
		rules, old := NewRules([]byte(test.rules)), []byte(test.rules)
		for _, addr := range []uint64{0, 1, 1 << 40, 1<<64 - 2} {
			init := string(StackCFIInit{addr, 16, old}.Append(nil))
			if got := string(rules.AppendInit(nil, addr, 16)); got != init || rules.IsZero() {
				t.Errorf("%q, checked once: %q, want %q", test.rules, got, init)
			}
			if got, want := string(rules.Append(nil, addr)), string((StackCFI{addr, old}).Append(nil)); got != want && len(old) > 0 {
				t.Errorf("%q, checked once: %q, want %q", test.rules, got, want)
			}
		}
	}
	long := []byte(".cfa: sp" + strings.Repeat(" 1 +", maxName/4))
	if got := string(appendRules(nil, long)); got != rulesBroken {
		t.Errorf("%d bytes of rules are written as %.80q", len(long), got)
	}
	if !(Rules{}).IsZero() {
		t.Error("no rules are not the zero Rules")
	}
	if got := (StackCFI{Addr: 1}).Append(nil); got != nil {
		t.Errorf("a STACK CFI record without rules is written as %q", got)
	}
}

// FuzzName: whatever the name, it makes one line of bounded length and valid
// UTF-8, which is read back as it was written, in every record that has one.
func FuzzName(f *testing.F) {
	for _, s := range []string{"", "main", " a\nb ", "\xff\x00", "7 x", "größe", "a\u0085b"} {
		f.Add([]byte(s))
	}
	f.Add(bytes.Repeat([]byte("\u0080a"), maxName/4))
	f.Fuzz(func(t *testing.T, name []byte) {
		s := string(name)
		recs := []Record{
			&Module{"Linux", "x86", "0", s},
			&Info{s, s},
			&File{0, name},
			&InlineOrigin{0, name},
			&Func{1, 2, 0, name, true},
			&Line{1, 2, 3, 0},
			&Public{1, 0, name, false},
			&StackWin{Type: 4, Program: name},
			&StackCFIInit{0, 9, name},
			&StackCFI{1, name},
		}
		var text []byte
		for _, rec := range recs {
			line := rec.Append(nil)
			if len(line) > maxLine+1 || bytes.Count(line, []byte("\n")) > 1 ||
				!utf8.Valid(line) || bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), printable.Hidden) {
				t.Fatalf("%T{%q} is written as %q", rec, name, line)
			}
			text = append(text, line...)
		}
		if again := appendAll(readAll(t, text)); !bytes.Equal(again, text) {
			t.Fatalf("written as %q, read and written again %q", text, again)
		}
		sound := IsOriginName(s)
		if plain(name) == len(name) && IsPlainOriginName(s) != sound {
			t.Fatalf("%q: printable ASCII, but %v", name, sound)
		}
		if !sound {
			return
		}
		fn, origin := Func{1, 2, 0, name, true}, InlineOrigin{0, name}
		if got, want := fn.AppendSound(nil), fn.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("known to be sound: %q, want %q", got, want)
		}
		if got, want := origin.AppendSound(nil), origin.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("known to be sound: %q, want %q", got, want)
		}
	})
}
