package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"symkit/internal/command"
	"symkit/test/programtest"
	"symkit/walk/report"
)

// dumps is where minidumps are, breakpad what Breakpad's tool makes of one,
// with as much of its symbols as the stack meets.
var (
	dumps    = filepath.Join(repository, "walk", "minidump", "testdata")
	breakpad = filepath.Join(repository, "cmd", "stackwalk", "testdata", "breakpad")
)

// output runs the program and returns what it wrote to standard output.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	return stdout.String()
}

func expected(t *testing.T, name string) string {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(breakpad, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(want)
}

// TestMachine: the machine-readable format is Breakpad's, byte for byte.
func TestMachine(t *testing.T) {
	got := output(t, "-m", "--symbols", filepath.Join(breakpad, "symbols"), filepath.Join(dumps, "minidump2.dmp"))
	if want := expected(t, "minidump2.stackwalk.machine_readable.out"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestText: the text carries all that Breakpad's does.
func TestText(t *testing.T) {
	got := output(t, "--symbols", filepath.Join(breakpad, "symbols"), filepath.Join(dumps, "minidump2.dmp"))
	want := expected(t, "minidump2.stackwalk.out")
	has := func(facts ...string) {
		t.Helper()
		for _, fact := range facts {
			if !strings.Contains(got, fact) {
				t.Errorf("not in the text: %s", fact)
			}
		}
	}
	head, _, _ := strings.Cut(want, "\nThread ")
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "":
		case "value": // of a parameter
			has(" 0x" + strings.TrimLeft(strings.Fields(value)[0], "0x"))
		case "Operating system", "CPU", "GPU", "Crash reason", "Crash address", "Process uptime":
			has(strings.TrimSpace(value))
		case "Crash parameters":
			has("parameters")
		default:
			has(strings.TrimSpace(line))
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^Thread (\d+) \((.*)\)$`).FindAllStringSubmatch(want, -1) {
		has("(number " + m[1] + ", " + m[2] + ")")
	}
	for _, m := range regexp.MustCompile(`(?m)^ \d  (\S+?)!(.*?) (?:\[(\S+) : (\d+) \+ (\S+)\]|\+ \S+)$`).FindAllStringSubmatch(want, -1) {
		has(m[1]+"!"+m[2], m[3]+":"+m[4])
		if m[5] != "" {
			has("line + " + m[5] + ",")
		}
	}
	for _, m := range regexp.MustCompile(`(\w+) = (0x\w+)`).FindAllStringSubmatch(want, -1) {
		has(strings.Replace(m[1], "efl", "eflags", 1) + " " + m[2])
	}
	for _, m := range regexp.MustCompile(`Found by: (.*)`).FindAllStringSubmatch(want, -1) {
		has("found by " + m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^(0x\w+) - 0x\w+  (\S+)  (\S+)(  \(main\))?$`).FindAllStringSubmatch(want, -1) {
		has(m[1]+"-", `\`+m[2]+"  "+strings.Replace(m[3], "???", "", 1), m[4])
	}
}

// TestRequested: a thread that asked for a dump did not crash; the thread that
// wrote it is not shown.
func TestRequested(t *testing.T) {
	got := output(t, "-b", filepath.Join(dumps, "thread_name_list.dmp"))
	for _, want := range []string{"Crash:   ", "Thread 6564 main thread", "Thread 8820 sleep thread"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	got = output(t, "-b", filepath.Join(dumps, "minidump2.dmp"))
	if strings.Contains(got, "Thread 4544") {
		t.Errorf("the thread that wrote the dump is shown:\n%s", got)
	}
}

// TestSymbolServer: symbols from a server, then from its cache; a store before
// it, another server after it.
func TestSymbolServer(t *testing.T) {
	var asked atomic.Int64
	files := http.FileServer(http.Dir(filepath.Join(breakpad, "symbols")))
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer full.Close()
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	cache, dump := t.TempDir(), filepath.Join(dumps, "minidump2.dmp")
	want := expected(t, "minidump2.stackwalk.machine_readable.out")
	for run, args := range [][]string{
		{"--symbols", empty.URL, "--symbols", full.URL},
		{"--symbols", t.TempDir(), "--symbols", full.URL + "/"},
		{"--symbols", cache},
	} {
		if got := output(t, append(args, "-m", "--cache", cache, dump)...); got != want {
			t.Errorf("run %d:\n%s", run, got)
		}
		if n := asked.Load(); run == 0 && n < 2 || run > 0 && n > 20 {
			t.Errorf("run %d: asked %d times", run, n)
		}
	}
	got := output(t, "--format=json", "--symbols", full.URL, "--cache", cache, dump)
	url := full.URL + "/test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym?code_file=test_app.exe&code_id=45d35f6c2d000"
	if !strings.Contains(got, `"symbol_url":"`+url+`"`) {
		t.Errorf("no %s", url)
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--symbols", "http://", dump}, &stdout, &stderr); code != 80 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

// TestBigEndian: a minidump of a machine with the other byte order is recognized by
// its first bytes too.
func TestBigEndian(t *testing.T) {
	var b []byte
	u32 := func(values ...uint32) {
		for _, v := range values {
			b = binary.BigEndian.AppendUint32(b, v)
		}
	}
	const system, threads = 32 + 2*12, 32 + 2*12 + 56
	b = append(b, "PMDM"...)
	u32(0xa793, 2, 32, 0, 0, 0, 0)
	u32(7, 56, system, 3, 4, threads)
	b = binary.BigEndian.AppendUint16(b, 3) // ppc
	b = append(b, make([]byte, 18)...)
	u32(0x8201, 0, 0)
	b = append(b, make([]byte, 24)...)
	u32(0)
	path := filepath.Join(t.TempDir(), "ppc.dmp")
	programtest.Write(t, path, b)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-m", path}, &stdout, &stderr); code != 2 || !strings.HasPrefix(stdout.String(), "OS|Linux|0.0.0\nCPU|ppc||0\n") {
		t.Errorf("exit code %d: %s%s", code, &stdout, &stderr)
	}
}

// BenchmarkBatch walks a dump after another, as --out does.
func BenchmarkBatch(b *testing.B) {
	dump, out := filepath.Join(dumps, "minidump2.dmp"), b.TempDir()
	store := filepath.Join(breakpad, "symbols")
	c := cli{Dumps: []string{dump}, Symbols: []string{store}, NoELF: true, Format: "json", Out: out, stdout: io.Discard, stderr: command.NewMessages("stackwalk", io.Discard)}
	syms, err := c.sources(b.Context(), maxIdle)
	if err != nil {
		b.Fatal(err)
	}
	defer syms.Close()
	for b.Loop() {
		if code := c.one(b.Context(), dump, syms, io.Discard, &report.IndexEntry{}); code != 0 {
			b.Fatal(code)
		}
	}
}
