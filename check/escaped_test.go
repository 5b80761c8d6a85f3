package check

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/internal/naming"
)

// TestEscapedNames checks that control characters and bytes that are not UTF-8, in paths, names of
// functions and symbols, and the module's name, are escaped in symbol files.
func TestEscapedNames(t *testing.T) {
	path := filepath.Join("testdata", "sound", "abspath-clang14.o")
	data, sym := readTest(t, path), string(readTest(t, path+".sym"))
	for _, test := range []struct {
		path, function                       string // as long as "/s/x.c" and "f"
		escapedPath, escapedFunction, module string
	}{
		{"/s/\x1b.c", "f", `/s/\x1b.c`, "f", "m"},
		{"/s/\x7f.c", "\x01", `/s/\x7f.c`, `\x01`, "m"},
		{"/s/\xff.c", "\xff", `/s/\xff.c`, `\xff`, "m"},
		{"/s/\n.c", "\n", `/s/\x0a.c`, `\x0a`, "m"},
		{"/s/\u0085c", "\r", `/s/\xc2\x85c`, `\x0d`, "m"},
		{"C:/\x1b.c", "\r", `C:/\x1b.c`, `\x0d`, "m"},
		{"/s/x.c", "f", "/s/x.c", "f", "m\x1b"},
	} {
		changed := bytes.ReplaceAll(data, []byte("/s/x.c"), []byte(test.path))
		changed = bytes.ReplaceAll(changed, []byte("\x00f\x00"), []byte("\x00"+test.function+"\x00"))
		img := openData(t, changed, test.module)
		good := strings.NewReplacer("/s/x.c", test.escapedPath, " 0 f\n", " 0 "+test.escapedFunction+"\n",
			filepath.Base(path), naming.Escaped(test.module)).Replace(sym)
		if rep := mustCheck(t, img, []byte(good), Options{}); rep.Total() > 0 || len(rep.Findings) > 0 {
			t.Errorf("%q: %s", test.path, text(t, rep))
		}
		if rep := mustCheck(t, img, []byte(strings.Replace(good, ".c\n", ".h\n", 1)), Options{}); rep.Total() == 0 && test.escapedPath[len(test.escapedPath)-2] == '.' {
			t.Errorf("%q: another path was not found", test.path)
		}
		bad := strings.Replace(good, " 0 "+test.escapedFunction+"\n", ` 0 \x02`+"\n", 1)
		if rep := mustCheck(t, img, []byte(bad), Options{}); counts(rep)[checks.Names] == 0 {
			t.Errorf("%q: another name was not found", test.function)
		}
	}
}
