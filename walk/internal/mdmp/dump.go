package mdmp

import (
	"errors"
	"fmt"
	"slices"

	"symkit/internal/wire"
	"symkit/located"
	"symkit/walk"
)

// The errors of the decoders, in addition to those of package located.
var (
	// ErrSignature: the file does not begin with MDMP.
	ErrSignature = errors.New("not a minidump")
	// ErrVersion: the low half of the header's version is not 0xa793.
	ErrVersion = errors.New("unknown version of the format")
	// ErrMissing: the dump lacks a required stream.
	ErrMissing = errors.New("the stream is missing")
	// ErrCount: a count does not fit the bytes that hold the records.
	ErrCount = errors.New("count does not fit the size")
	// ErrRecordSize: the size of a header or record is below its smallest version.
	ErrRecordSize = errors.New("impossible size of a record")
	// ErrDuplicate: two streams of one type; the last one counts.
	ErrDuplicate = errors.New("duplicate stream")
	// ErrString: a string whose size is odd, or longer than any name.
	ErrString = errors.New("impossible size of a string")
	// ErrRange: a range of addresses that is empty or goes past the end of the
	// address space.
	ErrRange = errors.New("impossible range of addresses")
	// ErrOverlap: records overlap: their sizes together exceed the size of the file.
	ErrOverlap = errors.New("overlapping records")
	// ErrLine: a line of text that does not have the format of the file.
	ErrLine = errors.New("malformed line")
)

// Section is the name of the file in errors: their offsets count from its start.
const Section = "minidump"

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

// Read decodes the minidump in data. The error is a *located.Error, its offset
// counted from the start of the file; streams that cannot be
// read are no error: see Required.
func Read(data []byte) (*Dump, error) {
	d := &Dump{data: data, budget: len(data), streams: map[StreamType]state{}}

	// The signature reads as MDMP only in the byte order of the machine that wrote the dump.
	c := wire.New(Section, data, false)
	if c.U32() != Signature {
		d.BigEndian = true
		c = wire.New(Section, data, true)
		if c.U32() != Signature {
			return nil, &wire.Error{Section: Section, Offset: 0, Err: ErrSignature}
		}
	}

	// The low half of the version is the format's.
	c = wire.New(Section, data, d.BigEndian)
	read(&c, &d.Header)
	switch {
	case len(data) >= 8 && d.Header.Version&0xffff != Version:
		return nil, &wire.Error{Section: Section, Offset: 4, Err: ErrVersion}
	case c.Err() != nil:
		return nil, c.Err()
	}
	err := d.readDirectory()
	if err != nil {
		return nil, err
	}
	d.readStreams()
	return d, nil
}

// readDirectory reads the directory, which can be anywhere in the file.
func (d *Dump) readDirectory() error {
	h := &d.Header
	c := d.rest(uint64(h.Directory.RVA), h.Directory.At)
	if c.Err() == nil && uint64(h.StreamCount) > uint64(c.Len())/sizeOf[Stream]() {
		c.Fail(c.Pos(), ErrCount)
	}
	if c.Err() != nil {
		return c.Err()
	}
	d.Directory = make([]Stream, h.StreamCount)
	read(&c, d.Directory)
	return nil
}

// readStreams decodes every stream that has a decoder. If several streams have one type,
// the last one counts.
func (d *Dump) readStreams() {
	// last has a key for each type that is decoded, so that unknown types in a
	// large directory cost nothing.
	last := make(map[StreamType]*Location, len(streams))
	for _, s := range streams {
		if s.read != nil {
			last[s.typ] = nil
		}
	}

	// Find the last stream of each type; each repetition of a type is noted as a loss.
	for i, s := range d.Directory {
		seen, known := last[s.Type]
		if !known {
			continue
		}
		if seen != nil {
			d.lose(s.Type, &wire.Error{Section: Section, Offset: s.Location.At - 4, Err: ErrDuplicate})
		}
		last[s.Type] = &d.Directory[i].Location
	}
	clear(d.streams)

	// Decode in the order of the table, because contexts depend on the system information.
	for _, s := range streams {
		place := last[s.typ]
		if place == nil {
			continue
		}
		err := s.read(d, d.at(*place))
		d.lose(s.typ, err)
		d.streams[s.typ] = state{err, d.streams[s.typ].damaged}
	}

	// All memory is known only after every stream: stacks are in the list of threads, the
	// other memory is in two lists.
	d.indexMemory()
}

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
