package mdmp

import (
	"errors"
	"fmt"
	"slices"

	"symkit/internal/wire"
	"symkit/located"
	"symkit/walk"
)

// Dump is a decoded minidump. Its values alias the bytes given to Read. Fields for
// streams that the dump lacks are empty or nil.
type Dump struct {
	Header    Header
	BigEndian bool
	Directory []Stream

	System      SystemInfo
	Threads     []Thread
	ThreadNames []ThreadName
	// Modules are in the order of the dump: the program itself comes first.
	Modules         []Module
	UnloadedModules []UnloadedModule
	Exception       *Exception
	Memory          Memory
	MemoryInfo      []MemoryInfo
	Handles         []Handle
	Misc            *MiscInfo
	Breakpad        *BreakpadInfo
	Assertion       *Assertion
	Crashpad        *CrashpadInfo
	Maps            []Mapping // /proc/PID/maps
	MacCrashInfo    []MacCrashInfo
	MacBootArgs     Text // the arguments the kernel was started with

	// Losses are the errors of parts that could not be read, at most MaxLosses of them; Lost
	// counts all.
	Losses []Loss
	Lost   int

	data    []byte
	budget  int
	streams map[StreamType]state
}

// state says what came of a stream: err of the stream, or damage to parts of it.
type state struct {
	err     error
	damaged bool
}

// MaxLosses bounds the cost of reporting a dump full of damage.
const MaxLosses = 100

// Loss is a damaged part of a dump.
type Loss struct {
	Stream StreamType
	Err    *located.Error
}

// Error returns the type of the stream, the place and the cause.
func (l Loss) Error() string { return fmt.Sprintf("%v: %v", l.Stream, l.Err) }

// Unwrap returns the located error.
func (l Loss) Unwrap() error { return l.Err }

// Required returns the error of a stream without which a dump is of no use, in the name of the
// stream: the list of threads, or the system information.
func (d *Dump) Required() error {
	for _, t := range []StreamType{SystemInfoStream, ThreadListStream} {
		s, found := d.streams[t]
		if !found {
			s.err = &wire.Error{Section: Section, Offset: 0, Err: ErrMissing}
		}
		if s.err != nil {
			return fmt.Errorf("%v: %w", t, s.err)
		}
	}
	return nil
}

// Has reports whether the dump has a stream that could be read, perhaps not all of it.
func (d *Dump) Has(t StreamType) bool {
	s, found := d.streams[t]
	return found && s.err == nil
}

// Whole reports whether the dump has a stream that could be read without a loss.
func (d *Dump) Whole(t StreamType) bool { return d.Has(t) && !d.streams[t].damaged }

// File returns the bytes of the last stream of a type: nil if there is none in the file.
func (d *Dump) File(t StreamType) []byte {
	for _, s := range slices.Backward(d.Directory) {
		if s.Type == t {
			c := d.at(s.Location)
			if c.Err() != nil {
				return nil
			}
			return c.Rest()
		}
	}
	return nil
}

// lose notes damage to a stream: err is a *located.Error, or nil for none.
func (d *Dump) lose(t StreamType, err error) {
	if err == nil {
		return
	}
	var e *wire.Error
	errors.As(err, &e)

	// All losses are counted, but only the first ones are kept.
	d.Lost++
	d.streams[t] = state{damaged: true}
	if len(d.Losses) < MaxLosses {
		d.Losses = append(d.Losses, Loss{t, e})
	}
}

// at returns a cursor over the bytes at a location; positions of the cursor are
// offsets in the file. For a location outside the file the cursor has failed at
// the descriptor.
func (d *Dump) at(l Location) wire.Cursor {
	c := wire.New(Section, d.data, d.BigEndian)
	if uint64(l.RVA)+uint64(l.Size) > uint64(len(d.data)) {
		c.Fail(l.At, wire.ErrOffset)
		return c
	}
	c.Seek(uint64(l.RVA))
	return c.Sub(uint64(l.Size))
}

// rest returns a cursor from the offset rva to the end of the file. Errors are
// located at at, where the file has the offset.
func (d *Dump) rest(rva uint64, at int) wire.Cursor {
	c := wire.New(Section, d.data, d.BigEndian)
	if rva > uint64(len(d.data)) {
		c.Fail(at, wire.ErrOffset)
		return c
	}
	c.Seek(rva)
	return c
}

// spend takes n bytes of a record that other records point to from the budget.
// Records that do not overlap never use it up.
func (d *Dump) spend(c *wire.Cursor, n int) bool {
	if c.Err() != nil {
		return false
	}
	if n > d.budget {
		c.Fail(c.Pos(), ErrOverlap)
		return false
	}
	d.budget -= n
	return true
}

// Context decodes the registers of the context at a location, for the dump's CPU.
func (d *Dump) Context(l Location) (walk.Registers, error) { return readContext(d.System.CPU, d.at(l)) }

// Size returns the size of the file.
func (d *Dump) Size() int { return len(d.data) }

// AppendContext appends the text of the context at a location: nothing if the context is incomplete,
// or of another CPU than the dump's.
func (d *Dump) AppendContext(out []byte, l Location) []byte {
	if !d.Has(SystemInfoStream) {
		return out
	}
	return appendContext(out, d.System.CPU, d.at(l))
}

// name finds the MINIDUMP_STRING at rva: a size in bytes, then UTF-16. Errors in
// rva are located at at, where the file has the offset.
func (d *Dump) name(rva uint64, at int) (Text, error) {
	c := d.rest(rva, at)
	start := c.Pos()
	size := c.U32()

	// UTF-16 has units of two bytes.
	if c.Err() == nil && (size%2 != 0 || size > maxName) {
		c.Fail(start, ErrString)
	}
	units := c.Bytes(uint64(size))
	if c.Err() != nil {
		return Text{}, c.Err()
	}
	return Text{units, d.BigEndian}, nil
}

// optional finds a string as name does; offset 0 means that there is no string.
func (d *Dump) optional(o Offset) (Text, error) {
	if o.RVA == 0 {
		return Text{}, nil
	}
	return d.name(uint64(o.RVA), o.At)
}

// utf8 returns the bytes of a MinidumpUTF8String: a size in bytes, and then the bytes.
func (d *Dump) utf8(o Offset) ([]byte, error) {
	s := d.rest(uint64(o.RVA), o.At)
	b := s.Bytes(uint64(s.U32()))
	return b, s.Err()
}
