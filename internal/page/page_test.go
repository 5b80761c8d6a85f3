package page

import (
	"errors"
	"strings"
	"testing"
)

func TestFunctions(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Text("a\u202eb\x1b\xff"), `a\xe2\x80\xaeb\x1b\xff`}, {Text(strings.Repeat("é", MaxText)), strings.Repeat("é", MaxText/2) + "… (8,192 bytes)"},
	} {
		if c.got != c.want {
			t.Errorf("%.60q, want %.60q", c.got, c.want)
		}
	}
}

// TestData: no string of the data ends the block, and hidden characters are escaped.
func TestData(t *testing.T) {
	d := Document{Title: "</title>", Generator: `"`, Body: NewTemplate("{{.}}"), Values: "<b>\u202e", Data: []string{"</script><script>alert(1)</script>", "\u2028\u202e"}}
	var out strings.Builder
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
	for _, want := range []string{"<title>&lt;/title&gt;</title>", `["\u003c/script\u003e`, `"\u2028\u202e"]`, `&lt;b&gt;\xe2\x80\xae`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// failing is a writer on a full disk.
type failing struct{}

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

// TestWriteError: errors of the writer and of the template come out.
func TestWriteError(t *testing.T) {
	d := Document{Body: NewTemplate("x"), Data: strings.Repeat("x", 1<<17)}
	if err := d.Write(failing{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	d.Body = NewTemplate("{{.Missing.Field}}")
	d.Values = struct{}{}
	if err := d.Write(&strings.Builder{}); err == nil {
		t.Error("no error for a field that does not exist")
	}
}
