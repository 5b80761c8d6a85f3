package dumpfile

import (
	"bufio"
	"io"
	"runtime"
	"slices"

	"symkit/elfx"
	"symkit/walk"
	"symkit/walk/minidump"
)

// WriteMinidump writes the kept parts of a core file that was read once (Dump.Core) as a minidump. Frames of a result
// say which code other walkers need.
func (d *Dump) WriteMinidump(out io.Writer, res *walk.Result) error {
	x := d.Core.Extract(code(res))
	c := &minidump.Contents{Process: d.Process, Maps: x.Maps, AuxV: x.AuxV, Memory: x.Memory, Stacks: x.Stacks, Processors: processors(d.Process.CPU)}
	w := bufio.NewWriterSize(out, 1<<20)
	err := minidump.Write(w, c)
	if err != nil {
		return err
	}
	return w.Flush()
}

// processors returns the number of processors of this machine if it runs programs of a CPU, and
// otherwise 0. A core file does not have the number; the program of core_pattern runs where the
// process crashed.
func processors(cpu string) int {
	runs := map[string][]string{"amd64": {"x86_64", "x86"}, "386": {"x86"}, "arm64": {"arm64", "arm"}, "mips64le": {"mips64"}, "ppc64le": {"ppc64"}}[runtime.GOARCH]
	if cpu != runtime.GOARCH && !slices.Contains(runs, cpu) {
		return 0
	}
	return runtime.NumCPU()
}

// The bytes of code that are written around the program counter of each frame. Other
// walkers read this code: calls, trampolines of signal handlers, the instruction that
// crashed. They may find a frame's caller from the code of its function; therefore code
// from the function's first instruction on is written, too, up to codeOfFunction bytes.
const codeBefore, codeAfter, codeOfFunction = 16, 64, 16 << 10

// code returns the ranges of code that the frames of a result are in.
func code(res *walk.Result) (out []elfx.Range) {
	seen := map[uint64]bool{}
	for i := range res.Stacks {
		for k := range res.Stacks[i].Frames {
			f := &res.Stacks[i].Frames[k]
			if seen[f.PC] || f.PC < codeBefore {
				continue
			}
			seen[f.PC] = true
			r := elfx.Range{Lo: f.PC - codeBefore, Hi: f.PC + codeAfter}
			if start := f.Place.FuncAddr; start != 0 && start < r.Lo && r.Lo-start < codeOfFunction {
				r.Lo = start
			}
			out = append(out, r)
		}
	}
	return out
}
