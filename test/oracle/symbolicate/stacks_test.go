//go:build oracle

package symbolicate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/emit"
	"symkit/limits"
	"symkit/lookup"
	"symkit/serve/symbolicate"
	"symkit/test/oracle"
	"symkit/test/programtest"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// module is a module of the store.
type module struct {
	name, id string
	path     string // of the symbol file
	index    *emit.Index
	spans    []emit.Range // FUNC records, and what is from a PUBLIC record to the next record
	total    uint64
	end      uint64
}

// directory is a store of plain symbol files.
type directory struct{ dir string }

func (d directory) Symbols(_ context.Context, name, id string) (*lookup.File, error) {
	s := &walk.Symbols{}
	path := filepath.Join(d.dir, name, id, strings.TrimSuffix(name, ".pdb")+".sym")
	err := sources.Load(s, path, &walk.Module{Path: name, Name: name, DebugID: id}, limits.Limits{})
	if err != nil {
		return nil, err
	}
	return lookup.FromIndex(path, nil, s.Index, s.Heap, lookup.Options{}, func() { _ = s.Close() }), nil
}

func (d directory) Executable(context.Context, string, string) (*elfx.File, error) {
	return nil, fs.ErrNotExist
}

// fill dumps files of the corpus into a store.
func fill(t *testing.T, dump string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	corpus := oracle.CorpusDir(t)
	for _, in := range [][]string{
		{"python3.11-dbg/usr/bin/python3.11d"},
		{"libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"},
		{"libc6/lib/x86_64-linux-gnu/libm.so.6", "libc6-dbg"},
		{"libstdc++6/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}, // without debug information
		{"libssl3/usr/lib/x86_64-linux-gnu/libcrypto.so.3"},
		{"bash/bin/bash"},
	} {
		args := []string{"--store", dir, "--inlines"}
		if len(in) > 1 {
			args = append(args, "--debug-dir", filepath.Join(corpus, in[1], "usr/lib/debug"))
		}
		cmd := exec.Command(dump, append(args, filepath.Join(corpus, in[0]))...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", cmd, err, out)
		}
	}
	return dir
}

// modules reads what is in a store.
func modules(t *testing.T, dir string) (all []*module) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.sym"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := &module{name: filepath.Base(filepath.Dir(filepath.Dir(path))), id: filepath.Base(filepath.Dir(path)), path: path, index: emit.NewIndex(text)}
		var starts []uint64
		for rec, err := range emit.NewReader(text).Records() {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			switch rec := rec.(type) {
			case *emit.Func:
				m.add(rec.Addr, uint64(rec.Size))
			case *emit.Public:
				starts = append(starts, rec.Addr)
			}
		}
		slices.Sort(starts)
		for i, start := range starts {
			size := uint64(64)
			if i+1 < len(starts) {
				size = min(starts[i+1]-start, 4096)
			}
			m.add(start, size)
		}
		all = append(all, m)
	}
	return all
}

func (m *module) add(addr, size uint64) {
	if size > 0 {
		m.spans = append(m.spans, emit.Range{Addr: addr, Size: uint32(size)})
		m.total += size
		m.end = max(m.end, addr+size)
	}
}

// random returns an offset: in 15 of 16 cases of a byte of code, each of which is as likely as any other.
func (m *module) random(r *rand.Rand) uint64 {
	if r.IntN(16) == 0 {
		return r.Uint64N(m.end + 4096)
	}
	at := r.Uint64N(m.total)
	for _, s := range m.spans {
		if at < uint64(s.Size) {
			return s.Addr + at
		}
		at -= uint64(s.Size)
	}
	panic("unreachable")
}

// request makes a request with random stacks over all modules.
func request(all []*module, r *rand.Rand, stacks int) []byte {
	body := []byte(`{"jobs": [{"memoryMap": [`)
	for i, m := range all {
		if i > 0 {
			body = append(body, ", "...)
		}
		body = fmt.Appendf(body, `[%q, %q]`, m.name, m.id)
	}
	body = append(body, `], "stacks": [`...)
	for i := range stacks {
		if i > 0 {
			body = append(body, ", "...)
		}
		body = append(body, '[')
		for k := range 1 + r.IntN(40) {
			if k > 0 {
				body = append(body, ", "...)
			}
			n := r.IntN(len(all))
			body = fmt.Appendf(body, `[%d, %d]`, n, all[n].random(r))
		}
		body = append(body, ']')
	}
	return append(body, "]}]}"...)
}

// call is an inlined call of an answer, frame a frame.
type call struct {
	Function, File *string
	Line           *int
}

type frame struct {
	Frame  int
	Module string
	Offset string `json:"module_offset"`
	call
	FunctionOffset *string `json:"function_offset"`
	FunctionSize   *string `json:"function_size"`
	Inlines        []call
}

type answer struct {
	Results []struct {
		Stacks [][]frame
		Found  map[string]*bool           `json:"found_modules"`
		Errors map[string]json.RawMessage `json:"module_errors"`
	}
}

func (f *frame) String() string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ask sends a request and returns the answer and its time.
func ask(t *testing.T, url string, body []byte) (text []byte, took time.Duration) {
	t.Helper()
	start := time.Now()
	resp, err := http.Post(url+"/symbolicate/v5", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %s: %.300s", err, resp.Status, text)
	}
	return text, time.Since(start)
}

// TestMain: with SYMKIT_SERVE, this program is a server of the store there.
func TestMain(m *testing.M) {
	dir := os.Getenv("SYMKIT_SERVE")
	if dir == "" {
		os.Exit(m.Run())
	}
	server, err := symbolicate.New(directory{dir}, symbolicate.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(httptest.NewServer(server).URL)
	select {}
}

// program is a server that runs.
type program struct {
	url string
	pid int
}

// start starts a server, whose output begins with its address.
func start(t *testing.T, cmd *exec.Cmd) program {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return program{strings.TrimSpace(line), cmd.Process.Pid}
}

// used returns the processor time that a program has used, and the most memory in bytes.
func (p program) used(t *testing.T) (cpu time.Duration, memory int64) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, field := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &memory)
	if err != nil {
		t.Fatal(err)
	}
	return cpu, memory << 10
}

// symkit starts a server of package symbolicate in a process of its own.
func symkit(t *testing.T, dir string) program {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SYMKIT_SERVE="+dir)
	return start(t, cmd)
}

// samply starts samply's server.
func samply(t *testing.T, dir string) program {
	t.Helper()
	path := programtest.Peer(t, "samply-server")
	return start(t, exec.Command(path, dir, t.TempDir()))
}

// TestOraclePeerSamply: 10,000 random stacks have samply's answers, but for what docs/symbolicate.md lists.
func TestOraclePeerSamply(t *testing.T) {
	dir := fill(t, programtest.Build(t, "dump_syms"))
	all := modules(t, dir)
	byName := map[string]*module{}
	for _, m := range all {
		byName[m.name] = m
	}
	ours, theirs := symkit(t, dir), samply(t, dir)

	random := rand.New(rand.NewPCG(41, 5))
	c := counter{t: t, kinds: map[string]int{}}
	var ourTime, theirTime time.Duration
	for range 20 {
		body := request(all, random, 500)
		ourText, took := ask(t, ours.url, body)
		ourTime += took
		theirText, took := ask(t, theirs.url, body)
		theirTime += took
		var a, b answer
		err := json.Unmarshal(ourText, &a)
		if err == nil {
			err = json.Unmarshal(theirText, &b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Results) != 1 || len(b.Results) != 1 || len(a.Results[0].Stacks) != 500 || len(b.Results[0].Stacks) != 500 {
			t.Fatalf("%.300s\n%.300s", ourText, theirText)
		}
		for i, stack := range a.Results[0].Stacks {
			for k := range stack {
				x := &stack[k]
				c.compare(byName[x.Module], x, &b.Results[0].Stacks[i][k])
			}
		}
	}
	c.log()
	for name, p := range map[string]program{"symkit": ours, "samply": theirs} {
		cpu, memory := p.used(t)
		took := ourTime
		if name == "samply" {
			took = theirTime
		}
		t.Logf("%s: %d frames in %v, %v of processor time (%.0f frames a second of that), %d MiB", name, c.frames, took, cpu, float64(c.frames)/cpu.Seconds(), memory>>20)
	}
}

// counter counts differences.
type counter struct {
	t      *testing.T
	frames int
	kinds  map[string]int
}

// compare compares a frame with that of another program. All differences are about PUBLIC records: the others know no
// sizes of these, and say that each reaches to the next record.
func (c *counter) compare(m *module, ours, theirs *frame) {
	c.frames++
	if ours.String() == theirs.String() {
		return
	}
	var offset uint64
	_, err := fmt.Sscanf(ours.Offset, "0x%x", &offset)
	if err != nil {
		c.t.Fatal(err)
	}
	kind := ""
	_, inFunc := m.index.FuncAt(offset)
	_, known := m.index.Symbol(offset)
	size := *ours
	size.FunctionSize = theirs.FunctionSize
	switch {
	case inFunc:
	case !known && ours.Function == nil && theirs.Function != nil:
		kind = "code after the end of a PUBLIC, which they name"
	case size.String() == theirs.String():
		kind = "size of a PUBLIC, which is theirs to the next record"
	}
	c.kinds[kind]++
	if kind == "" && c.kinds[kind] <= 10 {
		c.t.Errorf("%v\n\t%v", ours, theirs)
	}
}

// log prints the numbers of differences.
func (c *counter) log() {
	for kind, n := range c.kinds {
		c.t.Logf("%d of %d: %s", n, c.frames, kind)
	}
	if c.frames < 10000 {
		c.t.Errorf("only %d frames", c.frames)
	}
}
