package symbolicate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/emit"
	"symkit/lookup"
	"symkit/lookup/source"
	"symkit/serve/symbolicate"
)

// store has symbol files by NAME/ID, and ELF files by their code ids.
type store struct {
	symbols map[string]string
	files   map[string]string
	mu      sync.Mutex
	opened  map[string]int
}

func (s *store) Symbols(_ context.Context, name, id string) (*lookup.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		s.opened = map[string]int{}
	}
	s.opened[name+"/"+id]++
	text, ok := s.symbols[name+"/"+id]
	if !ok {
		return nil, fmt.Errorf("no symbols of %s: %w", name, fs.ErrNotExist)
	}
	index := emit.NewIndex([]byte(text))
	module, ok := index.Module()
	if !ok || !strings.EqualFold(module.ID, id) {
		return nil, fmt.Errorf("no MODULE record of %s: %w", name, lookup.ErrOther)
	}
	return lookup.FromIndex(name, nil, index, int64(len(text)), lookup.Options{}, func() {}), nil
}

func (s *store) Executable(_ context.Context, _, codeID string) (*elfx.File, error) {
	path, ok := s.files[strings.ToLower(codeID)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return elfx.Open(path)
}

const (
	plainID   = "D48F191186D67E69DF025AD71FB91E1F0"
	plainText = `MODULE Linux x86_64 D48F191186D67E69DF025AD71FB91E1F0 app
FILE 0 /src/app/main.rs
FUNC 5380 44 0 app::main
5380 9 1 0
5389 36 2 0
53bf 5 3 0
FUNC 5400 10 0 no lines
PUBLIC 5500 0 _start
PUBLIC 5600 0 caf` + "é \U0001f600 \xff \"\\\t" + `
`
	inlinesID   = "0905AE80CEE75A33E3CAB61C274274DE0"
	inlinesText = `MODULE Linux x86_64 0905AE80CEE75A33E3CAB61C274274DE0 app
INFO CODE_ID 80AE0509E7CE335AE3CAB61C274274DE96049B64
FILE 0 /src/main.rs
FILE 1 /rustc/fmt.rs
FILE 2 /src/helper.rs
INLINE_ORIGIN 0 helper::middle
INLINE_ORIGIN 1 helper::inner
INLINE_ORIGIN 2 Arguments::new_v1
FUNC 7a40 85 0 app::main
INLINE 0 4 0 0 7a40 7d
INLINE 1 2 2 1 7a40 49
INLINE 2 7 2 2 7a40 3a
INLINE 1 3 2 2 7a89 31
7a40 7 3 0
7a47 33 392 1
7a7a f 7 2
7a89 31 392 1
7aba 3 3 2
7abd 8 5 0
`
	windowsID   = "F86EB934B42FBB79B2595AA25907695C1"
	windowsText = `MODULE windows x86_64 F86EB934B42FBB79B2595AA25907695C1 ntdll.pdb
INFO CODE_ID 0532197720E000 ntdll.dll
FUNC 1008 106 0 LdrpGetModuleName
`
)

func testStore() *store {
	return &store{symbols: map[string]string{
		"app/" + plainID:         plainText,
		"app/" + inlinesID:       inlinesText,
		"ntdll.pdb/" + windowsID: windowsText,
		"junk/" + plainID:        "this is junk",
		"[k:x]/" + plainID:       plainText,
	}}
}

// server returns a server of s until t ends.
func server(t testing.TB, s symbolicate.Store, opt symbolicate.Options) *symbolicate.Server {
	t.Helper()
	server, err := symbolicate.New(s, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// post sends a request.
func post(s http.Handler, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestErrors: the bodies of refused requests are Eliot's.
func TestErrors(t *testing.T) {
	s := server(t, testStore(), symbolicate.Options{})
	one := func(stacks, memory string) string {
		return `{"jobs": [{"stacks": ` + stacks + `, "memoryMap": ` + memory + `}]}`
	}
	const abc = `[["abc.so", "ABC"]]`
	for _, c := range []struct{ body, want string }{
		{"", "Payload is not valid JSON"},
		{"data=wrongtype", "Payload is not valid JSON"},
		{`{"jobs": [`, "Payload is not valid JSON"},
		{"{}", "job 0 is invalid: no stacks specified"},
		{`{"modules": [["xul.so", "ABCDE"]]}`, "job 0 is invalid: no stacks specified"},
		{`{"stacks": [[[0, 1000]]]}`, "job 0 is invalid: no memoryMap specified"},
		{`{"jobs": [{"stacks": [[[0, 1000]]], "memoryMap": [["xul.so", "ABCDE"]]}, {"modules": []}]}`, "job 1 is invalid: no stacks specified"},
		{`{"jobs": [1]}`, "job 0 is invalid"},
		{"[]", "job 0 is invalid"},
		{"null", "job 0 is invalid"},
		{`"jobs"`, "job 0 is invalid"},
		{`{"jobs": 1}`, "jobs must be a list"},
		{`{"jobs": [` + strings.Repeat("{},", 10) + `{}]}`, "please limit number of jobs in a single request to <= 10"},
		{one("[[]]", "123"), "job 0 has invalid modules: modules must be a list"},
		{one("[[]]", `["abc"]`), "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
		{one("[[]]", `[["abc"]]`), "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
		{one("[[]]", `[["abc", "abc"], ["abc"]]`), "job 0 has invalid modules: module index 1 does not have a debug_filename and debug_id"},
		{one("[[]]", `[["abc", "abc", "abc"]]`), "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
		{one("[[]]", `[["(", "ABC"]]`), "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
		{one("[[]]", `[["a/b", "ABC"]]`), "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
		{one("[[]]", `[["a\u0000", "ABC"]]`), "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
		{one("[[]]", `[[1, "ABC"]]`), "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
		{one("[[]]", `[["abc.so", "xyz"]]`), "job 0 has invalid modules: module index 0 has an invalid debug_id"},
		{one("[[]]", `[["abc.so", "  abc"]]`), "job 0 has invalid modules: module index 0 has an invalid debug_id"},
		{one("[[]]", `[["abc.so", 12]]`), "job 0 has invalid modules: module index 0 has an invalid debug_id"},
		{one("[]", "[]"), "job 0 has invalid stacks: no stacks specified"},
		{one(`"abc"`, "[]"), "job 0 has invalid stacks: stacks must be a list of lists"},
		{one(`["abc"]`, "[]"), "job 0 has invalid stacks: stack 0 is not a list"},
		{one("[[0]]", abc), "job 0 has invalid stacks: stack 0 frame 0 is not a list of two items"},
		{one("[[[0, 1, 2]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 is not a list of two items"},
		{one(`[[["abc", 0]]]`, abc), "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index"},
		{one("[[[0.0, 0]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index"},
		{one("[[[-2, 0]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
		{one("[[[100, 0]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
		{one("[[[18446744073709551617, 0]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
		{one(`[[], [[0, 1], [0, "abc"]]]`, abc), "job 0 has invalid stacks: stack 1 frame 1 has an invalid module_offset"},
		{one("[[[0, -2]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
		{one("[[[0, 1e3]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
		{one("[[[0, 18446744073709551616]]]", abc), "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
		{one("[["+strings.Repeat("[0,1],", 1<<19)+"[0,1]]]", abc), "please limit number of frames in a single request to <= 524288"},
		{one("["+strings.Repeat("[],", 1<<19)+"[]]", abc), "please limit number of stacks in a single request to <= 524288"},
		{one("[[]]", "["+strings.Repeat(`["",""],`, 1<<14)+`["",""]]`), "please limit number of modules in a single request to <= 16384"},
	} {
		w := post(s, "/symbolicate/v5", c.body)
		want := `{"title": "` + c.want + `"}`
		if w.Code != http.StatusBadRequest || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%.80s: %d %s, want %s", c.body, w.Code, w.Body, want)
		}
	}

	// The fourth version has one job.
	for _, c := range []struct{ body, want string }{
		{"", "Payload is not valid JSON"},
		{`{"jobs": []}`, "job 0 is invalid: no stacks specified"},
		{"[]", "job 0 is invalid"},
	} {
		w := post(s, "/symbolicate/v4", c.body)
		if w.Code != http.StatusBadRequest || w.Body.String() != `{"title": "`+c.want+`"}` {
			t.Errorf("v4 %s: %d %s", c.body, w.Code, w.Body)
		}
	}

	w := post(s, "/symbolicate/v5", strings.Repeat(" ", 33<<20))
	if w.Code != http.StatusRequestEntityTooLarge || w.Body.String() != `{"title": "please limit the size of a request to <= 33554432 bytes"}` {
		t.Errorf("large: %d %s", w.Code, w.Body)
	}
	r := httptest.NewRequest(http.MethodPost, "/symbolicate/v5", io.MultiReader(strings.NewReader("{"), bytes.NewReader(make([]byte, 33<<20))))
	w = httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("large without a length: %d %s", w.Code, w.Body)
	}
}

// TestMethods: other methods and paths get JSON, and browsers' questions an answer.
func TestMethods(t *testing.T) {
	s := server(t, testStore(), symbolicate.Options{})
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{http.MethodGet, "/symbolicate/v5", 405, `{"title": "405 Method Not Allowed"}`},
		{http.MethodPut, "/asm/v1", 405, `{"title": "405 Method Not Allowed"}`},
		{http.MethodPost, "/symbolicate/v6", 404, `{"title": "404 Not Found"}`},
		{http.MethodOptions, "/symbolicate/v4", 200, ""},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status || w.Body.String() != c.body || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s: %d %s %v", c.method, c.path, w.Code, w.Body, w.Header())
		}
	}
	r := httptest.NewRequest(http.MethodOptions, "/symbolicate/v5", nil)
	r.Header.Set("Origin", "example.com")
	r.Header.Set("Access-Control-Request-Method", "POST")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Allow-Methods":  "POST",
		"Access-Control-Allow-Headers":  "*",
		"Access-Control-Expose-Headers": "accept, accept-encoding, authorization, content-type, dnt, origin, user-agent, x-csrftoken, x-requested-with",
	} {
		if w.Header().Get(name) != want || w.Code != http.StatusOK {
			t.Errorf("%d %s: %q, want %q", w.Code, name, w.Header().Get(name), want)
		}
	}
}

// TestSymbolicate: the answers have Eliot's keys and numbers in its order, function_size after them, and module_errors.
func TestSymbolicate(t *testing.T) {
	s := server(t, testStore(), symbolicate.Options{})
	for _, c := range []struct{ name, body, want string }{
		{"missing and not asked for", `{"stacks": [[[0, 1000], [0, 1020]]], "memoryMap": [["gone", "` + plainID + `"], ["libc.so", "12345"]]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "gone", "module_offset": "0x3e8"}, {"frame": 1, "module": "gone", "module_offset": "0x3fc"}]], ` +
				`"found_modules": {"gone/` + plainID + `": false, "libc.so/12345": null}, "module_errors": {"gone/` + plainID + `": [{"name": "NoCandidatePathForDebugFile", "message": "no symbols of gone: file does not exist"}]}}]}`},
		{"found", `{"jobs": [{"memoryMap": [["app", "` + plainID + `"]], "stacks": [[[0, 21376]]]}]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "app", "module_offset": "0x5380", "function": "app::main", "function_offset": "0x0", "file": "/src/app/main.rs", "line": 1, "function_size": "0x44"}]], ` +
				`"found_modules": {"app/` + plainID + `": true}}]}`},
		{"inlined calls", `{"jobs": [{"stacks": [[[0, 31354]]], "memoryMap": [["app", "` + inlinesID + `"]]}]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "app", "module_offset": "0x7a7a", "function": "app::main", "function_offset": "0x3a", "file": "/src/main.rs", "line": 4, ` +
				`"inlines": [{"function": "helper::inner", "file": "/src/helper.rs", "line": 7}, {"function": "helper::middle", "file": "/src/helper.rs", "line": 2}], "function_size": "0x85"}]], ` +
				`"found_modules": {"app/` + inlinesID + `": true}}]}`},
		{"the name of the code's file, no line without a file", `{"jobs": [{"stacks": [[[0, 4104]]], "memoryMap": [["ntdll.pdb", "` + windowsID + `"]]}]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "ntdll.dll", "module_offset": "0x1008", "function": "LdrpGetModuleName", "function_offset": "0x0", "function_size": "0x106"}]], ` +
				`"found_modules": {"ntdll.pdb/` + windowsID + `": true}}]}`},
		{"no module, no offset, no name", `{"jobs": [{"stacks": [[[-1, 1000], [0, -1], [1, 5], [2, 7]], [], [[0, 0]]], "memoryMap": [["app", "` + plainID + `"], ["", ""], ["x", ""]]}]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "<unknown>", "module_offset": "0x3e8"}, {"frame": 1, "module": "app", "module_offset": "-0x1"}, ` +
				`{"frame": 2, "module": "<unknown>", "module_offset": "0x5"}, {"frame": 3, "module": "x", "module_offset": "0x7"}], [], [{"frame": 0, "module": "app", "module_offset": "0x0"}]], ` +
				`"found_modules": {"app/` + plainID + `": true, "/": null, "x/": null}}]}`},
		{"PUBLIC records, and text that is escaped", `{"jobs": [{"stacks": [[[0, 21761], [0, 22016], [0, 21510]]], "memoryMap": [["app", "` + plainID + `"]]}]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "app", "module_offset": "0x5501", "function": "_start", "function_offset": "0x1"}, ` +
				`{"frame": 1, "module": "app", "module_offset": "0x5600", "function": "caf\u00e9 \ud83d\ude00 \ufffd \"\\", "function_offset": "0x0"}, ` +
				`{"frame": 2, "module": "app", "module_offset": "0x5406", "function": "no lines", "function_offset": "0x6", "function_size": "0x10"}]], "found_modules": {"app/` + plainID + `": true}}]}`},
		{"malformed, an id that is none, two times in two jobs", `{"jobs": [{"stacks": [[[0, 1], [1, 1]]], "memoryMap": [["junk", "` + plainID + `"], ["libm", "ABC"], ["junk", "` + plainID + `"]]}, {"stacks": [[]], "memoryMap": [["junk", "` + plainID + `"]]}]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "junk", "module_offset": "0x1"}, {"frame": 1, "module": "libm", "module_offset": "0x1"}]], ` +
				`"found_modules": {"junk/` + plainID + `": false, "libm/ABC": false}, "module_errors": {"junk/` + plainID + `": [{"name": "BreakpadParsing", "message": "no MODULE record of junk: neither an ELF file, a symbol file nor a GSYM file"}], ` +
				`"libm/ABC": [{"name": "InvalidBreakpadId", "message": "the id is not one of a MODULE record, which has 33 to 40 hexadecimal digits"}]}}, ` +
				`{"stacks": [[]], "found_modules": {"junk/` + plainID + `": false}, "module_errors": {"junk/` + plainID + `": [{"name": "BreakpadParsing", "message": "no MODULE record of junk: neither an ELF file, a symbol file nor a GSYM file"}]}}]}`},
		{"samply's names, escapes in the request, members twice", `{"jobs": [{"stacks": 1, "\u0073tacks": [[[0, 21376]]], "memoryMap": [["\u005bk:x]", "` + plainID + `"]], "x": {"a": ["]", "\"}"]}}]}`,
			`{"results": [{"stacks": [[{"frame": 0, "module": "[k:x]", "module_offset": "0x5380", "function": "app::main", "function_offset": "0x0", "file": "/src/app/main.rs", "line": 1, "function_size": "0x44"}]], ` +
				`"found_modules": {"[k:x]/` + plainID + `": true}}]}`},
		{"no jobs", `{"jobs": []}`, `{"results": []}`},
	} {
		w := post(s, "/symbolicate/v5", c.body)
		if w.Code != http.StatusOK || w.Body.String() != c.want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d\n%s\nwant\n%s", c.name, w.Code, w.Body, c.want)
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: not JSON", c.name)
		}
	}
}

// TestV4: the answers of the fourth version.
func TestV4(t *testing.T) {
	s := server(t, testStore(), symbolicate.Options{})
	for _, c := range []struct{ body, want string }{
		{`{"stacks": [[[0, 1000], [-1, 1020]]], "memoryMap": [["gone", "` + plainID + `"], ["libc.so", "12345"]], "version": 4}`,
			`{"symbolicatedStacks": [["0x3e8 (in gone)", "0x3fc (in <unknown>)"]], "knownModules": [false, null]}`},
		{`{"stacks": [[[0, 31354]], [[0, -1]]], "memoryMap": [["app", "` + inlinesID + `"]], "version": 4}`,
			`{"symbolicatedStacks": [["app::main (in app)"], ["-0x1 (in app)"]], "knownModules": [true]}`},
	} {
		w := post(s, "/symbolicate/v4", c.body)
		if w.Code != http.StatusOK || w.Body.String() != c.want {
			t.Errorf("%d\n%s\nwant\n%s", w.Code, w.Body, c.want)
		}
	}
}

// TestDebug: with any value of the header Debug, the answer says what was opened.
func TestDebug(t *testing.T) {
	s := server(t, testStore(), symbolicate.Options{})
	body := `{"jobs": [{"stacks": [[[0, 21376], [1, 2]]], "memoryMap": [["app", "` + plainID + `"], ["gone", "` + plainID + `"]]}]}`
	for _, hits := range []int{0, 1} {
		var answer struct {
			Debug struct {
				Time    float64
				Lookups struct{ Count, Hits int } `json:"cache_lookups"`
				Modules struct {
					Count int
					Jobs  map[string]int `json:"stacks_per_module"`
				}
				Downloads struct {
					Count, Size int
					Time        float64
					Failed      map[string]float64 `json:"fail_time_per_module"`
					Times       map[string]float64 `json:"time_per_module"`
				}
				Parse map[string]float64 `json:"parse_sym"`
				Save  map[string]float64 `json:"save_symcache"`
			}
		}
		w := post(s, "/symbolicate/v5", body, "Debug", "no")
		err := json.Unmarshal(w.Body.Bytes(), &answer)
		if err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		d := answer.Debug
		if d.Lookups.Count != 2 || d.Lookups.Hits != hits || d.Downloads.Count != 2-hits || d.Modules.Count != 2 || len(d.Modules.Jobs) != 2 || len(d.Downloads.Failed) != 1 || len(d.Downloads.Times) != 1-hits || d.Time <= 0 {
			t.Errorf("%s", w.Body)
		}
	}
	if w := post(s, "/symbolicate/v5", body); strings.Contains(w.Body.String(), "debug") {
		t.Errorf("without the header: %s", w.Body)
	}
}

// TestKept: symbols that are there are opened once, until they are forgotten or old; what is missing or unreadable is asked
// for again, what is malformed is not.
func TestKept(t *testing.T) {
	st := testStore()
	s := server(t, st, symbolicate.Options{})
	ask := func(name string) {
		post(s, "/symbolicate/v5", `{"stacks": [[[0, 21376]]], "memoryMap": [["`+name+`", "`+plainID+`"]]}`)
	}
	for _, name := range []string{"app", "junk", "gone"} {
		ask(name)
		ask(name)
	}
	if st.opened["app/"+plainID] != 1 || st.opened["junk/"+plainID] != 1 || st.opened["gone/"+plainID] != 2 {
		t.Errorf("opened %v", st.opened)
	}
	s.Forget("app", plainID)
	ask("app")
	if st.opened["app/"+plainID] != 2 {
		t.Errorf("forgotten: opened %v", st.opened)
	}
	old := server(t, st, symbolicate.Options{MaxAge: time.Nanosecond})
	for range 2 {
		post(old, "/symbolicate/v5", `{"stacks": [[[0, 21376]]], "memoryMap": [["app", "`+plainID+`"]]}`)
	}
	if st.opened["app/"+plainID] != 4 {
		t.Errorf("old: opened %v", st.opened)
	}
}

// failing is a store that cannot be read.
type failing struct{}

func (f *failing) Symbols(context.Context, string, string) (*lookup.File, error) {
	return nil, fmt.Errorf("secret-bucket: broken")
}

func (f *failing) Executable(context.Context, string, string) (*elfx.File, error) {
	return nil, fmt.Errorf("secret-bucket: broken")
}

// TestFailing: clients do not see why the store fails, the log does.
func TestFailing(t *testing.T) {
	var logged []string
	s := server(t, &failing{}, symbolicate.Options{Log: func(err error) { logged = append(logged, err.Error()) }})
	w := post(s, "/symbolicate/v5", `{"stacks": [[[0, 1]]], "memoryMap": [["app", "`+plainID+`"]]}`)
	want := `"module_errors": {"app/` + plainID + `": [{"name": "OpenFile", "message": "the store cannot be read now"}]}`
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) || !slices.Equal(logged, []string{"secret-bucket: broken"}) {
		t.Errorf("%d %s, logged %q", w.Code, w.Body, logged)
	}
	w = post(s, "/asm/v1", `{"codeId": "ab", "startAddress": "0x0", "size": "0x1"}`)
	if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestManyStacks: stacks are the same wherever the parts of an answer end.
func TestManyStacks(t *testing.T) {
	s := server(t, testStore(), symbolicate.Options{})
	var stacks []string
	n := 0
	for i := range 30000 {
		var frames []string
		for range i % 7 {
			frames = append(frames, fmt.Sprintf("[%d,%d]", i%2-1, n))
			n++
		}
		stacks = append(stacks, "["+strings.Join(frames, ",")+"]")
	}
	stacks = append(stacks, "["+strings.Repeat("[0,0],", 20000)+"[0,0]]")
	w := post(s, "/symbolicate/v5", `{"stacks": [`+strings.Join(stacks, ",")+`], "memoryMap": [["app", "`+plainID+`"]]}`)
	var answer struct {
		Results []struct {
			Stacks [][]struct {
				Frame  int
				Offset string `json:"module_offset"`
				Module string
			}
		}
	}
	err := json.Unmarshal(w.Body.Bytes(), &answer)
	if err != nil {
		t.Fatal(err)
	}
	got := answer.Results[0].Stacks
	if len(got) != len(stacks) || len(got[30000]) != 20001 {
		t.Fatalf("%d stacks", len(got))
	}
	n = 0
	for i, stack := range got[:30000] {
		if len(stack) != i%7 {
			t.Fatalf("stack %d has %d frames", i, len(stack))
		}
		for k, f := range stack {
			if f.Frame != k || f.Offset != fmt.Sprintf("%#x", n) || (f.Module == "app") != (i%2 == 1) {
				t.Fatalf("stack %d frame %d: %+v, want offset %#x", i, k, f, n)
			}
			n++
		}
	}
}

// TestTooLarge: an answer that would be too large is refused or broken off.
func TestTooLarge(t *testing.T) {
	name := strings.Repeat("x", 60<<10)
	st := &store{symbols: map[string]string{"app/" + plainID: "MODULE Linux x86_64 " + plainID + " app\nFUNC 0 10 0 " + name + "\n"}}
	s := server(t, st, symbolicate.Options{})
	w := post(s, "/symbolicate/v5", `{"stacks": [[`+strings.Repeat("[0,1],", 10000)+`[0,1]]], "memoryMap": [["app", "`+plainID+`"]]}`)
	if w.Code != http.StatusBadRequest || w.Body.String() != `{"title": "the answer is too large: please send fewer frames in a single request"}` {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
}

// TestSource: a source file is given if the frames at the address name it, and it is below a directory.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"src/main.rs": "fn main() {}\n", "lib/fmt.rs": "// é\n", "secret": "s"} {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	st := testStore()
	st.symbols["evil/"+plainID] = "MODULE Linux x86_64 " + plainID + " evil\nFILE 0 /src/../../secret\nFILE 1 /src/nothing.c\nFILE 2 /other/x.c\nFILE 3 C:\\src\\main.rs\nFUNC 0 10 0 f\n0 1 1 0\n1 1 1 1\n2 1 1 2\n3 1 1 3\n4 1 1 9\n"
	s := server(t, st, symbolicate.Options{Sources: []source.Dir{{Prefix: "/src", Dir: filepath.Join(dir, "src")}, {Prefix: "/rustc", Dir: filepath.Join(dir, "lib")}, {Prefix: `C:/src`, Dir: filepath.Join(dir, "src")}}})
	request := func(name, id, offset, file string) string {
		return `{"debugName": "` + name + `", "debugId": "` + id + `", "moduleOffset": "` + offset + `", "file": "` + file + `"}`
	}
	const prefix = "Could not obtain symbols for the requested library: "
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{request("app", inlinesID, "0x7a7a", "/src/main.rs"), 200, `{"symbolsLastModified":null,"sourceLastModified":null,"file":"/src/main.rs","source":"fn main() {}\n"}`},
		{request("app", inlinesID, "0x7a47", "/rustc/fmt.rs"), 200, `{"symbolsLastModified":null,"sourceLastModified":null,"file":"/rustc/fmt.rs","source":"// \u00e9\n"}`},
		{request("evil", plainID, "0x3", `C:\\src\\main.rs`), 200, `{"symbolsLastModified":null,"sourceLastModified":null,"file":"C:\\src\\main.rs","source":"fn main() {}\n"}`},
		{request("app", inlinesID, "0x7a7a", "/rustc/fmt.rs"), 403, `{"title": "The requested path is not present in the symbolication frames"}`},
		{request("app", inlinesID, "0x1", "/src/main.rs"), 404, `{"title": "Don't have any debug info for the requested library"}`},
		{request("evil", plainID, "0x0", "/src/../../secret"), 404, `{"title": "An error occurred when reading the file: the server does not have the file"}`},
		{request("evil", plainID, "0x1", "/src/nothing.c"), 404, `{"title": "An error occurred when reading the file: the server does not have the file"}`},
		{request("evil", plainID, "0x2", "/other/x.c"), 404, `{"title": "An error occurred when reading the file: the server has no source files with such a path"}`},
		{request("evil", plainID, "0x4", ""), 404, `{"title": "Don't have any debug info for the requested library"}`},
		{request("gone", plainID, "0x4", "x"), 404, `{"title": "` + prefix + `no symbols of gone: file does not exist"}`},
		{request("gone", "AB", "0x4", "x"), 404, `{"title": "` + prefix + `the id is not one of a MODULE record, which has 33 to 40 hexadecimal digits"}`},
		{request("a/b", plainID, "0x4", "x"), 400, `{"title": "Couldn't parse request: the name or the id of the module is invalid"}`},
		{request("app", plainID, "12", "x"), 400, `{"title": "Couldn't parse request: moduleOffset: \"12\" is not a hexadecimal number with 0x in a string"}`},
		{`{"debugName": "a"}`, 400, "{\"title\": \"Couldn't parse request: missing field `debugId`\"}"},
		{`{"debugName": 1}`, 400, `{"title": "Couldn't parse request: debugName: json: cannot unmarshal number into Go value of type string"}`},
		{`[]`, 400, `{"title": "Couldn't parse request: it is not an object"}`},
		{`{`, 400, `{"title": "Couldn't parse request: it is not valid JSON"}`},
		{`"` + strings.Repeat("x", 70000) + `"`, 413, `{"title": "please limit the size of a request to <= 65536 bytes"}`},
	} {
		w := post(s, "/source/v1", c.body)
		if w.Code != c.status || w.Body.String() != c.want {
			t.Errorf("%.100s: %d\n%s\nwant\n%s", c.body, w.Code, w.Body, c.want)
		}
	}
	_, err := symbolicate.New(st, symbolicate.Options{Sources: []source.Dir{{Dir: filepath.Join(dir, "none")}}})
	if err == nil {
		t.Error("a directory that is missing")
	}
}

// FuzzRequest: whatever the body, the answer is JSON, and an error has a title alone.
func FuzzRequest(f *testing.F) {
	f.Add(0, []byte(`{"jobs": [{"stacks": [[[0, 31354], [-1, 5]], []], "memoryMap": [["app", "`+inlinesID+`"]]}]}`))
	f.Add(1, []byte(`{"stacks": [[[0, 21376]]], "memoryMap": [["app", "`+plainID+`"], ["", ""]]}`))
	f.Add(2, []byte(`{"debugName": "app", "debugId": "`+plainID+`", "moduleOffset": "0x5380", "file": "/src/app/main.rs"}`))
	f.Add(3, []byte(`{"debugName": "app", "debugId": "`+plainID+`", "codeId": "ab", "startAddress": "0x5380", "size": "0x10"}`))
	f.Add(0, []byte(`{"jobs" : [ {"x":"]}\"\\", "stacks":[[[ 0 , -1 ]]],"memoryMap":[["\u0061pp","`+plainID+`"],["junk","`+plainID+`"]]} ] }`))
	f.Fuzz(func(t *testing.T, path int, body []byte) {
		s := server(t, testStore(), symbolicate.Options{})
		paths := []string{"/symbolicate/v5", "/symbolicate/v4", "/source/v1", "/asm/v1"}
		w := post(s, paths[uint(path)%4], string(body), "Debug", "x")
		var answer map[string]any
		err := json.Unmarshal(w.Body.Bytes(), &answer)
		if err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		title, refused := answer["title"]
		if refused != (w.Code != http.StatusOK) || refused && (len(answer) != 1 || title == "") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Code == http.StatusOK && !json.Valid(body) || w.Code >= 500 {
			t.Fatalf("%d for %q", w.Code, body)
		}
	})
}

// discard is an http.ResponseWriter that drops the answer.
type discard struct{ header http.Header }

func (d discard) Header() http.Header                  { return d.header }
func (d discard) Write(text []byte) (n int, err error) { return len(text), nil }
func (d discard) WriteHeader(int)                      {}

// TestAllocations: a frame in a function that was read costs no allocation.
func TestAllocations(t *testing.T) {
	s := server(t, testStore(), symbolicate.Options{})
	allocations := func(frames int) float64 {
		body := `{"stacks": [[` + strings.Repeat("[0,31354],", frames) + `[0,31354]]], "memoryMap": [["app", "` + inlinesID + `"]]}`
		return testing.AllocsPerRun(5, func() {
			s.ServeHTTP(discard{http.Header{}}, httptest.NewRequest(http.MethodPost, "/symbolicate/v5", strings.NewReader(body)))
		})
	}
	few, many := allocations(100), allocations(50000)
	if many > few+1000 { // the buffers of 13 parts grow
		t.Errorf("%.0f allocations for 100 frames, %.0f for 50,000", few, many)
	}
}

// TestTimeout: a request that takes too long gets an answer all the same.
func TestTimeout(t *testing.T) {
	// The records are too many for the function to be kept, so that each frame reads them.
	text := "MODULE Linux x86_64 " + plainID + " app\nFUNC 0 10 0 f\n" + strings.Repeat("0 10 1 0\n", 1<<20)
	s := server(t, &store{symbols: map[string]string{"app/" + plainID: text}}, symbolicate.Options{Timeout: 300 * time.Millisecond})
	start := time.Now()
	w := post(s, "/symbolicate/v5", `{"stacks": [[`+strings.Repeat("[0,1],", 10000)+`[0,1]]], "memoryMap": [["app", "`+plainID+`"]]}`)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the answer takes too long") {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
	took := time.Since(start)
	if took > 20*time.Second {
		t.Errorf("%v", took)
	}
}
