package main

import (
	"io"
	"strings"
	"testing"
)

func TestJudgeText(t *testing.T) {
	long := strings.Repeat("x", maxStderr+1)
	for _, test := range []struct {
		name, stdout, stderr string
		args                 []string
		bad                  bool
	}{
		{"text", "größe 数\n\tx\n", "fine\n", nil, false},
		{"stdout", "a\u009b", "", nil, true},
		{"stdout, cut", "a\xe2", "", nil, false},
		{"stderr", "", "a\u202e", nil, true},
		{"long", "", long, nil, true},
		{"long with -v", "", long, []string{"-v"}, false},
		{"answers", "a\n b\nc\n", "", []string{"<<", "1", "2"}, false},
		{"a lost answer", "a\n b\n", "", []string{"<<", "1", "2"}, true},
	} {
		out := &text{}
		for _, c := range []byte(test.stdout) {
			if _, err := out.Write([]byte{c}); err != nil {
				t.Fatal(err)
			}
		}
		if got := judgeText(step{args: test.args}, 0, out, test.stderr); (got != "") != test.bad {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	out := &text{}
	if _, err := io.WriteString(out, "ok\x1b"); err != nil || out.bad == nil {
		t.Error(err, out.bad)
	}
}
