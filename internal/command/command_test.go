package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"testing"

	"github.com/alecthomas/kong"
)

func TestRun(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name           string
		args           []string
		code           int // what work returns
		err            error
		want           int
		stdout, stderr string
	}{
		{name: "done", args: []string{"-n", "3"}, stdout: "3\n"},
		{name: "a result that is bad", code: Bad, want: Bad, stdout: "0\n"},
		{name: "a failure", err: boom, want: Failed, stdout: "0\n", stderr: "prog: error: boom\n"},
		{name: "a failure with a code of its own", code: Misuse, err: boom, want: Misuse, stdout: "0\n", stderr: "prog: error: boom\n"},
		{name: "misuse", args: []string{"--none"}, want: Misuse, stderr: "prog: error: unknown flag --none; see prog --help\n"},
		{name: "version", args: []string{"--version"}, stdout: "prog " + Version() + " " + origin() + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			var grammar struct {
				N       int `short:"n"`
				Version VersionFlag
			}
			p := Program{Name: "prog", Stdout: &stdout, Stderr: NewMessages("prog", &stderr)}
			code := p.Run(&grammar, test.args, func(*kong.Context) (int, error) {
				fmt.Fprintln(&stdout, grammar.N)
				return test.code, test.err
			})
			if code != test.want || stdout.String() != test.stdout || stderr.String() != test.stderr {
				t.Errorf("%d, %q, %q; want %d, %q, %q", code, &stdout, &stderr, test.want, test.stdout, test.stderr)
			}
		})
	}
}

// TestEnv: the environment sets flags; an empty variable sets none.
func TestEnv(t *testing.T) {
	for _, test := range []struct {
		value  string
		args   []string
		want   int
		stdout string
	}{
		{"7", nil, 0, "7\n"}, {"7", []string{"-n", "3"}, 0, "3\n"}, {"", nil, 0, "0\n"}, {"x", nil, Misuse, ""},
	} {
		t.Setenv("PROG_NUMBER", test.value)
		t.Setenv("PROG_VERSION", "1")
		var stdout, stderr bytes.Buffer
		var grammar struct {
			Number  int         `short:"n"`
			Version VersionFlag `env:"-"`
		}
		p := Program{Name: "prog", Env: "PROG", Stdout: &stdout, Stderr: NewMessages("prog", &stderr)}
		code := p.Run(&grammar, test.args, func(*kong.Context) (int, error) {
			fmt.Fprintln(&stdout, grammar.Number)
			return 0, nil
		})
		if code != test.want || stdout.String() != test.stdout {
			t.Errorf("PROG_NUMBER=%s %q: %d, %q, %s", test.value, test.args, code, &stdout, &stderr)
		}
	}
}

// TestMisspeltLimits: a variable that looks like SYMKIT_LIMITS is a warning; those of scripts are none.
func TestMisspeltLimits(t *testing.T) {
	t.Setenv("SYMKIT_LIMIT", "all=50%")
	t.Setenv("SYMKIT_STORE", "symbols")
	var stdout, stderr bytes.Buffer
	var grammar struct{}
	p := Program{Name: "prog", Stdout: &stdout, Stderr: NewMessages("prog", &stderr)}
	code := p.Run(&grammar, nil, func(*kong.Context) (int, error) { return 0, nil })
	const want = "prog: warning: SYMKIT_LIMIT in the environment is not read; the variable is SYMKIT_LIMITS\n"
	if code != 0 || stderr.String() != want {
		t.Errorf("%d, %q", code, &stderr)
	}
}

// Arguments are bytes, not text.
func TestNotUTF8(t *testing.T) {
	const name = "caf\xe9,a\nb\x00"
	var grammar struct {
		Flag  string   `short:"f"`
		Flags []string `sep:"none"`
		Files []string `arg:""`
	}
	var stderr bytes.Buffer
	p := Program{Name: "prog", Stdout: &stderr, Stderr: NewMessages("prog", &stderr)}
	code := p.Run(&grammar, []string{"-f", name, "--flags=" + name, name}, func(*kong.Context) (int, error) { return 0, nil })
	if code != 0 || grammar.Flag != name || len(grammar.Flags) != 1 || grammar.Flags[0] != name || len(grammar.Files) != 1 || grammar.Files[0] != name {
		t.Errorf("%d, %q %s", code, grammar, &stderr)
	}
}

// TestJobs: more processors than there can be are as many as can be of use.
func TestJobs(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 8: 8, maxJobs: maxJobs, maxJobs + 1: maxJobs, 2_000_000_000: maxJobs} {
		if got, err := Jobs(n); got != want || err != nil {
			t.Errorf("%d: %d, %v", n, got, err)
		}
	}
	if _, err := Jobs(-1); err == nil {
		t.Error("-1 is accepted")
	}
}

// TestGoLog: Go's packages have no lines of their own on standard error.
func TestGoLog(t *testing.T) {
	var out bytes.Buffer
	log.SetOutput(&out)
	p := Program{Name: "x", Stdout: io.Discard, Stderr: NewMessages("x", &out)}
	code := p.Run(&struct{}{}, nil, func(*kong.Context) (int, error) {
		log.Print("Unsolicited response received on idle HTTP channel")
		return 0, nil
	})
	if code != 0 || out.Len() != 0 {
		t.Errorf("%d: %s", code, &out)
	}
}
