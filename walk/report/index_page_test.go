package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symkit/elfx/companion"
	"symkit/walk"
)

// indexed returns the page about dumps.
func indexed(t *testing.T, entries []IndexEntry) string {
	t.Helper()
	var out strings.Builder
	err := Index(&out, "test", entries)
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var signatureOf = regexp.MustCompile(`<span class="signature">([^<]*)</span>`)

// signatures returns the signatures of a page in its order.
func signatures(text string) (list []string) {
	for _, m := range signatureOf.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestIndex: dumps are grouped by signature, or by what is known instead of one, the largest
// group first; dumps that could not be walked are listed with their errors.
func TestIndex(t *testing.T) {
	text := indexed(t, []IndexEntry{
		{Dump: "a.dmp", Page: "a.html", Signature: "zeta", Reason: "SIGSEGV", Program: "app", Version: "1.2", Without: 1},
		{Dump: "b.dmp", Page: "b.html", Signature: "alpha", Reason: "SIGABRT", Program: "app"},
		{Dump: "c.dmp", Page: "c.html", Signature: "zeta", Reason: "SIGBUS", Program: "tool"},
		{Dump: "d.dmp", Page: "d.html", Place: "main (main.c:7)", Reason: "SIGSEGV"},
		{Dump: "e.dmp", Page: "e.html", Reason: "SIGTRAP"},
		{Dump: "f.dmp", Page: "f.html"},
		{Dump: "g<b>.dmp", Error: "g<b>.dmp: not a \x1bminidump"},
	})
	want := []string{"zeta", "SIGTRAP", "alpha", "main (main.c:7)", "no crash"}
	if got := signatures(text); !slices.Equal(got, want) {
		t.Errorf("signatures %q, want %q", got, want)
	}
	for _, part := range []string{
		"7 crashes, 5 signatures",
		"<dt>Programs</dt><dd>2</dd>", "<dt>Dumps that lack symbols</dt><dd>1</dd>", "<dt>Dumps that could not be walked</dt><dd>1</dd>",
		`<a href="a.html">a.dmp</a>`, "SIGSEGV, SIGBUS", "1 dump could not be walked", "g&lt;b&gt;.dmp: not a \\x1bminidump",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

// TestIndexLimits: the page has a bounded number of rows, signatures and errors, and says what
// it does not have.
func TestIndexLimits(t *testing.T) {
	var entries []IndexEntry
	for i := range maxRows + 100 {
		entries = append(entries, IndexEntry{Dump: fmt.Sprint(i), Signature: "large"})
	}
	for i := range maxGroups + 9 {
		entries = append(entries, IndexEntry{Dump: fmt.Sprint(i), Signature: fmt.Sprintf("group %05d", i)})
	}
	for i := range maxFailed + 8 {
		entries = append(entries, IndexEntry{Dump: fmt.Sprint(i), Error: "damaged"})
	}

	text := indexed(t, entries)
	rows := strings.Count(text, "<tr data-item>")
	if n := len(signatures(text)); n != maxGroups || rows > maxRows {
		t.Errorf("%d signatures, %d rows", n, rows)
	}
	for _, part := range []string{
		"10 more signatures are not on this page", "8 more.</p>",
		fmt.Sprintf("%s more dumps of this signature", "5,097"),
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

// TestIndexEntry: an entry has the innermost call of the thread that crashed, and counts the
// modules whose symbols were looked for in vain.
func TestIndexEntry(t *testing.T) {
	m := &walk.Module{Path: "/usr/bin/app", Name: "app", Version: "1.2", Base: 0x1000, End: 0x2000}
	p := &walk.Process{OS: "Linux", CPU: "x86_64", Modules: []*walk.Module{m}, Main: m, Memory: memoryMap{},
		Threads: []walk.Thread{{ID: 1}}, Crash: walk.Crash{Reason: "SIGSEGV", Address: 0x10, HasAddress: true}}
	p.Facts.Signature = "inner | outer"
	place := &walk.Place{Func: "outer", File: "/src/app.c", Line: 7, Inlines: []walk.InlineCall{{Func: "inner", File: "/src/app.h", Line: 3}}}
	r := &walk.Result{Process: p, Stacks: []walk.Stack{{Thread: &p.Threads[0], Frames: []walk.Frame{{PC: 0x1010, Module: m, Place: place}}}},
		Modules: []walk.ModuleSymbols{{Module: m, Symbols: &walk.Symbols{Tried: []companion.Probe{{Path: "app.sym"}}}}}}

	var got IndexEntry
	got.Fill(r)
	want := IndexEntry{Signature: "inner | outer", Program: "app", Version: "1.2", Reason: "SIGSEGV", Address: "0x10", System: "Linux x86_64",
		Threads: 1, Frames: 1, Without: 1, Place: "inner (app.h:3)"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
