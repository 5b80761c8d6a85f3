package command

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"symkit/internal/printable"
)

func TestMessagesLines(t *testing.T) {
	path := "/" + strings.Repeat("long/", 100) + "end"
	for _, test := range []struct {
		name, in, want string
	}{
		{"lines in parts", "prog: a\nprog: b", "prog: a\nprog: b\n"},
		{"control characters", "prog: \x1b[2J\r\u009b\u202e\x7f\xff\n", `prog: \x1b[2J\x0d\xc2\x9b\xe2\x80\xae\x7f\xff` + "\n"},
		{"a long path", "prog: " + path + ": no such file\n", "prog: " + path[:118] + "..." + path[len(path)-117:] + ": no such file\n"},
		{"many words", strings.Repeat("word ", 500) + "end\n", strings.Repeat("word ", 500)[:498] + "..." + strings.Repeat("word ", 500)[2005:] + "end\n"},
	} {
		var out bytes.Buffer
		m := NewMessages("prog", &out)
		for _, c := range []byte(test.in) {
			m.Write([]byte{c})
		}
		m.Close()
		if test.name == "many words" {
			if len(out.String()) > maxLine+1 || !strings.HasSuffix(out.String(), "word end\n") || !strings.HasPrefix(out.String(), "word word") {
				t.Errorf("%s: %q", test.name, &out)
			}
		} else if out.String() != test.want {
			t.Errorf("%s: %q, want %q", test.name, &out, test.want)
		}
	}
}

// Whatever a program writes, it is bounded without ShowAll and whole with it.
func TestMessagesBounded(t *testing.T) {
	long := strings.Repeat("x\x1b", 1<<19) + strings.Repeat(" y", 1<<16)
	for _, all := range []bool{false, true} {
		var out bytes.Buffer
		m := NewMessages("prog", &out)
		if all {
			m.ShowAll()
		}
		for i := range 10_000 {
			Line(m, "prog: warning: number %d", i)
			Line(m, "prog: error: number %d", i)
			m.Progress(fmt.Sprintf("prog: %d of %d", i, 10_000))
		}
		fmt.Fprintf(m, "prog: %s\n", long)
		for range 10 {
			m.Last("prog: last: %s", long)
		}
		m.Close()
		got := out.String()
		if all {
			for _, want := range []string{"warning: number 9999\n", "error: number 9999\n", "9999 of", printable.String(long) + "\nprog: last"} {
				if !strings.Contains(got, want) {
					t.Errorf("with ShowAll there is no %.40q", want)
				}
			}
			continue
		}
		if len(got) > 16<<10 {
			t.Errorf("%d bytes", len(got))
		}
		for _, want := range []string{"error: number 0\n", "warning: number 0\n", "prog: 0 of", " more errors and ", " more messages; -v shows all\n", "prog: last: x"} {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %q in %s", want, got)
			}
		}
		for line := range strings.Lines(got) {
			if len(line) > maxLine+1 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	}
}

// What was left out is counted.
func TestMessagesCount(t *testing.T) {
	var out bytes.Buffer
	m := NewMessages("prog", &out)
	const n = 1000
	for i := range n {
		Line(m, "prog: error: number %d of many", i)
	}
	Line(m, "prog: warning: one")
	m.Last("prog: error: the end")
	m.Close()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	shown := len(lines) - 3
	want := []string{"prog: warning: one", fmt.Sprintf("prog: and %d more errors; -v shows all", n-shown), "prog: error: the end"}
	if got := lines[shown:]; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}

// On a terminal there is one status line, cut at its width; messages erase it.
func TestMessagesStatus(t *testing.T) {
	var out bytes.Buffer
	m := NewMessages("prog", &out)
	m.Draw("nothing is drawn where there is no terminal")
	m.columns = 10
	m.Progress("prog: 0 of 3")
	m.Draw("esc\x1bape")
	Line(m, "prog: a warning")
	m.Draw("prog: 1 of 3")
	m.Erase()
	m.Erase()
	want := clearLine + "prog: 0 o" + clearLine + `esc\x1bap` + clearLine + "prog: a warning\n" + clearLine + "prog: 1 o" + clearLine
	if out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

// Each of several errors has its line, another that wraps two has one.
func TestRunErrors(t *testing.T) {
	one, two := errors.New("one\nline"), errors.New("two")
	for _, test := range []struct {
		err  error
		want string
	}{
		{one, `prog: error: one\x0aline` + "\n"},
		{errors.Join(one), `prog: error: one\x0aline` + "\n"},
		{errors.Join(errors.Join(one, two), nil, two), `prog: error: one\x0aline` + "\nprog: error: two\nprog: error: two\n"},
		{fmt.Errorf("%w and %w", two, two), "prog: error: two and two\n"},
	} {
		var stderr bytes.Buffer
		p := Program{Name: "prog", Stdout: &stderr, Stderr: NewMessages("prog", &stderr)}
		code := p.Run(&struct{}{}, nil, func(*kong.Context) (int, error) { return 0, test.err })
		if code != Failed || stderr.String() != test.want {
			t.Errorf("%d, %q, want %q", code, &stderr, test.want)
		}
	}
}

// TestMessagesMute: what is less severe is left out and not counted.
func TestMessagesMute(t *testing.T) {
	for least, want := range map[Severity]string{
		Remarks: "prog: warning: w\nprog: error: e\nprog: 1 of 2\nprog: error: last\n",
		Errors:  "prog: error: e\nprog: error: last\n",
		Nothing: "",
	} {
		var out bytes.Buffer
		m := NewMessages("prog", &out)
		m.Mute(least)
		Line(m, "prog: warning: w")
		Line(m, "prog: error: e")
		m.Progress("prog: 1 of 2")
		m.Last("prog: error: last")
		m.Close()
		if out.String() != want {
			t.Errorf("%d: %q, want %q", least, &out, want)
		}
	}
}
