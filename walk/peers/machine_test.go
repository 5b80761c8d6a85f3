package peers

import (
	"bytes"
	"strings"
	"testing"

	"symkit/walk"
)

// TestMachineHostileNames: no name breaks a line or adds a field.
func TestMachineHostileNames(t *testing.T) {
	for _, name := range []string{"a\nb", "a\x00b\x1b[2J", "\xff\xfe\x80", "a|b\"c\\d</script>", "\u2028\u0085", strings.Repeat("n", 1<<20)} {
		m := &walk.Module{Path: "/" + name, Name: name, DebugFile: name, DebugID: name, Version: name, CodeID: name, Base: 0x1000, End: 0x2000}
		p := &walk.Process{OS: "Linux", OSVersion: name, CPU: "x86_64", Memory: noMemory{}, Modules: []*walk.Module{m}, Main: m, Threads: []walk.Thread{{ID: 1, Name: name}}}
		place := &walk.Place{Func: name, FuncAddr: 0x1000, File: name, Line: 7, LineAddr: 0x1000, Inlines: []walk.InlineCall{{Func: name, File: name, Line: 3}}}
		res := &walk.Result{Process: p, Stacks: []walk.Stack{{Thread: &p.Threads[0], Frames: []walk.Frame{{PC: 0x1010, Module: m, Place: place}}}}}
		var out bytes.Buffer
		if err := Machine(&out, res); err != nil {
			t.Fatal(err)
		}
		frames := 0
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "0|") {
				if frames++; strings.Count(line, "|") != 6 {
					t.Errorf("%.20q: fields of %.60q", name, line)
				}
			}
		}
		if frames != 2 {
			t.Errorf("%.20q: %d frames in the machine's format", name, frames)
		}
	}
}

// TestMachineGenerated: code that no module has is shown by its name.
func TestMachineGenerated(t *testing.T) {
	p := &walk.Process{CPU: "x86_64", Memory: noMemory{}, Threads: make([]walk.Thread, 1)}
	res := &walk.Result{Process: p, Stacks: []walk.Stack{{Thread: &p.Threads[0], Frames: []walk.Frame{
		{PC: 0x700004, Place: &walk.Place{Func: "first", FuncAddr: 0x700000}, Exact: true}, {PC: 0x700020, Place: &walk.Place{Func: "clone", FuncAddr: 0x700018}}}}}}
	var out bytes.Buffer
	if err := Machine(&out, res); err != nil {
		t.Fatal(err)
	}
	if want := "0|0||first|||0x4\n0|1||clone|||0x8\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%s, want\n%s", &out, want)
	}
}

// TestMachineHead: what Breakpad prints where there was no crash, and that no
// name breaks a line.
func TestMachineHead(t *testing.T) {
	p := &walk.Process{OS: "Windows NT", OSVersion: "10.0", CPU: "x86_64", Crashed: 1, Memory: noMemory{},
		Threads: []walk.Thread{{ID: 5, Writer: true}, {ID: 6, NoRegs: true}}, Facts: walk.Facts{Assertion: "Pure virtual function called"},
		Modules: []*walk.Module{{Path: "/a|b\nc", Base: 0x1000, End: 0x2000, ShownID: "000"}}}
	res := &walk.Result{Process: p, Stacks: []walk.Stack{{Thread: &p.Threads[0]}, {Thread: &p.Threads[1],
		Frames: []walk.Frame{{PC: 0x42, Place: &walk.Place{}, Exact: true}, {PC: 0x1010, Place: &walk.Place{Func: "f|g", FuncAddr: 0x1000}, Module: p.Modules[0]}}}}}
	var out bytes.Buffer
	if err := Machine(&out, res); err != nil {
		t.Fatal(err)
	}
	const want = "OS|Windows NT|10.0\nCPU|amd64||0\nGPU|||\nCrash|Pure virtual function called||0\n" +
		"Module|abc||||0x00001000|0x00001fff|0\n"
	got := strings.Replace(out.String(), "Module|abc|||000|", "Module|abc||||", 1)
	if got != want+"\n0|0|||||0x42\n0|1|abc|fg|||0x10\n" {
		t.Errorf("%q", got)
	}
	p.Facts.Assertion = ""
	out.Reset()
	if err := Machine(&out, res); err != nil || !strings.Contains(out.String(), "\nCrash|No crash||0\n") {
		t.Errorf("%v: %s", err, &out)
	}
}
