package minidump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf16"

	"symkit/elfx"
	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// A minidump of a Linux process is written in the form that Breakpad's client library gives it:
// the program is the first module, modules have the build id as their CodeView record, the
// stack of a thread is one range of memory, and the files of /proc are streams. The head of the
// file, with all streams, is made in memory. It is made twice, because the locations in it
// depend on its length. The ranges of memory follow the head.

// Contents is the content of the minidump that Write writes.
type Contents struct {
	Process *walk.Process
	// Memory are the ranges to write, by address and without overlaps. All of each is in the
	// memory of the process.
	Memory []elfx.Range
	// Stacks has the stack of each thread, part of one of the ranges; an empty one is unknown.
	Stacks []elfx.Range
	// Maps is the text of /proc/PID/maps, AuxV the bytes of /proc/PID/auxv.
	Maps, AuxV []byte
	// Processors is the number of processors of the machine; 0: unknown.
	Processors int
}

// Errors of Write, besides those of the writer.
var (
	ErrNoContext = errors.New("minidumps have no registers of this machine")
	ErrTooLarge  = errors.New("a minidump has at most 4 GiB")
	ErrUnmapped  = errors.New("memory to write is not known")
)

// writer makes the head of a dump.
type writer struct {
	c     *Contents
	cpu   mdmp.CPU
	order byteOrder
	out   []byte
	base  uint64   // file offset of the first range of memory
	rvas  []uint64 // of the ranges of memory
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// Write writes a minidump of a Linux process in the byte order of the process. The error is
// ErrNoContext, ErrTooLarge, ErrUnmapped or that of out.
func Write(out io.Writer, c *Contents) error {
	w := &writer{c: c, order: binary.LittleEndian}
	if c.Process.BigEndian {
		w.order = binary.BigEndian
	}
	cpu, ok := mdmp.CPUNamed(c.Process.CPU)
	if !ok {
		return fmt.Errorf("%s: %w", c.Process.CPU, ErrNoContext)
	}
	w.cpu = cpu

	// The second head has the places of the memory, which follows it.
	w.head()
	w.base = uint64(len(w.out))
	end := w.base
	for _, r := range c.Memory {
		w.rvas = append(w.rvas, end)
		end += r.Hi - r.Lo
	}
	if end > math.MaxUint32 {
		return fmt.Errorf("%w: %s of memory", ErrTooLarge, quantity.Bytes(end-w.base))
	}
	w.head()
	_, err := out.Write(w.out)
	if err != nil {
		return err
	}
	for _, r := range c.Memory {
		err := w.memory(out, r)
		if err != nil {
			return err
		}
	}
	return nil
}

// memory writes a range of memory.
func (w *writer) memory(out io.Writer, r elfx.Range) error {
	const step = 4096
	for at := r.Lo; at < r.Hi; {
		n := min(r.Hi-at, step-at%step)
		b := w.c.Process.Memory.Bytes(at, n)
		if b == nil {
			return fmt.Errorf("%#x: %w", at, ErrUnmapped)
		}
		_, err := out.Write(b)
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// append appends records.
func (w *writer) append(records ...any) {
	for _, r := range records {
		w.out = mdmp.Append(w.out, w.order, r)
	}
}

// align pads the head with zeros.
func (w *writer) align() { w.out = append(w.out, make([]byte, -len(w.out)&7)...) }

// put appends data outside of any stream and returns its place.
func (w *writer) put(data []byte) mdmp.Location {
	w.align()
	w.append(data)
	return mdmp.Location{Size: uint32(len(data)), RVA: uint32(len(w.out) - len(data))}
}

// text appends a MINIDUMP_STRING and returns its place.
func (w *writer) text(s string) mdmp.Offset {
	units := utf16.Encode([]rune(s))
	w.align()
	at := uint32(len(w.out))
	w.append(uint32(2*len(units)), units, uint16(0))
	return mdmp.Offset{RVA: at}
}
