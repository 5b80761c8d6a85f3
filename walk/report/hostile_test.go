package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"symkit/walk"
)

// Names with newlines, separators, NULs, of bytes that are not UTF-8 and
// of megabytes break neither JSON nor lines, whatever they are the names of.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"a\nb", "a\x00b\x1b[2J", "\xff\xfe\x80", "a|b\"c\\d</script>", "\u2028\u0085", strings.Repeat("n", 1<<20)} {
		m := &walk.Module{Path: "/" + name, Name: name, DebugFile: name, DebugID: name, Version: name, CodeID: name, Base: 0x1000, End: 0x2000}
		p := &walk.Process{OS: "Linux", OSVersion: name, CPU: "x86_64", Name: name, Args: name, Memory: memoryMap{}, Modules: []*walk.Module{m}, Main: m,
			Threads: []walk.Thread{{ID: 1, Name: name}}, Facts: walk.Facts{Unloaded: []walk.UnloadedModule{{Name: name, Base: 0x3000, End: 0x4000, CodeID: name}}, Assertion: name}}
		place := &walk.Place{Func: name, FuncAddr: 0x1000, File: name, Line: 7, LineAddr: 0x1000, Inlines: []walk.InlineCall{{Func: name, File: name, Line: 3}}}
		res := &walk.Result{Process: p, Stacks: []walk.Stack{{Thread: &p.Threads[0], Frames: []walk.Frame{{PC: 0x1010, Module: m, Place: place}}}},
			Modules: []walk.ModuleSymbols{{Module: m, Loaded: true}}}
		var out bytes.Buffer
		if err := JSON(&out, res); err != nil || !json.Valid(out.Bytes()) || !utf8.Valid(out.Bytes()) {
			t.Errorf("%.20q: no JSON: %v", name, err)
		}
		out.Reset()
		if err := Text(&out, res, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
			t.Errorf("%.20q: control character at %d of the text", name, i)
		}
		if n := strings.Count(out.String(), "(inlined)\n"); n != 1 {
			t.Errorf("%.20q: %d lines of the inlined call", name, n)
		}
	}
}
