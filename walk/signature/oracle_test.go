//go:build oracle

package signature

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"symkit/test/oracle/siggen"
)

// crashData is a crash in siggen's schema (schema.rst).
type crashData struct {
	OS       string       `json:"os,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Crashing *int         `json:"crashing_thread"`
	Threads  []dataThread `json:"threads,omitempty"`

	Abort      string          `json:"abort_message,omitempty"`
	Shutdown   string          `json:"async_shutdown_timeout,omitempty"`
	Hang       *string         `json:"hang,omitempty"`
	Channel    string          `json:"ipc_channel_error,omitempty"`
	Message    string          `json:"ipc_message_name,omitempty"`
	Exception  json.RawMessage `json:"java_exception,omitempty"`
	Trace      string          `json:"java_stack_trace,omitempty"`
	Large      string          `json:"js_large_allocation_failure,omitempty"`
	Size       *int64          `json:"oom_allocation_size,omitempty"`
	Additional []string        `json:"additional_minidumps,omitempty"`
	Status     string          `json:"mdsw_status_string,omitempty"`
}

type dataThread struct {
	Frames    []dataFrame `json:"frames"`
	LastError string      `json:"last_error_value,omitempty"`
}

type dataFrame struct {
	Function *string        `json:"function"`
	File     *string        `json:"file"`
	Line     *uint32        `json:"line"`
	Module   *string        `json:"module"`
	Offset   *string        `json:"offset"`
	Unloaded []dataUnloaded `json:"unloaded_modules"`
	Inlines  []dataInline   `json:"inlines"`
}

type dataInline struct {
	Function *string `json:"function"`
	File     *string `json:"file"`
	Line     *uint32 `json:"line"`
}

type dataUnloaded struct {
	Module string `json:"module"`
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (d *crashData) crash() *crash {
	c := &crash{OS: d.OS, Reason: d.Reason, Crashed: value(d.Crashing), Annotations: Annotations{
		AbortMessage: d.Abort, AsyncShutdownTimeout: d.Shutdown, Hang: d.Hang, IPCChannelError: d.Channel, IPCMessageName: d.Message,
		JavaException: d.Exception, JavaStackTrace: d.Trace, LargeAllocation: d.Large, OOMAllocationSize: d.Size,
		AdditionalMinidumps: d.Additional, StackwalkerStatus: d.Status}}
	for _, t := range d.Threads {
		out := thread{LastError: t.LastError}
		for _, f := range t.Frames {
			frame := frame{Function: value(f.Function), File: value(f.File), Line: value(f.Line), Module: value(f.Module), Offset: value(f.Offset)}
			for _, u := range f.Unloaded {
				frame.Unloaded = append(frame.Unloaded, u.Module)
			}
			for _, in := range f.Inlines {
				frame.Inlines = append(frame.Inlines, inline{value(in.Function), value(in.File), value(in.Line)})
			}
			out.Frames = append(out.Frames, frame)
		}
		c.Threads = append(c.Threads, out)
	}
	return c
}

// TestOracleSiggen: signatures of random crashes are siggen's.
func TestOracleSiggen(t *testing.T) {
	r := random{rand.New(rand.NewPCG(25, 4))}
	var crashes []any
	var data []*crashData
	for range 10000 {
		d := r.crash()
		crashes, data = append(crashes, d), append(data, d)
	}

	kinds := map[string]int{}
	wrong := 0
	for i, want := range siggen.Signatures(t, "testdata/signatures.py", crashes) {
		got := generate(includedLists(), data[i].crash())
		kinds[strings.SplitN(want.Text, " ", 2)[0]]++
		if (got.Text != want.Text || got.Proto != want.Proto) && wrong < 5 {
			wrong++
			text, _ := json.Marshal(data[i])
			t.Errorf("%s\n got %q %q\nwant %q %q", text, got.Text, got.Proto, want.Text, want.Proto)
		}
	}
	for _, kind := range []string{"OOM", "Abort", "AsyncShutdownTimeout", "shutdownhang", "hang:", "stackoverflow", "bad", "IPCError-content", "IPCError-browser", "EMPTY:"} {
		if n := kinds[kind]; n < 5 {
			t.Errorf("only %d signatures begin with %s", n, kind)
		}
	}
}

// random makes crashes.
type random struct{ *rand.Rand }

func (r random) one(list ...string) string { return list[r.IntN(len(list))] }

// chance reports true once in n times.
func (r random) chance(n int) bool { return r.IntN(n) == 0 }

func (r random) crash() *crashData {
	d := &crashData{OS: r.one("Linux", "Windows NT", "Mac OS X", ""), Reason: r.one("", "", "SIGSEGV", "EXCEPTION_STACK_OVERFLOW",
		"STATUS_NO_MEMORY", "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_DEVICE_DATA_ERROR", "STATUS_FATAL_MEMORY_EXHAUSTION")}
	for range r.IntN(4) {
		t := dataThread{Frames: []dataFrame{}, LastError: r.one("", "", "ERROR_SUCCESS", "ERROR_NOT_ENOUGH_MEMORY")}
		for range r.IntN(r.IntN(50) + 1) {
			t.Frames = append(t.Frames, r.frame())
		}
		d.Threads = append(d.Threads, t)
	}
	if r.chance(2) {
		d.Crashing = new(int)
		*d.Crashing = r.IntN(4)
	}
	r.annotations(d)
	return d
}

func (r random) annotations(d *crashData) {
	set := func(p *string, n int, list ...string) {
		if r.chance(n) {
			*p = r.one(list...)
		}
	}
	set(&d.Abort, 10, "###!!! ABORT: file x.cpp, line 5", "[1] ###!!! ABORT: what: file a.cpp", "unable to find a usable font (ça va) now", r.name()+"\t\u0001é ", strings.Repeat("long ", 30))
	set(&d.Shutdown, 10, `{"phase":"quit","conditions":[{"name":"b"},"a"]}`, `{"phase":1}`, `{"conditions":[{"x":1}]}`, `{"phase":"p","conditions":[null,true,5]}`, `[]`, `{bad`, `{"phase":"p","conditions":[]}`)
	set(&d.Channel, 10, "ShutDownKill", strings.Repeat("é", 120))
	set(&d.Message, 10, "PBrowser::Msg", r.name())
	set(&d.Large, 15, "Reporting", "Recovered")
	set(&d.Status, 5, "OK", "ERROR_NO_THREAD_LIST")
	set(&d.Trace, 20, "java.lang.Foo: what @01234567\n  at a.b(C.java:12)\nmore", "java.lang.Foo\r\n\tat b", "a: "+strings.Repeat("x", 300)+"\nb", "java.lang.Foo: at @01234567 ", ": ", "x:y\n\nz")
	if r.chance(20) {
		d.Exception = json.RawMessage(r.one(`{"exception":{"values":[{"stacktrace":{"module":"m","type":"T","frames":[{"module":"a","function":"f","filename":"F"}]}}]}}`,
			`{"exception":{"values":[{"stacktrace":{"frames":[{"function":"f"}]}}]}}`, `{"exception":{"values":[{"stacktrace":{}}]}}`, `{"exception":{"values":[]}}`,
			`{"exception":{"values":[{"stacktrace":{"type":"T"}}]}}`, `{"exception":{"values":[{"stacktrace":{"module":"m","frames":[{"filename":"f"}]}}]}}`))
	}
	if r.chance(10) {
		hang := r.one("ui", "", "content")
		d.Hang = &hang
	}
	if r.chance(10) {
		size := int64(r.IntN(1 << 20))
		if r.chance(3) {
			size = int64(r.IntN(2) * 262144)
		}
		d.Size = &size
	}
	if r.chance(2) {
		d.Additional = []string{r.one("upload_file_minidump_browser", "upload_file_minidump_content")}
	}
}

func (r random) frame() (f dataFrame) {
	text := func(n int, s string) *string {
		if r.chance(n) {
			return nil
		}
		return &s
	}
	line := func() *uint32 {
		n := uint32(r.IntN(3))
		return &n
	}
	f.Function = text(4, r.name())
	if r.chance(2) {
		file := r.one("/src/a.rs", "a.rs", r.file()+"x")
		f.File, f.Line = &file, line()
	}
	f.Module = text(2, r.one("XUL", "libxul.so", "libfoo.so.1", "[vdso]", "Kernel32.DLL", "ntdll.dll", "[", ""))
	f.Offset = text(5, r.one("0x0000000000000010", "0x0", "0x00007f00deadbeef", "x", ""))
	if f.Module == nil && r.chance(2) {
		f.Unloaded = []dataUnloaded{{r.one("a.dll", "b")}}
	}
	for range r.IntN(3) {
		in := dataInline{Function: text(5, r.name())}
		if r.chance(2) {
			file := r.file() + "x"
			in.File, in.Line = &file, line()
		}
		f.Inlines = append(f.Inlines, in)
	}
	return f
}

func (r random) file() string {
	return r.one("/src/a.rs", "a.rs", "hg:hg.mozilla.org/x:js/src/a.cpp:1234", "hg:x:src/libcore/panicking.rs:5", "c:src\\a.rs", `d:\b\c.cpp`, "/a/b/", `a\`, "", "git:github.com/x:src/a.rs:12", "/x/y.c")
}

// name returns the name of a function: from the lists, or put together of tokens.
func (r random) name() string {
	switch r.IntN(6) {
	case 0:
		lines := patterns(included)
		name := lines[r.IntN(len(lines))]
		return strings.NewReplacer(`\`, "", ".*", "x", "(?:", "", "?", "", "+", "").Replace(name)
	case 1:
		return r.one("panic", "panic_fmt", "RunWatchdog", "mozalloc_handle_oom", "js_Interpret", "js_Interpret(a,b)", "const", "a const&", " ", "(", "NS_ABORT_OOM", "<name omitted>", "<unknown in foo.dll>", "abort", "operator new(unsigned int)", "main")
	}
	var b strings.Builder
	for range r.IntN(8) + 1 {
		b.WriteString(r.one("foo", "bar::", "<", ">", "(", ")", " ", ",", ", ", " *", "&", "&&", "const", " const &", "static ", "void ", "[clone .cold.1]", "[", "]", "{", "}", "`anonymous namespace'::", "'",
			"::$_12::", "::$_1", "::h0123456789abcdef", "::operator()", "operator", " as ", " in ", "IPC::ParamTraits", "anonymous namespace", "name omitted", "\n", "\u00a0", "é", "\x1f", "T", "5", "->", "\t"))
	}
	return b.String()
}
