package otlp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"

	"symkit/adapters/otlp"
	"symkit/elfx/companion"
	"symkit/lookup"
)

const (
	program = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"
	library = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.so"
	buildID = "8cb693933a6223a77971790e89f1dba9597e3982"
)

// raw returns a dictionary with addresses of the program, of the library at some address, and of no file.
func raw() *profiles.ProfilesDictionary {
	return &profiles.ProfilesDictionary{
		StringTable: []string{"", program, library, "/missing", "[vdso]", "process.executable.build_id.gnu", "script"},
		AttributeTable: []*profiles.KeyValueAndUnit{{},
			{KeyStrindex: 5, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: buildID}}}},
		MappingTable: []*profiles.Mapping{{},
			{MemoryStart: 0x401000, MemoryLimit: 0x402000, FileOffset: 0x1000, FilenameStrindex: 1, AttributeIndices: []int32{1}},
			{MemoryStart: 0x7f0000001000, MemoryLimit: 0x7f0000002000, FileOffset: 0x1000, FilenameStrindex: 2},
			{MemoryStart: 0x7f0000010000, MemoryLimit: 0x7f0000011000, FilenameStrindex: 3},
			{MemoryStart: 0x7f0000020000, MemoryLimit: 0x7f0000021000, FilenameStrindex: 4}},
		FunctionTable: []*profiles.Function{{}, {NameStrindex: 6}},
		LocationTable: []*profiles.Location{{},
			{MappingIndex: 1, Address: 0x4012de},
			{MappingIndex: 1, Address: 0x4012f0},
			{MappingIndex: 2, Address: 0x7f0000001370},
			{MappingIndex: 2, Address: 0x1370}, // of the file
			{MappingIndex: 1, Address: 0x401ff0},
			{MappingIndex: 3, Address: 0x7f0000010010},
			{MappingIndex: 4, Address: 0x7f0000020010},
			{Address: 0x4012de},
			{MappingIndex: 1, Address: 0x4012de, Lines: []*profiles.Line{{FunctionIndex: 1, Line: 5}}},
			{MappingIndex: 99, Address: 0x4012de}},
	}
}

// places returns the lines of a location as text.
func places(d *profiles.ProfilesDictionary, location int) string {
	var text []string
	for _, line := range d.LocationTable[location].Lines {
		f := d.FunctionTable[line.FunctionIndex]
		text = append(text, fmt.Sprintf("%s %s %s:%d:%d %d", d.StringTable[f.NameStrindex], d.StringTable[f.SystemNameStrindex],
			filepath.Base(d.StringTable[f.FilenameStrindex]), line.Line, line.Column, f.StartLine))
	}
	return strings.Join(text, "\n")
}

func Example() {
	s := &otlp.Symbolizer{}
	defer s.Close()
	d := raw() // the dictionary of profiles with addresses alone
	err := s.Symbolize(context.Background(), d)
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range d.LocationTable[1].Lines {
		f := d.FunctionTable[line.FunctionIndex]
		fmt.Printf("%s at %s:%d:%d\n", d.StringTable[f.NameStrindex], d.StringTable[f.FilenameStrindex], line.Line, line.Column)
	}
	// Output:
	// shop::Stack<int, 4>::pop() at /symkit/src/cxx.h:36:19
	// run at /symkit/src/cxx.cc:117:25
}

// TestSymbolize: locations have their functions, each function and each string once; all else stays.
func TestSymbolize(t *testing.T) {
	const pop = "shop::Stack<int, 4>::pop() _ZN4shop5StackIiLi4EE3popEv cxx.h:36:%d 36\nrun run cxx.cc:117:25 109"
	const run = "run run cxx.cc:109:34 109"
	var warnings []string
	s := &otlp.Symbolizer{Warn: func(err error) { warnings = append(warnings, err.Error()) }}
	defer s.Close()
	d := raw()
	err := s.Symbolize(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", fmt.Sprintf(pop, 19), fmt.Sprintf(pop, 29), run, run, "", "", "", "", "script  .:5:0 0", ""} {
		if got := places(d, i); got != want {
			t.Errorf("location %d:\n%s\nwant:\n%s", i, got, want)
		}
	}
	if len(d.FunctionTable) != 4 || len(d.StringTable) != 7+5 {
		t.Errorf("%d functions, %q", len(d.FunctionTable), d.StringTable)
	}
	if want := []string{"/missing: file does not exist", `mapping "[vdso]": no file`}; fmt.Sprint(warnings) != fmt.Sprint(want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}

	// Once more, nothing changes; and the dictionary can be sent.
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again := &profiles.ProfilesDictionary{}
	err = errors.Join(proto.Unmarshal(data, again), s.Symbolize(t.Context(), again))
	if err != nil || !proto.Equal(d, again) {
		t.Errorf("%v: %v, want %v", err, again, d)
	}
}

// TestTables: a dictionary without strings and functions gets the first ones, which stand for none; indexes beyond the
// tables are none.
func TestTables(t *testing.T) {
	s := &otlp.Symbolizer{}
	defer s.Close()
	path, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*profiles.ProfilesDictionary{
		"nil":   nil,
		"empty": {},
		"beyond": {MappingTable: []*profiles.Mapping{nil, {FilenameStrindex: 7, AttributeIndices: []int32{-1, 8}}},
			LocationTable: []*profiles.Location{nil, {MappingIndex: 1}, {MappingIndex: -1}}},
	} {
		err := s.Symbolize(t.Context(), d)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	dir := debugDir(t, path)
	found := &otlp.Symbolizer{Lookup: lookup.Options{Search: companion.Search{DebugDirs: []string{dir}}}}
	defer found.Close()
	d := raw()
	d.StringTable[1], d.FunctionTable = "[kernel.kallsyms]", nil
	d.AttributeTable[1].Value = &common.AnyValue{Value: &common.AnyValue_StringValueStrindex{StringValueStrindex: int32(len(d.StringTable))}}
	d.StringTable = append(d.StringTable, buildID)
	d.LocationTable[9].Lines = nil
	err = found.Symbolize(t.Context(), d)
	if err != nil || len(d.LocationTable[1].Lines) != 2 || d.FunctionTable[0].NameStrindex != 0 {
		t.Errorf("by build id: %v, %v", err, d.LocationTable[1])
	}
}

// debugDir returns a directory of debug files with the program.
func debugDir(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, ".build-id", buildID[:2], buildID[2:]+".debug")
	data, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, data, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTogether: many goroutines share a Symbolizer, and a context ends its work.
func TestTogether(t *testing.T) {
	s := &otlp.Symbolizer{Lookup: lookup.Options{Memory: 128 << 10}}
	defer s.Close()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			d := raw()
			err := s.Symbolize(t.Context(), d)
			if err != nil || len(d.LocationTable[1].Lines) != 2 {
				t.Errorf("%v, %v", err, d.LocationTable[1])
			}
		})
	}
	group.Wait()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Symbolize(ctx, raw())
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
