package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/test/programtest"
	"symkit/walk"
	"symkit/walk/minidump"
)

// The process of TestRegressions: functions f0 to f27, each of which calls the one before it.
const (
	regressionFuncs = 28
	regressionBase  = 0x400000
	regressionStack = 0x7ff000000000
	functionSize    = 64
	callAt          = 40 // where in a function the call of another returns to
	frameSize       = 32
)

// regressionDump writes a minidump of the process and returns its path and the id of the module.
func regressionDump(t *testing.T) (path, id string) {
	t.Helper()
	stack := make([]byte, frameSize*(regressionFuncs+4))
	for i := 1; i < regressionFuncs; i++ {
		binary.LittleEndian.PutUint64(stack[frameSize*i-8:], uint64(regressionBase+0x1000+i*functionSize+callAt))
	}
	var regs walk.Registers
	regs.PC = regressionBase + 0x1000 + 20
	regs.Set(cfi.ArchByName("x86_64").SP, regressionStack)

	module := &walk.Module{Path: "/bin/deep", Name: "deep", Base: regressionBase, End: regressionBase + 0x10000, BuildID: []byte("build id of the test")}
	p := &walk.Process{OS: "Linux", CPU: "x86_64", PID: 9, Threads: []walk.Thread{{ID: 9, Regs: regs}}, Modules: []*walk.Module{module}, Main: module,
		Crash: walk.Crash{Signal: 11, Code: 1, HasAddress: true, Address: 16}, Memory: stackMemory(stack)}
	all := elfx.Range{Lo: regressionStack, Hi: regressionStack + uint64(len(stack))}
	var out bytes.Buffer
	err := minidump.Write(&out, &minidump.Contents{Process: p, Memory: []elfx.Range{all}, Stacks: []elfx.Range{all}})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "deep.dmp")
	programtest.Write(t, path, out.Bytes())
	return path, identity.ModuleID(module.BuildID, false)
}

// stackMemory is the memory of the stack alone.
type stackMemory []byte

func (s stackMemory) Bytes(addr, n uint64) []byte {
	off := addr - regressionStack
	if off > uint64(len(s)) || n > uint64(len(s))-off {
		return nil
	}
	return s[off:][:n:n]
}

// function is the records of one function in the symbol file.
type function struct {
	fn, inline, line, cfi string
}

// regressionSymbols are the records of all functions.
func regressionSymbols() (out []function) {
	for i := range regressionFuncs {
		at := 0x1000 + i*functionSize
		rule := fmt.Sprintf("STACK CFI INIT %x %x .cfa: $rsp %d + .ra: .cfa -8 + ^", at, functionSize, frameSize)
		if i == regressionFuncs-1 {
			rule = fmt.Sprintf("STACK CFI INIT %x %x .cfa: $rsp %d + .ra: 0", at, functionSize, frameSize)
		}
		out = append(out, function{
			fn:     fmt.Sprintf("FUNC %x %x 0 f%d", at, functionSize, i),
			inline: fmt.Sprintf("INLINE 0 %d 0 %d %x %x", 70+i, i, at+8, functionSize-8),
			line:   fmt.Sprintf("%x %x %d 0", at, functionSize, 500+i),
			cfi:    rule,
		})
	}
	return out
}

// writeSymbols writes a symbol store.
func writeSymbols(t *testing.T, store, id string, functions []function) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s deep\nFILE 0 deep.c\n", id)
	for i := range functions {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d in%d\n", i, i)
	}
	for _, f := range functions {
		for _, line := range []string{f.fn, f.inline, f.line} {
			if line != "" {
				fmt.Fprintln(&b, line)
			}
		}
	}
	for _, f := range functions {
		if f.cfi != "" {
			fmt.Fprintln(&b, f.cfi)
		}
	}
	dir := filepath.Join(store, "deep", id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	programtest.Write(t, filepath.Join(dir, "deep.sym"), []byte(b.String()))
}

// TestRegressions: stackwalk diff names each regression that is planted in a symbol store.
func TestRegressions(t *testing.T) {
	dump, id := regressionDump(t)
	dir := t.TempDir()
	store, good, bad := filepath.Join(dir, "store"), filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json")
	result := func(functions []function, path string) {
		t.Helper()
		writeSymbols(t, store, id, functions)
		text := output(t, "--no-elf", "--format=json", "--symbols", store, dump)
		programtest.Write(t, path, []byte(text))
	}
	result(regressionSymbols(), good)
	if got := output(t, "diff", good, good); got != "no differences: compared 1 result, 1 thread, 28 frames\n" {
		t.Fatal(got)
	}

	regressions := []struct {
		name  string
		plant func(f *function)
		kinds []string // one of them names the function, or the one that calls it
	}{
		{"a function is missing", func(f *function) { f.fn, f.inline, f.line = "", "", "" }, []string{"renamed"}},
		{"a function is renamed", func(f *function) { f.fn += "x" }, []string{"renamed"}},
		{"a function begins later", func(f *function) {
			var at, size int
			var name string
			fmt.Sscanf(f.fn, "FUNC %x %x 0 %s", &at, &size, &name)
			f.fn = fmt.Sprintf("FUNC %x %x 0 %s", at+4, size-4, name)
		}, []string{"moved"}},
		{"a line is wrong", func(f *function) { f.line = strings.Replace(f.line, " 5", " 6", 1) }, []string{"line"}},
		{"the lines are missing", func(f *function) { f.line = "" }, []string{"line"}},
		{"an inlined call is missing", func(f *function) { f.inline = "" }, []string{"lost"}},
		{"an inlined call is another function's", func(f *function) {
			fields := strings.Fields(f.inline)
			fields[4] = "0"
			if strings.HasSuffix(f.fn, " f0") {
				fields[4] = "1"
			}
			f.inline = strings.Join(fields, " ")
		}, []string{"renamed"}},
		{"the rules are missing", func(f *function) { f.cfi = "" }, []string{"lost", "trust-lowered"}},
		{"the rules find another caller", func(f *function) { f.cfi = strings.Replace(f.cfi, "$rsp 32 +", "$rsp 64 +", 1) }, []string{"lost"}},
	}

	planted := 0
	for _, r := range regressions {
		for i := range regressionFuncs {
			functions := regressionSymbols()
			before := functions[i]
			r.plant(&functions[i])
			// The outermost function has no caller to lose.
			if functions[i] == before || i == regressionFuncs-1 && functions[i].cfi != before.cfi {
				continue
			}
			planted++
			result(functions, bad)

			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"diff", "--format=json", "--examples=0", good, bad}, &stdout, &stderr)
			if code != 2 {
				t.Fatalf("%s, f%d: exit code %d: %s", r.name, i, code, &stderr)
			}
			if !names(t, stdout.Bytes(), i, r.kinds) {
				t.Errorf("%s: f%d is not named:\n%s", r.name, i, &stdout)
			}
		}
	}
	if planted < 200 {
		t.Errorf("only %d regressions", planted)
	}

	// A module without symbols.
	if err := os.RemoveAll(filepath.Join(store, "deep")); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run(t.Context(), []string{"--no-elf", "--format=json", "--symbols", store, "--output", bad, dump}, &out, &out)
	out.Reset()
	if run(t.Context(), []string{"diff", good, bad}, &out, &out); !strings.Contains(out.String(), "modules that lost their symbols (symbols-lost): 1\n     1  deep\n") {
		t.Error(&out)
	}
}

// names reports whether one of the differences has one of the kinds and names function i, the
// call inlined into it, or their caller.
func names(t *testing.T, report []byte, i int, kinds []string) bool {
	t.Helper()
	var d struct {
		Differences []struct{ Kind, Before string }
	}
	if err := json.Unmarshal(report, &d); err != nil {
		t.Fatal(err)
	}
	for _, g := range d.Differences {
		name, _, _ := strings.Cut(g.Before, " ")
		about := name == fmt.Sprintf("f%d", i) || name == fmt.Sprintf("in%d", i) || name == fmt.Sprintf("f%d", i+1) || g.Kind == "trust-lowered"
		if slices.Contains(kinds, g.Kind) && about {
			return true
		}
	}
	return false
}
