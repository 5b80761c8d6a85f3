package diff_test

import (
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/testfile"

	"symkit/check/diff"
	"symkit/check/internal/checks"
	"symkit/check/report"
)

const diffA = "MODULE Linux x86_64 0123456789ABCDEF0 app\nINFO CODE_ID 01\nINFO GENERATOR a\n" +
	"FILE 0 /src/a.c\nFILE 1 /src/b.h\nINLINE_ORIGIN 0 in\nINLINE_ORIGIN 1 out\n" +
	"FUNC 10 20 0 f\nINLINE 0 7 0 1 12 8\nINLINE 1 8 1 0 14 2\n10 10 1 0\n20 10 2 1\n" +
	"PUBLIC 8 0 p\nPUBLIC 40 0 q\n" +
	"STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 12 .cfa: $rsp 16 + $rbx: .cfa -16 + ^\n"

// diffB has the content of diffA in other words.
const diffB = "MODULE Linux x86_64 0123456789ABCDEF0 app\nINFO CODE_ID 01\n" +
	"FILE 5 /src/x/../a.c\nFILE 3 /src/b.h\nINLINE_ORIGIN 9 out\nINLINE_ORIGIN 2 in\n" +
	"FUNC 10 20 0 f\nINLINE 1 8 3 2 15 1 14 1\nINLINE 0 7 5 9 16 4\nINLINE 0 7 5 9 12 4\n10 8 1 5\n18 8 1 5\n20 10 2 3\n" +
	"STACK CFI INIT 10 2 .cfa: 8 $rsp + .ra: $rsp ^\n" +
	"STACK CFI INIT 12 1e .cfa: $rsp 8 + 8 + .ra: .cfa 8 - ^ $rbx: $rsp ^ $rbp: $rbp\n" +
	"PUBLIC 40 0 q\nPUBLIC 8 0 p\n"

func TestDiffSame(t *testing.T) {
	for _, pair := range [][2]string{{diffA, diffA}, {diffA, diffB}, {diffB, diffA}} {
		rep, err := diff.Files([]byte(pair[0]), []byte(pair[1]), report.Options{})
		if err != nil || rep.Total() > 0 {
			t.Errorf("%v, %+v", err, rep.Findings)
		}
	}
}

func TestDiffOther(t *testing.T) {
	for _, test := range []struct{ from, to, check, what string }{
		{"app\n", "other\n", checks.Module, "the other file has Linux x86_64 0123456789ABCDEF0 other"},
		{"CODE_ID 01", "CODE_ID 02", checks.Module, "not in the other file"},
		{"FUNC 10 20 0 f", "FUNC 10 20 0 g", checks.Funcs, "[0x10, 0x30): the other file says FUNC 10 20 0 g"},
		{"FUNC 10 20 0 f", "FUNC 10 1c 0 f", checks.Funcs, "[0x2c, 0x30): nothing in the other file"},
		{"10 10 1 0\n", "10 10 3 0\n", checks.Lines, "[0x10, 0x20): the other file says /src/a.c:3"},
		{"FILE 1 /src/b.h", "FILE 1 /src/c.h", checks.Lines, "the other file says /src/c.h:2"},
		{"ORIGIN 0 in", "ORIGIN 0 on", checks.Inlines, "[0x14, 0x16): the other file says at depth 1 on called from /src/b.h:8"},
		{"INLINE 0 7 0 1 12 8", "INLINE 0 7 0 1 12 9", checks.Inlines, "only the other file covers [0x1a, 0x1b)"},
		{"PUBLIC 8 0 p", "PUBLIC 8 0 r", checks.Publics, "the other file says PUBLIC r"},
		{"PUBLIC 8 0 p\n", "", checks.Publics, "nothing in the other file"},
		{"$rsp 16 +", "$rsp 24 +", checks.CFI, "[0x12, 0x30): the other file says .cfa: $rsp 24 +"},
		{" $rbx: .cfa -16 + ^", "", checks.CFI, "[0x12, 0x30): the other file says nothing of $rbx"},
		{"STACK CFI 12", "STACK CFI 13", checks.CFI, "[0x12, 0x13): the other file says .cfa: $rsp 8 +"},
	} {
		b := strings.Replace(diffA, test.from, test.to, 1)
		rep, err := diff.Files([]byte(diffA), []byte(b), report.Options{})
		if err != nil || !strings.Contains(text(t, rep), test.what) || rep.Check(test.check).Findings == 0 {
			t.Errorf("%q to %q: %v\n%s", test.from, test.to, err, text(t, rep))
		}
	}
}

// TestDiffTools compares the symbol files that two tools wrote for one program.
func TestDiffTools(t *testing.T) {
	dir := filepath.Join("..", "testdata", "defects")
	rep, err := diff.Files(readTest(t, filepath.Join(dir, "tomb.breakpad.sym")), readTest(t, filepath.Join(dir, "tomb.mozilla-inlines.sym")), report.Options{})
	if err != nil || rep.Check(checks.Lines).Findings == 0 || rep.Check(checks.Funcs).Findings > 0 {
		t.Errorf("%v\n%s", err, text(t, rep))
	}
}

// readTest reads a test file, unpacked.
func readTest(t *testing.T, path string) []byte {
	t.Helper()
	data, err := testfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// text returns the text form of a report.
func text(t *testing.T, r *report.Report) string {
	t.Helper()
	var b strings.Builder
	err := r.WriteText(&b, "file.sym")
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
