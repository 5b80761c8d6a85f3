// Package shown has what several reports show of a result: the crashing instruction and what
// speaks for and against its address, unloaded modules, the order and numbers of threads,
// memory as text.
package shown

import (
	"fmt"

	"symkit/walk"
)

// Ordered returns the stacks in the order of the text: the stack of the thread that crashed
// comes first. A thread that only wrote the dump is left out.
func Ordered(r *walk.Result) (stacks []*walk.Stack) {
	// The first stack is that of the crash.
	crashed := r.Crashed()
	if crashed >= 0 {
		stacks = append(stacks, &r.Stacks[crashed])
	}

	for i := range r.Stacks {
		if i != crashed && !r.Stacks[i].Thread.Writer {
			stacks = append(stacks, &r.Stacks[i])
		}
	}
	return stacks
}

// Numbers numbers the threads as Breakpad does: without those that only wrote
// the dump.
func Numbers(p *walk.Process) map[*walk.Thread]int {
	numbers := map[*walk.Thread]int{}
	for i := range p.Threads {
		if t := &p.Threads[i]; !t.Writer {
			numbers[t] = len(numbers)
		}
	}
	return numbers
}

// CPU is the name that Breakpad and rust-minidump have of a CPU.
func CPU(cpu string) string {
	if cpu == "x86_64" {
		return "amd64"
	}
	return cpu
}

// HexRow returns n bytes of memory in hexadecimal, each after a space, and as text. Bytes
// that the dump lacks are spaces.
func HexRow(m walk.Memory, at, n uint64) (hex, text []byte) {
	for i := range n {
		b := m.Bytes(at+i, 1)
		switch {
		case b == nil:
			hex, text = append(hex, "   "...), append(text, ' ')
			continue
		case b[0] >= ' ' && b[0] < 0x7f:
			text = append(text, b[0])
		default:
			text = append(text, '.')
		}
		hex = fmt.Appendf(hex, " %02x", b[0])
	}
	return hex, text
}
