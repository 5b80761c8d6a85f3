package pprof_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"symkit/adapters/pprof"
	"symkit/elfx/companion"
	internal "symkit/internal/profile"
	"symkit/lookup"
)

const (
	program = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"
	library = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.so"
	buildID = "8cb693933a6223a77971790e89f1dba9597e3982"
)

// raw returns a profile of the program, and of the library at some address, without functions.
func raw() *profile.Profile {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
		Mapping: []*profile.Mapping{
			{ID: 1, Start: 0x401000, Limit: 0x402000, Offset: 0x1000, File: program, BuildID: buildID},
			{ID: 2, Start: 0x7f0000001000, Limit: 0x7f0000002000, Offset: 0x1000, File: library},
			{ID: 3, Start: 0x7f0000010000, Limit: 0x7f0000011000, File: "/missing"},
			{ID: 4, Start: 0x7f0000020000, Limit: 0x7f0000021000, File: "[vdso]"},
		}}
	for i, addr := range []uint64{0x4012de, 0x4012f0, 0x7f0000001370, 0x7f0000010010, 0x7f0000020010, 0x401ff0} {
		l := &profile.Location{ID: uint64(i) + 1, Mapping: p.Mapping[[]int{0, 0, 1, 2, 3, 0}[i]], Address: addr}
		p.Location = append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{int64(i) + 1}})
	}
	return p
}

// places returns the lines of locations as text.
func places(list ...*profile.Location) string {
	var text []string
	for _, l := range list {
		for _, line := range l.Line {
			f := line.Function
			text = append(text, fmt.Sprintf("%s %s %s:%d:%d %d", f.Name, f.SystemName, filepath.Base(f.Filename), line.Line, line.Column, f.StartLine))
		}
	}
	return strings.Join(text, "\n")
}

func Example() {
	tool := &pprof.Tool{}
	defer tool.Close()
	p := raw() // a profile with addresses alone
	err := tool.Symbolize("", nil, p)
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range p.Location[0].Line {
		fmt.Printf("%s at %s:%d:%d\n", line.Function.Name, line.Function.Filename, line.Line, line.Column)
	}
	// Output:
	// shop::Stack::pop at /symkit/src/cxx.h:36:19
	// run at /symkit/src/cxx.cc:117:25
}

// TestSymbolize: locations have their functions in the form that the mode asks for; mappings without a file stay.
func TestSymbolize(t *testing.T) {
	const linkage, rest = "_ZN4shop5StackIiLi4EE3popEv", " cxx.h:36:19 36\nrun run cxx.cc:117:25 109"
	for mode, want := range map[string]string{
		"":                   "shop::Stack::pop " + linkage + rest,
		"local":              "shop::Stack::pop " + linkage + rest,
		"demangle=templates": "shop::Stack<int, 4>::pop " + linkage + rest,
		"demangle=full":      "shop::Stack<int, 4>::pop() " + linkage + rest,
		"demangle=none":      linkage + " " + linkage + rest,
		"fastlocal":          "run run .:0:0 0",
		"none":               "",
		"remote":             "",
	} {
		var warnings []error
		tool := &pprof.Tool{Warn: func(err error) { warnings = append(warnings, err) }}
		p := raw()
		err := tool.Symbolize(mode, nil, p)
		tool.Close()
		if err != nil {
			t.Errorf("%q: %v", mode, err)
		}
		if got := places(p.Location[0]); got != want {
			t.Errorf("%q:\n%s\nwant:\n%s", mode, got, want)
		}
		if got := places(p.Location[3:]...); got != "" {
			t.Errorf("%q: without a file: %s", mode, got)
		}
		err = p.CheckValid()
		if err != nil {
			t.Error(err)
		}
		if want == "" {
			continue
		}
		if len(warnings) != 1 || !errors.Is(warnings[0], os.ErrNotExist) {
			t.Errorf("%q: %v", mode, warnings)
		}
		slow := mode != "fastlocal"
		if m := p.Mapping[0]; !m.HasFunctions || m.HasFilenames != slow || m.HasLineNumbers != slow || m.HasInlineFrames != slow {
			t.Errorf("%q: %+v", mode, m)
		}
		if name := p.Location[2].Line[0].Function.Name; name != "run" {
			t.Errorf("%q: of the library: %s", mode, name)
		}
	}

	tool := &pprof.Tool{}
	defer tool.Close()
	if err := tool.Symbolize("lokal", nil, raw()); err == nil {
		t.Error("lokal: no error")
	}
}

// TestNames: names that are not linkage names are short in the default form too.
func TestNames(t *testing.T) {
	tool := &pprof.Tool{}
	defer tool.Close()
	for name, want := range map[string]string{"sq<double>": "sq", "a<b<c> >::d": "a::d", "operator<": "operator<", "main.f<int>": "main.f<int>",
		"<module>": "<module>", "a<b": "a<b", "_ZN4work3sumIiEEvi": "work::sum"} {
		p := raw()
		p.Function = []*profile.Function{{ID: 1, Name: name, SystemName: name}}
		err := tool.Symbolize("", nil, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Function[0].Name; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestForce: what has functions stays, unless it is to be made again.
func TestForce(t *testing.T) {
	tool := &pprof.Tool{}
	defer tool.Close()
	for mode, want := range map[string]string{"": "old", "force": "shop::Stack::pop"} {
		p := raw()
		f := &profile.Function{ID: 7, Name: "old", SystemName: "old"}
		p.Function, p.Mapping[0].HasFunctions = []*profile.Function{f}, true
		p.Location[0].Line = []profile.Line{{Function: f}}
		err := tool.Symbolize(mode, nil, p)
		if err != nil {
			t.Error(err)
		}
		if got := p.Location[0].Line[0].Function.Name; got != want {
			t.Errorf("%q: %s, want %s", mode, got, want)
		}
	}
}

// TestBuildID: a file that is not at its path is found by its build id, and one of another build is not taken.
func TestBuildID(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".build-id", buildID[:2], buildID[2:]+".debug")
	data, err := os.ReadFile(program)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, data, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	tool := &pprof.Tool{Lookup: lookup.Options{Search: companion.Search{DebugDirs: []string{dir}}}}
	defer tool.Close()
	for path, want := range map[string]bool{"/missing": true, "": true, "[kernel.kallsyms]_text": true, library: true, "[vdso]": false} {
		p := raw()
		p.Mapping[0].File = path
		err := tool.Symbolize("", nil, p)
		if err != nil {
			t.Error(err)
		}
		if got := len(p.Location[0].Line) == 2; got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

// TestTool: what pprof asks of a file.
func TestTool(t *testing.T) {
	tool := &pprof.Tool{}
	defer tool.Close()
	f, err := tool.Open(library, 0x7f0000001000, 0x7f0000002000, 0x1000, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Name() != library || len(f.BuildID()) != 40 {
		t.Errorf("%s, %s", f.Name(), f.BuildID())
	}
	for addr, want := range map[uint64]uint64{0x7f0000001370: 0x1370, 0x7f0000001611: 0x1611, 0x7f0000001612: 0} {
		got, err := f.ObjAddr(addr)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%#x: %#x, %v, want %#x", addr, got, err, want)
		}
	}
	_, err = f.SourceLine(1)
	if err == nil {
		t.Error("an address outside of the mapping: no error")
	}

	for _, tt := range []struct {
		pattern string
		addr    uint64
		want    string
	}{
		{"^run$", 0, "run"},
		{"^shop::pay$", 0, "shop::pay"},
		{"^_ZN4shop3payEii$", 0, "_ZN4shop3payEii"},
		{"^nothing$", 0x1370, "run"},
		{"^nothing$", 0, ""},
	} {
		syms, err := f.Symbols(regexp.MustCompile(tt.pattern), tt.addr)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(syms) > 0 {
			got = syms[0].Name[0]
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.pattern, got, tt.want)
		}
	}

	list, err := tool.Disasm(program, 0x4012dc, 0x4012e4, false)
	if err != nil || len(list) < 2 || list[0].Text == "" || list[0].File != "/symkit/src/cxx.h" || list[0].Function != "run" || list[0].Line == 0 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = tool.Open("/missing", 0, 0, 0, "")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// TestWriter: symaddr profile, which writes profiles without pprof's packages, writes what the tool makes, and nothing
// else in a profile changes.
func TestWriter(t *testing.T) {
	p := raw()
	p.Sample[0].Label, p.Comments, p.Period = map[string][]string{"thread": {"main"}}, []string{"comment"}, 7
	p.PeriodType = &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	var in, out bytes.Buffer
	err := p.WriteUncompressed(&in)
	if err != nil {
		t.Fatal(err)
	}
	read, err := internal.Parse(in.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	files := lookup.NewCache(0, func(ctx context.Context, path string) (*lookup.File, error) {
		return lookup.Open(ctx, path, lookup.Options{})
	})
	defer files.Close()
	err = read.Write(&out, internal.Symbols{Name: (*lookup.Frame).Readable,
		Frames: func(dst []lookup.Frame, m *internal.Mapping, addr uint64) []lookup.Frame {
			f, release, err := files.Get(t.Context(), m.File)
			if err != nil {
				return dst
			}
			defer release()
			virtual, ok := lookup.Mapping{Start: m.Start, Limit: m.Limit, Offset: m.Offset}.Address(f, addr)
			if ok {
				dst, _ = f.Frames(dst, virtual)
			}
			return dst
		}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := profile.ParseData(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	tool := &pprof.Tool{}
	defer tool.Close()
	err = tool.Symbolize("demangle=full", nil, p)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != p.String() || places(got.Location...) != places(p.Location...) {
		t.Errorf("%s\nwant:\n%s", got, p)
	}
}

// TestDriver: pprof's reports are the same with its own symbolizer, which asks the tool, and with the tool's; and one
// of instructions has those of the function.
func TestDriver(t *testing.T) {
	tool := &pprof.Tool{}
	defer tool.Close()
	top := report(t, raw(), driver.Options{Obj: tool, Sym: tool}, "-top", "-lines")
	if !strings.Contains(top, "shop::Stack::pop /symkit/src/cxx.h:36 (inline)") {
		t.Error(top)
	}
	if other := report(t, raw(), driver.Options{Obj: tool}, "-top", "-lines"); other != top {
		t.Errorf("%s, want %s", other, top)
	}
	if text := report(t, raw(), driver.Options{Obj: tool, Sym: tool}, "-disasm=^run$"); !strings.Contains(text, "ROUTINE ======================== run") {
		t.Error(text)
	}
}
