package main

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

// TestJudgeAnswers: each answer must be JSON, about the next line, with a status that the worker has.
func TestJudgeAnswers(t *testing.T) {
	good := func(input string) string { return fmt.Sprintf(`{"input":%q,"status":"done"}`, input) + "\n" }
	for _, test := range []struct {
		out   string
		count int
		wrong string // "" if all is right
	}{
		{good("/a") + good("/b"), 2, ""},
		{good("/b") + good("/a"), 0, `first: the answer is for "/b"`},
		{good("/a"), 1, "second: no answer: EOF"},
		{good("/a") + good("/b") + good("/b"), 2, "more answers than lines"},
		{good("/a") + "panic: x\n", 1, "second: an answer that is no JSON"},
		{good("/a") + `{"input":"/b","status":"lost"}` + "\n", 1, `second: status "lost"`},
		{good("/a") + `{"input":"/b","status":"failed","error":"internal error: x"}` + "\n", 1, "second: crash: internal error: x"},
	} {
		jobs := make(chan job, 2)
		jobs <- job{name: "first", as: "/a"}
		jobs <- job{name: "second", as: "/b"}
		close(jobs)
		p := &pool{options: &options{keep: t.TempDir()}}
		counts, wrong := p.judgeAnswers(bufio.NewReader(strings.NewReader(test.out)), jobs, []string{"done", "failed"}, func() {})
		if counts["done"] != test.count || !strings.HasPrefix(wrong, test.wrong) || test.wrong == "" && wrong != "" {
			t.Errorf("%q: %v, %q", test.out, counts, wrong)
		}
	}

	if _, err := readLine(bufio.NewReader(strings.NewReader("long line\n")), 4); err == nil {
		t.Error("a line above the limit")
	}
}
