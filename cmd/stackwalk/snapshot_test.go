package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/test/testfile"
)

// snapshots are where rust-minidump's own results are.
var snapshots = filepath.Join(repository, "cmd", "stackwalk", "testdata", "rust-minidump")

// TestJSON: the JSON is that of rust-minidump, but for what docs/differences.md
// lists.
func TestJSON(t *testing.T) {
	for name, args := range map[string][]string{
		"json-pretty-symbols": {"--symbols", filepath.Join(breakpad, "symbols", "test_app.pdb", "5A9832E5287241C1838ED98914E9B7FF1", "test_app.sym"), filepath.Join(dumps, "minidump2.dmp")},
		"linux_json_pretty":   {filepath.Join(dumps, "linux-mini.dmp")},
	} {
		t.Run(name, func(t *testing.T) {
			compareSnapshot(t, name, filepath.Join(snapshots, name+".json"), args...)
		})
	}
}

// compareSnapshot runs the program and compares what it writes with a snapshot.
func compareSnapshot(t *testing.T, name, file string, args ...string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(text), "\n{"); i > 0 {
		text = text[i:]
	}
	var want, got any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(output(t, append([]string{"--no-elf", "--format=json"}, args...)...)), &got); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{got, want} { // the copy of a thread
		if copied, ok := v.(map[string]any)["crashing_thread"].(map[string]any); ok {
			frames := copied["frames"].([]any)
			copied["frames"] = frames[:1]
			delete(copied, "frame_count")
		}
	}
	var diffs []string
	diffJSON("", got, want, func(line string) { diffs = append(diffs, line) })
	documented(t, name, diffs)
}

// diffJSON lists the differences of two values: only what the snapshot has is
// compared. Frames that only one of two stacks has do not count as differences
// of the others.
func diffJSON(path string, got, want any, report func(string)) {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			for key, v := range want {
				diffJSON(path+"."+key, got[key], v, report)
			}
			return
		}
	case []any:
		got, ok := got.([]any)
		if ok && strings.HasSuffix(path, ".frames") {
			diffFrames(path, got, want, report)
			return
		}
		if ok && (len(got) > 0 || len(want) == 0) {
			for i := range max(len(want), len(got)) {
				at := fmt.Sprintf("%s[%d]", path, i)
				switch {
				case i >= len(want):
					report(at + ": one more")
				case i >= len(got):
					report(at + ": none")
				default:
					diffJSON(at, got[i], want[i], report)
				}
			}
			return
		}
	}
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		report(fmt.Sprintf("%s: %s, not %s", path, g, w))
	}
}

// diffFrames compares stacks: first which frames there are, then what is reported
// of those that both have.
func diffFrames(path string, got, want []any, report func(string)) {
	name := func(f any) string {
		m := f.(map[string]any)
		return fmt.Sprint(m["offset"], " ", m["module"], " (", m["trust"], ")")
	}
	i, j := 0, 0
	for i < len(got) || j < len(want) {
		at := func(frames []any, from int, other any) bool {
			return slices.ContainsFunc(frames[from:], func(f any) bool { return name(f) == name(other) })
		}
		switch {
		case i < len(got) && j < len(want) && name(got[i]) == name(want[j]):
			for _, f := range []any{got[i], want[j]} {
				delete(f.(map[string]any), "frame")
			}
			diffJSON(fmt.Sprintf("%s[%d]", path, j), got[i], want[j], report)
			i, j = i+1, j+1
		case i < len(got) && (j == len(want) || !at(want, j, got[i])):
			report(path + ": " + name(got[i]) + ": not in the snapshot")
			i++
		default:
			report(path + ": " + name(want[j]) + ": only in the snapshot")
			j++
		}
	}
}

// documented asserts that docs/differences.md lists exactly these differences under a name.
func documented(t *testing.T, name string, diffs []string) {
	t.Helper()
	testfile.Documented(t, filepath.Join(repository, "docs", "differences.md"), name, diffs)
}
