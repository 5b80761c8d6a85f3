package compare

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// first is a result; the tests change parts of it.
const first = `{"status":"OK","crash_info":{"type":"SIGSEGV","address":"0x10"},
"modules":[{"filename":"prog","loaded_symbols":true,"missing_symbols":false},{"filename":"libc.so.6","loaded_symbols":true,"missing_symbols":false}],
"symkit":{"version":1,"signature":"crash"},
"threads":[{"thread_id":7,"symkit":{"end":"end of stack","complete":true},"frames":[
{"trust":"context","offset":"0x1010","module":"prog","module_offset":"0x10","function":"crash","function_offset":"0x10","file":"a.c","line":5,
 "inlines":[{"function":"in","file":"a.h","line":1},{"function":"mid","file":"a.h","line":2}],"symkit":{"trust":"context"}},
{"trust":"cfi","offset":"0x1110","module":"prog","module_offset":"0x110","function":"main","function_offset":"0x10","file":"a.c","line":9,"inlines":null,"symkit":{"trust":"cfi"}},
{"trust":"cfi","offset":"0x2110","module":"libc.so.6","module_offset":"0x110","function":"start","function_offset":"0x10","file":null,"line":null,"inlines":null,"symkit":{"trust":"cfi"}}]}]}`

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new string // replaced in the second result
		want     string // kind: group, a line each
	}{
		{"equal", "", "", ""},
		{"renamed", `"function":"main"`, `"function":"other"`, "renamed: prog!main -> other (1)"},
		{"without a name", `"function":"main"`, `"function":null`, "renamed: prog!main -> + 0x110 (1)"},
		{"inlined call renamed", `"function":"mid"`, `"function":"moved"`, "renamed: prog!mid -> moved (1)"},
		{"inlined call lost", `{"function":"in","file":"a.h","line":1},`, ``, "lost: prog!in (1)"},
		{"inlined call gained", `{"function":"in",`, `{"function":"new","file":"a.h","line":1},{"function":"in",`, "gained: prog!new (1)"},
		{"other line", `"line":9`, `"line":10`, "line: prog!main a.c:9 -> a.c:10 (1)"},
		{"other line of an inlined call", `"line":2`, `"line":3`, "line: prog!mid a.h:2 -> a.h:3 (1)"},
		{"no line", `"file":"a.c","line":9`, `"file":null,"line":null`, "line: prog!main a.c:9 -> no line (1)"},
		{"lowered", `"symkit":{"trust":"cfi"}}]`, `"symkit":{"trust":"scan"}}]`, "trust-lowered: libc.so.6: cfi -> scan (1)"},
		{"raised", `"symkit":{"trust":"cfi"}}]`, `"symkit":{"trust":"context"}}]`, "trust-raised: libc.so.6: cfi -> context (1)"},
		{"moved", `"function":"main","function_offset":"0x10"`, `"function":"main","function_offset":"0x8"`, "moved: prog!main at 0x100 -> main at 0x108 (1)"},
		{"another frame", `"offset":"0x1110"`, `"offset":"0x1118"`, "lost: prog!main (1)\ngained: prog!main (1)"},
		{"another thread", `"thread_id":7`, `"thread_id":8`, "thread-lost:  (1)\nthread-gained:  (1)"},
		{"crash", `"0x10"}`, `"0x18"}`, "crash: SIGSEGV at 0x10 -> SIGSEGV at 0x18 (1)"},
		{"signature", `"signature":"crash"`, `"signature":"other"`, "signature: crash -> other (1)"},
		{"symbols", `"libc.so.6","loaded_symbols":true`, `"libc.so.6","loaded_symbols":false`, ""},
		{"symbols lost", `"libc.so.6","loaded_symbols":true,"missing_symbols":false`, `"libc.so.6","loaded_symbols":false,"missing_symbols":true`, "symbols-lost: libc.so.6 (1)"},
		{"another tool", `"symkit":{"version":1,"signature":"crash"},`, ``, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			second := strings.Replace(first, test.old, test.new, 1)
			if test.old != "" && second == first {
				t.Fatal("nothing was changed")
			}
			if got := differences(t, first, second); got != test.want {
				t.Errorf("%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestThumb: the bit for Thumb code is no part of an address.
func TestThumb(t *testing.T) {
	arm := strings.Replace(first, `"status":"OK",`, `"status":"OK","system_info":{"cpu_arch":"arm"},`, 1)
	odd := strings.Replace(arm, `"offset":"0x1110","module":"prog","module_offset":"0x110","function":"main","function_offset":"0x10"`,
		`"offset":"0x1111","module":"prog","module_offset":"0x111","function":"main","function_offset":"0x11"`, 1)
	if odd == arm {
		t.Fatal("nothing was changed")
	}
	if got := differences(t, arm, odd); got != "" {
		t.Error(got)
	}
}

// differences lists the groups of all kinds.
func differences(t *testing.T, first, second string) string {
	t.Helper()
	d := newDifferences()
	d.compare("", parsed(t, first), parsed(t, second))
	var lines []string
	for _, k := range Kinds() {
		for _, g := range d.sorted(k) {
			lines = append(lines, string(k)+": "+g.String()+" ("+strings.Repeat("1", g.Count)+")")
		}
	}
	return strings.Join(lines, "\n")
}

func parsed(t *testing.T, text string) *result {
	t.Helper()
	r, err := parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadErrors(t *testing.T) {
	for _, test := range []struct {
		text string
		want error
		says string
	}{
		{"", errNotResult, "the file is empty"},
		{"[]", errNotResult, ""},
		{"{}", errNotResult, "no status"},
		{first[:200], nil, "the file is cut short"},
		{`{"status":"ERROR_NO_THREAD_LIST"}`, errStatus, "ERROR_NO_THREAD_LIST"},
		{`{"status":"OK","symkit":{"version":2}}`, errVersion, "2; version 1"},
		{`{"status":"OK","threads":[{"frames":[{"offset":"0xzz"}]}]}`, errNotResult, "0xzz"},
	} {
		_, err := parse(strings.NewReader(test.text))
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.40s: %v, want %v with %q", test.text, err, test.want, test.says)
		}
	}
}

// TestDirectories: results are paired by their paths.
func TestDirectories(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		"one.json": first, "sub/two.json": first, "gone.json": first, "notes.txt": "not a result",
	} {
		write(t, filepath.Join(a, path), text)
	}
	renamed := strings.Replace(first, `"function":"main"`, `"function":"ma\u001bin"`, 1)
	for path, text := range map[string]string{"one.json": first, "sub/two.json": renamed, "new.json": first} {
		write(t, filepath.Join(b, path), text)
	}

	d, err := Paths(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := d.Text(&out, 10); err != nil {
		t.Fatal(err)
	}
	const want = `results only in the first directory (result-lost): 1
     1  gone.json

results only in the second directory (result-gained): 1
     1  new.json

frames renamed (renamed): 1
     1  prog!main -> ma\x1bin
        sub/two.json, thread 7, frame 3, 0x1110

differences: compared 2 results, 2 threads, 6 frames
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}

	out.Reset()
	if err := d.JSON(&out, 0); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Version int
		Equal   bool
		Counts  map[string]int
		Groups  []map[string]any `json:"differences"`
	}
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
		t.Fatal(err)
	}
	if report.Version != 1 || report.Equal || report.Counts["renamed"] != 1 || len(report.Counts) != len(Kinds()) || len(report.Groups) != 3 {
		t.Errorf("%+v", report)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzRead: no text crashes Read or the comparison of what was read with a result.
func FuzzRead(f *testing.F) {
	f.Add([]byte(first))
	f.Add([]byte(`{"status":"OK","threads":[{},{"thread_id":7,"frames":[{},{"offset":"0x1010","inlines":[{}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		a, _ := parse(strings.NewReader(first))
		there, back, same := newDifferences(), newDifferences(), newDifferences()
		there.compare("", a, r)
		back.compare("", r, a)
		same.compare("", r, r)
		if len(same.groups) > 0 {
			t.Fatalf("a result differs from itself: %v", same.groups)
		}
		if there.Count(threadLost) != back.Count(threadGained) {
			t.Fatalf("%d threads lost, %d gained", there.Count(threadLost), back.Count(threadGained))
		}
	})
}

// TestScanned: frames that only scanning found are marked, because they can be wrong.
func TestScanned(t *testing.T) {
	a := &result{Threads: []thread{{ID: 1, Frames: []frame{{Addr: 1, Function: "f", Trust: "context"}}}}}
	b := &result{Threads: []thread{{ID: 1, Frames: []frame{{Addr: 1, Function: "f", Trust: "context"},
		{Addr: 2, Module: "m", Function: "g", Trust: "scan"}, {Addr: 3, Module: "m", Function: "g", Trust: "cfi"}}}}}
	d := newDifferences()
	d.compare("", a, b)
	var text []string
	for _, g := range d.sorted(gained) {
		text = append(text, g.String())
	}
	if got, want := strings.Join(text, "|"), "m!g|m!g  (found by scanning)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
