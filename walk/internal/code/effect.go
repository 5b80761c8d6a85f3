// Package code finds the frame of a function in its machine code. A function that has neither
// unwind rules nor a frame record still has instructions that show where its frame is. A
// Reader follows the control flow from the function's first instruction to the frame's program
// counter (reader.go), and records the effect of each instruction on the stack pointer and the
// registers that the instruction saves (state.go). Each instruction set has a Decoder, which
// turns instructions into effects.
package code

import "symkit/cfi"

// next is where an instruction continues.
type next uint8

const (
	flowNext   next = iota
	flowJump        // only at the target
	flowBranch      // at the target, too
	flowCall        // after a call
	flowTable       // at an unknown address: a jump table, a tail call
	flowEnd         // nowhere: a return, a trap
)

// effect is the effect of one instruction on a frame.
type effect struct {
	size   uint64 // in bytes
	flow   next
	target uint64 // of a jump
	ops    []frameOp
	// guards is the number of instructions, from the next one on, that the CPU may
	// skip (Thumb's IT).
	guards int
	// table is set if the instruction continues at the next one, or at an unknown address.
	table bool
}

// frameOp is one change of a register or of the stack.
type frameOp struct {
	kind frameOpKind
	reg  cfi.Reg
	base cfi.Reg
	n    int64
}

type frameOpKind uint8

const (
	opMove   frameOpKind = iota // reg = base + n
	opConst                     // reg = n
	opSub                       // reg -= base
	opStore                     // memory at base + n = reg
	opLoad                      // reg = memory at base + n
	opLose                      // reg is unknown
	opInsert                    // 16 bits of reg, from bit base on, are n
	opChange                    // reg is a result that is not followed
)

func (e *effect) add(kind frameOpKind, reg, base cfi.Reg, n int64) {
	e.ops = append(e.ops, frameOp{kind, reg, base, n})
}

// change records registers that get a result that is not followed.
func (e *effect) change(regs ...cfi.Reg) {
	for _, reg := range regs {
		if reg != None {
			e.add(opChange, reg, 0, 0)
		}
	}
}

// None stands for a register that is not followed, or that the machine does not have.
const None cfi.Reg = 1 << 8

// Decoder decodes the instructions of one instruction set.
type Decoder interface {
	// step decodes the instruction at the beginning of code, which is at pc. It
	// returns false for bytes that are no instruction of the machine.
	step(code []byte, pc uint64, e *effect) bool
}

// skippable turns e into the effect of an instruction that the CPU may skip: no
// register is known to change, and the next instruction may follow.
func (e *effect) skippable() {
	e.ops = e.ops[:0]
	e.table = e.flow == flowTable
	switch {
	case e.flow == flowJump:
		e.flow = flowBranch
	case e.flow >= flowTable:
		e.flow = flowNext
	}
}
