package gsym

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// A line table begins with the least and the largest difference of lines that an opcode of one byte has, and with the
// first line. Such an opcode adds to the address as well: by how much depends on the number of differences, so that
// few differences leave room for long steps.

// window is the largest number of differences that opcodes of one byte have.
const window = 15

// histogram counts the differences of lines from -span to span.
type histogram [2*span + 1]uint32

const span = 64

// appendLines appends the line table of f. Rows that add nothing are left out, and so are those that the next one
// replaces at the same address: some readers take the first one. To LLVM's reader an address before the first row is
// an error, and a function without rows has no inlined calls, so that such code has a row without a line.
func (w *Writer) appendLines(b []byte, f *Func) []byte {
	rows, first := f.Lines, Line{Addr: f.Addr}
	switch {
	case len(rows) == 0:
		first.File = f.Calls[0].File
	case rows[0].Addr > f.Addr:
		first.File = rows[0].File
	default:
		for len(rows) > 1 && rows[1].Addr == f.Addr {
			rows = rows[1:]
		}
		first, rows = rows[0], rows[1:]
	}

	low, high := w.differences(f.Lines)
	b = appendSLEB(b, low)
	b = appendSLEB(b, high)
	b = binary.AppendUvarint(b, uint64(first.Line))
	b = appendRow(b, Line{f.Addr, 1, first.Line}, first, low, high)
	prev := first
	for i, row := range rows {
		replaced := i+1 < len(rows) && rows[i+1].Addr == row.Addr
		if replaced || row.File == prev.File && row.Line == prev.Line {
			continue
		}
		b = appendRow(b, prev, row, low, high)
		prev = row
	}
	return append(b, endSequence)
}

// appendRow appends the opcodes that lead from a row to the next one.
func appendRow(b []byte, prev, row Line, low, high int64) []byte {
	if row.File != prev.File {
		b = binary.AppendUvarint(append(b, setFile), uint64(row.File))
	}
	step, lines := row.Addr-prev.Addr, int64(row.Line)-int64(prev.Line)
	if lines >= low && lines <= high && step <= math.MaxUint8 {
		op := uint64(lines-low) + step*uint64(high-low+1) + firstSpecial
		if op <= math.MaxUint8 {
			return append(b, byte(op))
		}
	}
	if lines != 0 {
		b = appendSLEB(append(b, advanceLine), lines)
	}
	return binary.AppendUvarint(append(b, advancePC), step)
}

// differences returns the range of differences between the lines of rows that opcodes of one byte are to have: all,
// or those that are the most frequent.
func (w *Writer) differences(rows []Line) (low, high int64) {
	clear(w.deltas[:])
	w.deltas[span] = 1 // the first row
	for i := 1; i < len(rows); i++ {
		d := int64(rows[i].Line) - int64(rows[i-1].Line)
		low, high = min(low, d), max(high, d)
		if d >= -span && d <= span {
			w.deltas[d+span]++
		}
	}
	if high-low < window {
		return low, high
	}

	var sum, most uint32
	best := 0
	for end, n := range w.deltas {
		sum += n
		if end >= window {
			sum -= w.deltas[end-window]
		}
		if sum > most {
			most, best = sum, end
		}
	}

	// The range ends at differences that occur, for the sake of long steps.
	first, last := max(best-window+1, 0), best
	for w.deltas[first] == 0 {
		first++
	}
	for w.deltas[last] == 0 {
		last--
	}
	return int64(first) - span, int64(last) - span
}

// appendSLEB appends a signed LEB128.
func appendSLEB(b []byte, v int64) []byte {
	for v < -64 || v > 63 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v)&0x7f)
}

// appendCalls appends the inlined calls of f: a tree whose root is the function. A node that has children is followed
// by them and by a 0.
func (w *Writer) appendCalls(b []byte, f *Func) []byte {
	root := [1]Range{{f.Addr, f.Addr + f.Size}}
	w.open = append(w.open[:0], root[:])
	b = w.appendCall(b, &Call{Name: f.Name, Ranges: root[:]}, f.Addr, true)
	for i := range f.Calls {
		call := &f.Calls[i]
		depth := int(call.Depth) + 1
		for len(w.open) > depth {
			b, w.open = append(b, 0), w.open[:len(w.open)-1]
		}
		outer := w.open[len(w.open)-1]
		if depth > len(w.open) || !contain(outer, call.Ranges) {
			w.fail(f, errCalls)
			return b
		}

		parent := i+1 < len(f.Calls) && f.Calls[i+1].Depth > call.Depth
		b = w.appendCall(b, call, outer[0].Lo, parent)
		if parent {
			w.open = append(w.open, call.Ranges)
		}
	}
	for range w.open {
		b = append(b, 0)
	}
	return b
}

// appendCall appends a node. Its ranges are relative to base.
func (w *Writer) appendCall(b []byte, call *Call, base uint64, parent bool) []byte {
	b = binary.AppendUvarint(b, uint64(len(call.Ranges)))
	for _, r := range call.Ranges {
		b = binary.AppendUvarint(b, r.Lo-base)
		b = binary.AppendUvarint(b, r.Hi-r.Lo)
	}
	children := byte(0)
	if parent {
		children = 1
	}
	b = w.appendString(append(b, children), call.Name)
	b = binary.AppendUvarint(b, uint64(call.File))
	return binary.AppendUvarint(b, uint64(call.Line))
}

// contain reports whether ranges, of which there is at least one, ascend without overlaps, and each lies in one of outer.
func contain(outer, ranges []Range) bool {
	if len(ranges) == 0 {
		return false
	}
	first, _ := slices.BinarySearchFunc(outer, ranges[0].Lo, func(r Range, addr uint64) int { return cmp.Compare(r.Hi, addr+1) })
	outer = outer[first:]
	for i, r := range ranges {
		for len(outer) > 0 && outer[0].Hi <= r.Lo {
			outer = outer[1:]
		}
		if r.Lo >= r.Hi || len(outer) == 0 || r.Lo < outer[0].Lo || r.Hi > outer[0].Hi || i > 0 && r.Lo < ranges[i-1].Hi {
			return false
		}
	}
	return true
}
