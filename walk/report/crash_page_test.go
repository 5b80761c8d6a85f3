package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"symkit/lookup/source"
	"symkit/walk"
)

// pageOf returns the page of a result.
func pageOf(t *testing.T, r *walk.Result, opt PageOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, r, opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// stackOf returns a process whose only thread has these frames, by program counter.
func stackOf(pcs ...uint64) *walk.Result {
	m := &walk.Module{Path: "/bin/app", Name: "app", DebugID: "0123", Base: 0x1000, End: 0x100000}
	p := &walk.Process{OS: "Linux", CPU: "x86_64", Name: "app", Memory: memoryMap{}, Modules: []*walk.Module{m}, Main: m, Threads: []walk.Thread{{ID: 1}}}
	s := walk.Stack{Thread: &p.Threads[0]}
	for i, pc := range pcs {
		s.Frames = append(s.Frames, walk.Frame{PC: pc, SP: uint64(0x7000 + 16*i), Module: m, Trust: walk.TrustCFI,
			Place: &walk.Place{Func: fmt.Sprintf("f%x", pc), FuncAddr: pc - 1, File: `C:\src\a b.c`, Line: 7}})
	}
	return &walk.Result{Process: p, Stacks: []walk.Stack{s}, Modules: []walk.ModuleSymbols{{Module: m}}}
}

// TestPagePolicy: the policy allows the style sheet and the script of the page, and nothing else.
func TestPagePolicy(t *testing.T) {
	text := pageOf(t, stackOf(0x2000), PageOptions{})
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; ") || strings.Contains(policy[1], "unsafe") {
		t.Fatalf("policy %q", policy)
	}
	for _, tag := range []string{"style", "script"} {
		blocks := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(text, -1)
		if len(blocks) != 1 {
			t.Fatalf("%d blocks of %s", len(blocks), tag)
		}
		sum := sha256.Sum256([]byte(blocks[0][1]))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy[1], want) {
			t.Errorf("the policy lacks %s: %s", want, policy[1])
		}
	}
}

// TestNoSource: without any source of symbols no module of a frame is listed as in no stack,
// and the page says how to give symbols.
func TestNoSource(t *testing.T) {
	r := stackOf(0x2000)
	r.Modules = append(r.Modules, walk.ModuleSymbols{Module: &walk.Module{Path: "/lib/idle.so", Base: 0x200000, End: 0x201000}})
	text := pageOf(t, r, PageOptions{})
	if strings.Count(text, "none given") != 1 || strings.Count(text, "in no stack") != 1 {
		t.Errorf("%d modules without a source, %d in no stack", strings.Count(text, "none given"), strings.Count(text, "in no stack"))
	}
	for _, want := range []string{"1 module on the stacks has no symbols", "--symbols DIR|URL", "--exe FILE", "--sysroot DIR", "DEBUGINFOD_URLS"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestRepeats: recursions are folded, other frames are not.
func TestRepeats(t *testing.T) {
	var one, three, two []uint64
	for i := range 30 {
		one = append(one, 0x2000)
		three = append(three, 0x2000+uint64(i%3))
		two = append(two, 0x3000+uint64(i))
	}
	for _, c := range []struct {
		pcs           []uint64
		period, times int
	}{
		{one, 1, 30}, {three, 3, 10}, {two, 0, 0}, {one[:11], 0, 0}, {one[:12], 1, 12}, {nil, 0, 0},
		{append(three[:29:29], 0x9000), 3, 9},
	} {
		period, times := repeats(stackOf(c.pcs...).Stacks[0].Frames)
		if period != c.period || times != c.times {
			t.Errorf("%x: %d frames %d times, want %d and %d", c.pcs, period, times, c.period, c.times)
		}
	}
}

// TestPageFolded: a recursion has one row for each frame, folded.
func TestPageFolded(t *testing.T) {
	var pcs []uint64
	for i := range 100 {
		pcs = append(pcs, 0x2000+uint64(i%2))
	}
	text := pageOf(t, stackOf(append(pcs, 0x5000)...), PageOptions{})
	if n := strings.Count(text, `class="frame`); n < 101 || !strings.Contains(text, "49 times") || !strings.Contains(text, "(frames 2 to 99)") {
		t.Errorf("%d frames, %v", n, strings.Contains(text, "49 times"))
	}
}

func TestSourceLink(t *testing.T) {
	for _, c := range []struct{ link, path, want string }{
		{"https://host/{path}#L{line}", "/src/a.c", "https://host/src/a.c#L7"},
		{"https://host/{path}#L{line}", `C:\src\a b.c`, "https://host/C:/src/a%20b.c#L7"},
		{"https://host/{path}", `"><script>`, "https://host/%22%3E%3Cscript%3E"},
		{"https://host/{path}", `a?b#c`, "https://host/a%3Fb%23c"},
		{"", "/src/a.c", ""},
		{"https://host/{path}", "", ""},
	} {
		if got := sourceLink(c.link, c.path, 7); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.link, c.path, got, c.want)
		}
	}
	for link, good := range map[string]bool{"https://host/{path}": true, "file:///{path}": true, "vscode://file/{path}:{line}": true,
		"javascript:alert({path})": false, "data:text/html,{path}": false, "/{path}": false, "https://host/": false} {
		if err := CheckSourceLink(link); (err == nil) != good {
			t.Errorf("%s: %v", link, err)
		}
	}
}

// TestFaultWords: what is at the address of the fault.
func TestFaultWords(t *testing.T) {
	r := stackOf(0x2000, 0x3000)
	p := r.Process
	p.Modules[0].Base, p.Modules[0].End = 0x100000, 0x200000
	p.Modules = append(p.Modules, &walk.Module{Path: "/lib/libc.so.6", Name: "libc.so.6", Base: 0x7f0000000000, End: 0x7f0000100000})
	p.Threads[0].ID = 9
	p.Mappings = []walk.Mapping{{Begin: 0x100000, End: 0x200000, Read: true, Execute: true}, {Begin: 0x50000000, End: 0x50001000, Read: true}, {Begin: 0x60000000, End: 0x60001000}, {Begin: 0x7ff000010000, End: 0x7ff000100000, Read: true, Write: true}}
	r.Stacks[0].Frames[0].SP, r.Stacks[0].Frames[1].SP = 0x7ff000010800, 0x7ff000011000
	overflown := stackOf(0x2000, 0x3000)
	overflown.Process.Mappings = p.Mappings[3:]
	overflown.Stacks[0].Frames[0].SP, overflown.Stacks[0].Frames[1].SP = 0x7ff00000f800, 0x7ff000011000

	for _, c := range []struct {
		r    *walk.Result
		addr uint64
		want string
	}{
		{r, 0x8, "0x8 is near 0: a null pointer, or a member of what a null pointer points to"},
		{r, 0x100010, "0x100010 is in app, 0x10 bytes from the beginning; the memory may be read and executed"},
		{r, 0x7f0000000020, "0x7f0000000020 is in libc.so.6, 0x20 bytes from the beginning"},
		{r, 0x7efffffffff0, "0x7efffffffff0 is 16 bytes below libc.so.6"},
		{r, 0x7f0000100000, "0x7f0000100000 is 1 byte above the end of libc.so.6"},
		{r, 0x50000010, "0x50000010 is in a mapping of 4.1 kB that belongs to no module; the memory may be read"},
		{r, 0x60000010, "0x60000010 is in a mapping of 4.1 kB that belongs to no module; the memory may not be accessed"},
		{r, 0x7ff000010900, "0x7ff000010900 is in the stack of thread 9, 0x900 bytes from the beginning; the memory may be read and written"},
		{r, 0x7ff00000fff0, "0x7ff00000fff0 is 16 bytes below the stack of thread 9: an overflow of the stack, if that thread crashed"},
		{r, 0x41414141, "0x41414141 is in no module and in no stack of the dump"},
		{r, 1<<64 - 1, "0xffffffffffffffff is in no module and in no stack of the dump"},
		{overflown, 0x7ff00000f900, "0x7ff00000f900 is in the stack of thread 1, where no memory is mapped: an overflow of the stack"},
	} {
		c.r.Process.Crash.HasAddress, c.r.Process.Crash.Address = true, c.addr
		b := newPageBuilder(c.r, PageOptions{})
		if got := b.fault(b.regions()); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	b := newPageBuilder(stackOf(0x2000), PageOptions{})
	if got := b.fault(b.regions()); got != "" {
		t.Errorf("without an address: %q", got)
	}
}

// TestSpans: runs of numbers are shortened.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    string
	}{{nil, ""}, {[]int{3}, "3"}, {[]int{0, 1, 2, 5}, "0–2, 5"}, {[]int{1, 3}, "1, 3"}} {
		if got := spans(c.numbers); got != c.want {
			t.Errorf("%v: %q, want %q", c.numbers, got, c.want)
		}
	}
}

// TestPageLong: of 5,000 frames the first are open, the others folded and not printed, and the page
// has a table of contents.
func TestPageLong(t *testing.T) {
	pcs := make([]uint64, 5000)
	for i := range pcs {
		pcs[i] = 0x2000 + 16*uint64(i)
	}
	r := stackOf(pcs...)
	r.Process.Crash.Reason = "SIGSEGV"
	text := pageOf(t, r, PageOptions{})
	open, folded, found := strings.Cut(text, `<details class="fold no-print rest"><summary>4,950 more entries`)
	if !found || strings.Count(open, "data-item") != chunkSize || strings.Count(folded, `data-item data-pc`) != 4950 {
		t.Errorf("folded %v, %d frames open", found, strings.Count(open, "data-item"))
	}
	if !strings.Contains(text, "Not printed: 4,950 more entries") || !strings.Contains(text, `<nav class="contents no-print"`) {
		t.Error("the page lacks contents or the count for print")
	}
	for _, link := range regexp.MustCompile(`<li><a href="#(\w+)"`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(text, `id="`+link[1]+`"`) {
			t.Errorf("no part %s", link[1])
		}
	}
	if strings.Contains(pageOf(t, stackOf(pcs[:100]...), PageOptions{}), `<nav`) {
		t.Error("a short page has contents")
	}
}

// TestPageDepths: threads that differ only in the depth of a recursion are one group. The innermost
// round of a real recursion has another address than the others: it calls something else.
func TestPageDepths(t *testing.T) {
	for _, c := range []struct {
		name  string
		round []uint64 // addresses of the outer rounds
		inner []uint64 // of the innermost one
	}{{"one function", []uint64{0x3010}, []uint64{0x3020}}, {"two functions", []uint64{0x3010, 0x4010}, []uint64{0x3020, 0x4010}}} {
		r := stackOf(0x9000)
		p := r.Process
		p.Crashed = -1
		p.Threads = make([]walk.Thread, 200)
		r.Stacks = nil
		for i := range p.Threads {
			p.Threads[i].ID = i + 1
			pcs := append([]uint64{0x2000}, c.inner...)
			for range i { // the first thread is in the first round
				pcs = append(pcs, c.round...)
			}
			s := stackOf(append(pcs, 0x5000)...).Stacks[0]
			s.Thread = &p.Threads[i]
			for k := range s.Frames {
				f := &s.Frames[k]
				f.Place.FuncAddr = f.PC &^ 0xfff
				f.Place.Func = fmt.Sprintf("f%x", f.Place.FuncAddr)
			}
			r.Stacks = append(r.Stacks, s)
		}
		if groups := equalStacks(r); len(groups) != 1 || len(groups[0]) != 200 {
			t.Errorf("%s: %d groups", c.name, len(groups))
		}
		want := fmt.Sprintf("%d to %d frames", 2+len(c.inner), 2+len(c.inner)+199*len(c.round))
		if text := pageOf(t, r, PageOptions{}); !strings.Contains(text, want) {
			t.Errorf("%s: the page lacks the depths %s", c.name, want)
		}

		// Another wait, or another caller, is another group.
		r.Stacks[7].Frames[0].PC++
		r.Stacks[9].Frames[len(r.Stacks[9].Frames)-1].PC++
		if groups := equalStacks(r); len(groups) != 3 {
			t.Errorf("%s: %d groups with other functions", c.name, len(groups))
		}
	}
}

// TestPagePrint: of many different stacks the first are printed, and the page says so.
func TestPagePrint(t *testing.T) {
	r := stackOf(0x9000)
	p := r.Process
	p.Crashed = -1
	p.Threads = make([]walk.Thread, 30)
	r.Stacks = nil
	for i := range p.Threads {
		p.Threads[i].ID = i + 1
		s := stackOf(0x2000+16*uint64(i), 0x5000).Stacks[0]
		s.Thread = &p.Threads[i]
		r.Stacks = append(r.Stacks, s)
	}
	text := pageOf(t, r, PageOptions{})
	if all, left := strings.Count(text, `class="fold group`), strings.Count(text, `class="fold group no-print"`); all != 30 || left != 20 {
		t.Errorf("%d groups, %d not printed", all, left)
	}
	if !strings.Contains(text, "Printed: the first 10 of 30 stacks.") {
		t.Error("the page does not say what is printed")
	}
}

// TestSources: the lines around a frame are shown, escaped, and a file that is not the right one is named.
func TestSources(t *testing.T) {
	r := stackOf(0x2000, 0x3000)
	file := r.Stacks[0].Frames[0].Place.File
	text := []byte("1\n2\n3\n4\n5\n<script>6</script>\n\u202e7\n8\n")
	sources := Sources{r.Process.Modules[0]: {file: source.Found{Text: text}}}
	page := pageOf(t, r, PageOptions{Sources: sources})
	for _, want := range []string{
		`<span class="source-line hit"><span class="number">7</span>\u{202e}7</span>`, `<span class="number">6</span>&lt;script&gt;6&lt;/script&gt;</span>`, `<span class="number">2</span>2</span>`,
	} {
		if strings.Count(page, want) != 3 { // of the crash, and of each frame
			t.Errorf("%d times %s", strings.Count(page, want), want)
		}
	}
	if strings.Contains(page, `<span class="number">1</span>`) {
		t.Error("a line far away")
	}
	for want, found := range map[string]source.Found{
		"the line table has another MD5": {Text: text, Other: true}, "does not have this line": {Text: []byte("1\n")}, "cannot be read: too large": {Err: errors.New("too large")},
	} {
		sources[r.Process.Modules[0]][file] = found
		page := pageOf(t, r, PageOptions{Sources: sources})
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say: %s", want)
		}
	}
	if strings.Contains(pageOf(t, r, PageOptions{}), "<pre class=\"source\"") {
		t.Error("source code without source files")
	}
}
