package signature

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// stackOf returns a thread whose frames have these functions. A name with a colon and slash is
// FUNCTION at FILE.
func stackOf(names ...string) thread {
	var t thread
	for _, n := range names {
		function, file, _ := strings.Cut(n, " at ")
		f := frame{Function: function, File: file, Line: 7, Module: "prog", Offset: "0x0000000000001234"}
		t.Frames = append(t.Frames, f)
	}
	return t
}

func TestMake(t *testing.T) {
	size, hang := int64(1<<20), "ui"
	for _, test := range []struct {
		name  string
		crash crash
		want  string
	}{
		{"no threads", crash{}, "EMPTY: no frame data available"},
		{"one frame", crash{Threads: []thread{stackOf("crash(int)", "main")}}, "crash"},
		{"prefixes", crash{Threads: []thread{stackOf("abort", "static void ns::Foo<int>::bar(char *) const", "main")}}, "abort | ns::Foo<T>::bar"},
		{"irrelevant first", crash{Threads: []thread{stackOf("_chkstk", "work", "main")}}, "work"},
		{"only irrelevant", crash{Threads: []thread{stackOf("_chkstk")}}, "_chkstk"},
		{"sentinel", crash{Threads: []thread{stackOf("f", "_purecall", "work", "main")}}, "_purecall | work"},
		{"Rust", crash{Threads: []thread{stackOf("<a::B<C> as d::E>::f::h0123456789abcdef at /src/a.rs")}}, "<a::B<C> as d::E>::f"},
		{"Rust without module", crash{Threads: []thread{stackOf("f", "panic at hg:x:src/libcore/panicking.rs:5", "work")}}, "work"},
		{"line numbers", crash{Threads: []thread{stackOf("js_Interpret at /a.cpp")}}, "js_Interpret:7"},
		{"a file alone", crash{Threads: []thread{{Frames: []frame{{File: `c:\x\y.c`, Line: 3, Module: "m"}}}}}, "y.c#3"},
		{"a module alone", crash{OS: "Windows NT", Threads: []thread{{Frames: []frame{{Module: "[Foo.DLL]"}, {Module: "foo.dll"}}}}}, "foo.dll"},
		{"an unloaded module", crash{Threads: []thread{{Frames: []frame{{Unloaded: []string{"a.dll", "b.dll"}}}}}}, "(unloaded a.dll)"},
		{"an address alone", crash{Threads: []thread{{Frames: []frame{{Offset: "0x0000000000000000"}, {Module: "m"}}}}}, "@0x0 | m"},
		{"inlined calls", crash{Threads: []thread{{Frames: []frame{{Function: "outer", Inlines: []inline{{Function: "abort"}, {Function: "inner"}}}}}}}, "abort | inner"},
		{"another thread", crash{Crashed: 1, Threads: []thread{stackOf("a"), stackOf("b")}}, "b"},
		{"shutdown hang", crash{Crashed: 1, Threads: []thread{stackOf("stuck"), stackOf("RunWatchdog")}}, "shutdownhang | stuck"},
		{"out of memory", crash{Threads: []thread{stackOf("NS_ABORT_OOM", "f")}}, "OOM | unknown | NS_ABORT_OOM | f"},
		{"out of memory, known size", crash{Threads: []thread{stackOf("f")}, Annotations: Annotations{OOMAllocationSize: &size}}, "OOM | large | f"},
		{"stack overflow", crash{Reason: "EXCEPTION_STACK_OVERFLOW", Threads: []thread{stackOf("f")}}, "stackoverflow | f"},
		{"bad hardware", crash{Reason: "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_DEVICE_DATA_ERROR", Threads: []thread{stackOf("f")}}, "bad hardware | f"},
		{"abort", crash{Threads: []thread{stackOf("f")}, Annotations: Annotations{AbortMessage: "[9] ###!!! ABORT: gone: file a.cpp, line 1"}}, "Abort | gone | f"},
		{"hang", crash{Threads: []thread{stackOf("f")}, Annotations: Annotations{Hang: &hang}}, "hang: ui | f"},
		{"IPC", crash{Threads: []thread{stackOf("f")}, Annotations: Annotations{IPCChannelError: "ShutDownKill", IPCMessageName: "M"}}, "IPCError-content | ShutDownKill | IPC_Message_Name=M"},
		{"shutdown", crash{Annotations: Annotations{AsyncShutdownTimeout: `{"phase":"p","conditions":["b",{"name":"a"}]}`}}, "AsyncShutdownTimeout | p | a,b"},
		{"Java", crash{Annotations: Annotations{JavaStackTrace: "a.B: what @01234567\n\tat c.d(E.java:5)"}}, "a.B: what @<addr>: at c.d(E.java)"},
		{"Java exception", crash{Annotations: Annotations{JavaException: []byte(`{"exception":{"values":[{"stacktrace":{"module":"a","type":"B","frames":[{"module":"c","function":"d","filename":"E.java"}]}}]}}`)}}, "a.B: at c.d(E.java)"},
		{"white space", crash{Threads: []thread{stackOf("a\nb\t c")}}, "c"},
		{"no name", crash{Threads: []thread{stackOf("const")}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := generate(includedLists(), &test.crash).Text; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestLength: a signature has at most 255 characters.
func TestLength(t *testing.T) {
	got := generate(includedLists(), &crash{Threads: []thread{stackOf(strings.Repeat("é", 300))}}).Text
	if n := utf8.RuneCountInString(got); n != 255 || !strings.HasSuffix(got, "é...") {
		t.Errorf("%d characters: %s", n, got)
	}
}

func TestReadLists(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadLists(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no lists: %v", err)
	}
	write("irrelevant_signature_re", "# comment\n\nnoise\n")
	write("prefix_signature_re", "wrap")
	write("signature_sentinels", "begin(")
	write("signatures_with_line_numbers_re", "line")
	lists, err := ReadLists(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := generate(lists, &crash{Threads: []thread{stackOf("noise1", "wrapper", "noise2", "line at /a.c", "x")}})
	if got.Text != "wrapper | line:7" || got.Proto != "noise1 | wrapper | noise2 | line:7 | x" {
		t.Errorf("%+v", got)
	}

	write("prefix_signature_re", "good\n(?<=x)y\n")
	_, err = ReadLists(dir)
	if err == nil || !strings.Contains(err.Error(), `prefix_signature_re.txt: "(?<=x)y": `) {
		t.Errorf("a bad pattern: %v", err)
	}
}

func TestParseAnnotations(t *testing.T) {
	a, err := ParseAnnotations([]byte(`{"AbortMessage":"gone","OOMAllocationSize":" 12","Hang":"ui","JavaException":{"a":1},"JSLargeAllocationFailure":null,
"additional_minidumps":"browser,flash1","ipc_channel_error":"e","IPCMessageName":"m","JavaStackTrace":"t","AsyncShutdownTimeout":"{}","mdsw_status_string":"OK","ProductName":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if a.AbortMessage != "gone" || *a.OOMAllocationSize != 12 || *a.Hang != "ui" || string(a.JavaException) != `{"a":1}` || a.LargeAllocation != "" ||
		strings.Join(a.AdditionalMinidumps, " ") != "upload_file_minidump_browser upload_file_minidump_flash1" || a.IPCChannelError != "e" ||
		a.IPCMessageName != "m" || a.JavaStackTrace != "t" || a.AsyncShutdownTimeout != "{}" || a.StackwalkerStatus != "OK" {
		t.Errorf("%+v", a)
	}
	for _, text := range []string{"", "[]", `{"a"`} {
		if _, err := ParseAnnotations([]byte(text)); !errors.Is(err, errAnnotations) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzMake: a signature is one line of at most 255 characters, whatever the names.
func FuzzMake(f *testing.F) {
	f.Add("static void a<b>::c(d) const", "/a.rs", "x.dll", "###!!! ABORT: x")
	f.Add("`anonymous namespace'::f [clone .cold.1]", "hg:a:b.rs:1", "[", `{"phase":1,"conditions":[{}]}`)
	f.Fuzz(func(t *testing.T, function, file, module, annotation string) {
		c := crash{Threads: []thread{{Frames: []frame{{Function: function, File: file, Line: 1, Module: module}, {Module: module}}}},
			Annotations: Annotations{AbortMessage: annotation, AsyncShutdownTimeout: annotation}}
		for range 2 {
			s := generate(includedLists(), &c).Text
			if utf8.RuneCountInString(s) > 255 || strings.ContainsAny(s, "\n\r\t") || strings.Contains(s, "  ") || s != strings.Trim(s, " ") {
				t.Fatalf("%q", s)
			}
			c.Annotations = Annotations{JavaStackTrace: annotation, JavaException: []byte(annotation)}
		}
	})
}
