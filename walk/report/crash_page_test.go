package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

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
	return &walk.Result{Process: p, Stacks: []walk.Stack{s}}
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
