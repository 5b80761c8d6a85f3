package walk

import (
	"strings"
	"testing"

	"symkit/cfi"
)

// TestComplete: a stack is complete only where its last frame is known to have no caller.
func TestComplete(t *testing.T) {
	const (
		calls    = "STACK CFI INIT 1000 200 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
		marked   = "STACK CFI INIT 1200 100 .cfa: $rsp 8 + .ra: 1\n"
		armRules = "STACK CFI INIT 1000 200 .cfa: sp 4 + .ra: .cfa -4 + ^\nSTACK CFI INIT 1200 100 .cfa: sp .ra: 1\n"
	)
	outer := func(name string) string { return strings.Replace(symbolsText, "outer", name, 1) }
	for _, test := range []struct {
		name, cpu, os, symbols, want, end string
		entry                             uint64
		stack                             []uint64
	}{
		{"rules that mark the outermost function", "x86_64", "Linux", symbolsText + calls + marked, "middle@cfi outer@cfi end", "", 0, nil},
		{"in a stripped library", "x86_64", "Linux", "MODULE Linux x86_64 0 x\n" + calls + marked, "0x401150@cfi 0x401250@cfi end", "", 0, nil},
		{"arm's, of any function", "arm", "Linux", outer("abort") + armRules, "middle@cfi abort@cfi", "CFI: the rules know no caller", 0, nil},
		{"arm's, without a symbol", "arm", "Linux", "MODULE Linux arm 0 x\n" + armRules, "0x401150@cfi 0x401250@cfi", "CFI: the rules know no caller", 0, nil},
		{"arm's, of clone", "arm", "Linux", outer("clone") + armRules, "middle@cfi clone@cfi end", "", 0, nil},
		{"arm's, without a symbol, where the program begins", "arm", "Linux", "MODULE Linux arm 0 x\n" + armRules, "0x401150@cfi 0x401250@cfi end", "", 0x401240, nil},

		{"a null return address", "x86_64", "Linux", symbolsText + calls, "middle@cfi", "CFI: the return address is null", 0, []uint64{0x401150, 0, 0x401250}},
		{"of a function that threads begin in", "x86_64", "Windows NT", strings.Replace(symbolsText, "middle", "RtlUserThreadStart", 1) + calls,
			"RtlUserThreadStart@cfi end", "", 0, []uint64{0x401150, 0}},
		{"which is that of another system", "x86_64", "Linux", strings.Replace(symbolsText, "middle", "RtlUserThreadStart", 1) + calls,
			"RtlUserThreadStart@cfi", "CFI: the return address is null", 0, []uint64{0x401150, 0}},
		{"Apple's", "x86_64", "Mac OS X", strings.Replace(symbolsText, "middle", "start", 1) + calls, "start@cfi end", "", 0, []uint64{0x401150, 0}},
		{"STACK WIN", "x86", "Windows NT", symbolsText + "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip 0 = $esp $esp 4 + =\n", "", "STACK WIN: the return address is null", 0, []uint64{0}},
		{"STACK WIN, where threads begin", "x86", "Windows NT", strings.Replace(symbolsText, "inner", "BaseThreadStart", 1) +
			"STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip 0 = $esp $esp 4 + =\n", "end", "", 0, []uint64{0}},

		// A function of the program that has the name of an entry.
		{"thread_start of a program", "x86_64", "Linux", outer("thread_start") + "STACK CFI INIT 1000 300 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n",
			"middle@cfi thread_start@cfi _start@cfi end", "", 0, []uint64{0x401150, 0x401250, 0x401350}},
		{"thread_start of a library", "x86_64", "Linux", outer("thread_start") + calls + marked, "middle@cfi thread_start@cfi end", "", 0, nil},
		{"thread_start without rules", "x86_64", "Linux", outer("thread_start") + calls, "middle@cfi thread_start@cfi end", "", 0, []uint64{0x401150, 0x401250, 0x401350}},

		// Go's linker writes an undefined return address for each function that switches stacks.
		{"Go: where a goroutine begins", "x86_64", "Linux", outer("runtime.goexit") + calls + marked, "middle@cfi runtime.goexit@cfi end", "", 0, nil},
		{"Go: a thread of a program without C", "x86_64", "Linux", outer("runtime.mstart.abi0") + calls + marked + "FUNC 1500 10 0 _rt0_amd64_linux\n",
			"middle@cfi runtime.mstart.abi0@cfi end", "", 0x401500, nil},
		{"Go: a thread that C made", "x86_64", "Linux", outer("runtime.mstart") + calls + marked + "FUNC 1500 10 0 _start\n",
			"middle@cfi runtime.mstart@cfi", "CFI: the rules know no caller", 0x401500, nil},
		{"Go: a signal handler", "x86_64", "Linux", outer("runtime.sigtramp") + calls + marked, "middle@cfi runtime.sigtramp@cfi", "CFI: the rules know no caller", 0, nil},

		// A scan can take the address of a function for a return address.
		{"a pointer to clone", "x86_64", "Linux", outer("clone") + "FUNC 11f0 10 0 before\n", "before@scan", "", 0, []uint64{0x401200}},
	} {
		c := machineOf(test.cpu)
		if test.stack == nil {
			test.stack = []uint64{0x401150, 0x401250, 0x12345678}
		}
		p := process(test.cpu, regsOf(0x401050, map[cfi.Reg]uint64{c.Arch.SP: 0x8000}), words(0x8000, c.Arch.WordSize, test.stack...),
			codeAt(t, 0x1348, "909090909090ffd0")) // a call of a pointer, before 0x401350
		p.OS, p.Entry = test.os, test.entry
		res, err := Walk(t.Context(), p, fixed(test.symbols), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(stackOf(t, p, test.symbols), "inner@context"), "0x401050@context"))
		got = strings.TrimPrefix(got, "BaseThreadStart@context ")
		if end := res.Stacks[0].End; got != test.want || !strings.Contains(end, test.end) {
			t.Errorf("%s: %s (%s), want %s (%s)", test.name, got, end, test.want, test.end)
		}
	}
}
