package dwarfx

import "slices"

// Nearly all opcodes of a line program only add to the registers. For a program of the
// usual kind, lineSteps has the effect of each opcode, so that the fast path needs a table
// look-up and two additions for an opcode. The fast path stops before an opcode that it
// cannot execute and stores the registers; lineMachine.run executes that opcode by the slow
// path.

// operands has the number of operands of each standard opcode.
var operands = []byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}

// reset makes x the table of a header. A program without special opcodes, with several
// operations in an instruction, or with other operands of standard opcodes than the
// specification's is not of the usual kind: its opcodes all take the slow path.
func (x *lineSteps) reset(h *lineHeader) {
	n := min(len(h.opcodeLengths), len(operands))
	x.ok = h.maxOps == 1 && h.lineRange > 0 && h.opcodeBase > 0 && slices.Equal(h.opcodeLengths[:n], operands[:n])
	minInst, lineBase, lineRange := uint8(h.minInst), uint8(h.lineBase), uint8(h.lineRange)
	if !x.ok || x.base == h.opcodeBase && x.minInst == minInst && x.lineBase == lineBase && x.lineRange == lineRange {
		return
	}

	// Special opcodes; all others are for the slow path at first.
	x.base, x.minInst, x.lineBase, x.lineRange = h.opcodeBase, minInst, lineBase, lineRange
	for op := range x.of {
		x.of[op] = stepOperand
		if adj := op - int(x.base); adj >= 0 {
			addr, line := int(minInst)*(adj/int(lineRange)), int(h.lineBase)+adj%int(lineRange)
			x.of[op] = lineStep(uint16(addr)) | lineStep(uint16(line))<<16 | stepRow
		}
	}

	// Standard opcodes.
	for op, step := range map[uint8]lineStep{
		lnsCopy: stepRow, lnsNegateStmt: 0, lnsSetBasicBlock: 0, lnsSetPrologueEnd: 0, lnsSetEpilogue: 0,
		lnsSetColumn: stepOperand | stepSkip, lnsSetFile: stepOperand | stepFile,
		lnsAdvancePC: stepOperand | stepPC, lnsAdvanceLine: stepOperand | stepLine,
		lnsConstAddPC: x.of[255] & 0xffff,
	} {
		if op < x.base {
			x.of[op] = step
		}
	}
}

// fast executes opcodes up to one for the slow path: a rare one, or one at which a run
// of rows begins or ends. Most of .debug_line is read here, so fast calls nothing and
// grows no slice: its variables stay in registers.
func (m *lineMachine) fast() {
	x, data, pos := &m.t.steps, m.c.Rest(), 0
	rows, first, dead := m.t.Rows, m.first, m.dead
	addr, line, file := m.addr, m.line, m.file
	if !x.ok {
		return
	}
loop:
	for pos+2 < len(data) {
		op, next := data[pos], pos+1
		step := x.of[op]
		if step&stepOperand != 0 {
			// The operand is a LEB128 of one or two bytes.
			v := uint64(data[next])
			next++
			if v >= 0x80 {
				v = v&0x7f | uint64(data[next])<<7
				next++
			}

			switch {
			case v >= 1<<14:
				break loop // a longer operand
			case step&stepSkip != 0:
			case step&stepFile != 0:
				file = v
			case step&stepPC != 0:
				addr += v * uint64(x.minInst)
			case step&stepLine != 0:
				unused := 64 - 7*(next-pos-1) // bits above the sign
				line += uint64(int64(v<<unused) >> unused)
			case op == 0 && v > 0 && next == pos+2 && data[next] > lneDefineFile && int(v) <= len(data)-next:
				next += int(v) // an extended opcode that changes no register but the discriminator
			default:
				break loop
			}
			pos = next
			continue
		}

		// The opcode has no operand. to and on are the address and the line after it.
		to, on := addr+uint64(uint16(step)), line+uint64(int64(int16(step>>16)))
		if step&stepRow != 0 && !dead {
			n := len(rows) - 1
			if n < first || n+1 == cap(rows) || on >= uint64(EndOfCode) || file >= uint64(EndOfCode) || to < rows[n].Addr {
				break
			}

			// Of rows at one address the last holds; a row that repeats the one before
			// changes nothing.
			last, row := &rows[n], LineRow{Addr: to, Line: uint32(on), File: uint32(file)}
			if same := to == last.Addr; same && n > first && rows[n-1].Line == row.Line && rows[n-1].File == row.File {
				rows = rows[:n]
			} else if same {
				*last = row
			} else if last.Line != row.Line || last.File != row.File {
				rows = append(rows, row)
			}
		}
		addr, line, pos = to, on, next
	}

	m.t.Rows = rows
	m.addr, m.line, m.file = addr, line, file
	m.c.Skip(uint64(pos))
}
