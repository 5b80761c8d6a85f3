package mdmp

import (
	"errors"
	"fmt"

	"symkit/internal/wire"
	"symkit/located"
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
	Directory []Stream

	System      SystemInfo
	Threads     []Thread
	ThreadNames []ThreadName
	ThreadInfos []ThreadInfo
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
	Linux           Linux
	MacCrashInfo    []MacCrashInfo
	MacBootArgs     Text // the arguments the kernel was started with
	// SoftErrors is JSON about errors while the dump was written (Mozilla's writer).
	SoftErrors []byte

	// Losses are the errors of parts that could not be read, at most MaxLosses of them; Lost
	// counts all.
	Losses []Loss
	Lost   int

	data   []byte
	big    bool
	budget int
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

// Header is MINIDUMP_HEADER.
type Header struct {
	Version   uint32 // the high half is the writer's own
	Checksum  uint32
	Time      uint32 // when it was written, in seconds since 1970
	Flags     uint64 // MINIDUMP_TYPE
	BigEndian bool
}

// Location is MINIDUMP_LOCATION_DESCRIPTOR: a place in the file.
type Location struct {
	Size, RVA uint32
	at        int // where the descriptor itself is, for errors
}

// Stream is MINIDUMP_DIRECTORY: one part of the file.
type Stream struct {
	Type     StreamType
	Location Location
}

const signature = 0x504d444d // MDMP

// Read decodes the minidump in data. The error is a *located.Error, its offset
// counted from the start of the file; it may be wrapped in the name of the
// stream.
func Read(data []byte) (*Dump, error) {
	d := &Dump{data: data, budget: len(data)}

	// The signature reads as MDMP only in the byte order of the machine that wrote the dump.
	for _, big := range []bool{false, true} {
		c := wire.New(Section, data, big)
		if c.U32() == signature {
			d.big = big
			if err := d.read(c); err != nil {
				return nil, err
			}
			return d, nil
		}
	}
	return nil, &wire.Error{Section: Section, Offset: 0, Err: ErrSignature}
}

// read decodes the file after the signature.
func (d *Dump) read(c wire.Cursor) error {
	at := c.Pos()
	h := &d.Header
	h.BigEndian = d.big
	h.Version = c.U32()
	count := c.U32()
	dir := Location{RVA: c.U32(), at: c.Pos() - 4}
	h.Checksum, h.Time, h.Flags = c.U32(), c.U32(), c.U64()

	// The low half of the version is the format's, the high half is the writer's own.
	if c.Err() == nil && h.Version&0xffff != 0xa793 {
		c.Fail(at, ErrVersion)
	}
	if c.Err() != nil {
		return c.Err()
	}
	// The directory can be anywhere in the file.
	if err := d.readDirectory(count, dir); err != nil {
		return err
	}
	return d.readStreams()
}

const directoryEntry = 12 // sizeof MINIDUMP_DIRECTORY

// readDirectory reads a directory of count streams. at is where the directory is, and where
// the header has its offset, for errors.
func (d *Dump) readDirectory(count uint32, at Location) error {
	c := wire.New(Section, d.data, d.big)
	if uint64(at.RVA) > uint64(len(d.data)) {
		c.Fail(at.at, wire.ErrOffset)
		return c.Err()
	}

	c.Seek(uint64(at.RVA))
	if uint64(count) > uint64(c.Len())/directoryEntry {
		c.Fail(c.Pos(), ErrCount)
		return c.Err()
	}

	d.Directory = make([]Stream, count)
	for i := range d.Directory {
		d.Directory[i] = Stream{StreamType(c.U32()), location(&c)}
	}
	return c.Err()
}

// readStreams decodes every stream that has a decoder. If several streams have one type,
// the last one counts. A dump without system information or threads is an error.
func (d *Dump) readStreams() error {
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
			d.lose(s.Type, &wire.Error{Section: Section, Offset: s.Location.at - 4, Err: ErrDuplicate})
		}
		last[s.Type] = &d.Directory[i].Location
	}

	// Decode in the order of the table, because contexts depend on the system information.
	for _, s := range streams {
		required := s.typ == SystemInfoStream || s.typ == ThreadListStream
		err := error(&wire.Error{Section: Section, Offset: 0, Err: ErrMissing})
		place := last[s.typ]
		if place != nil {
			err = s.read(d, d.at(*place))
		}

		switch {
		case required && err != nil:
			return fmt.Errorf("%v: %w", s.typ, err)
		case place != nil:
			d.lose(s.typ, err)
		}
	}

	// All memory is known only after every stream: stacks are in the list of threads, the
	// other memory is in two lists.
	d.indexMemory()
	return nil
}

// lose notes damage to a stream: err is a *located.Error, or nil for none.
func (d *Dump) lose(t StreamType, err error) {
	var e *wire.Error
	if !errors.As(err, &e) {
		return
	}

	// All losses are counted, but only the first ones are kept.
	d.Lost++
	if len(d.Losses) < MaxLosses {
		d.Losses = append(d.Losses, Loss{t, e})
	}
}

// at returns a cursor over the bytes at a location; positions of the cursor are
// offsets in the file. For a location outside the file the cursor has failed at
// the descriptor.
func (d *Dump) at(l Location) wire.Cursor {
	c := wire.New(Section, d.data, d.big)
	if uint64(l.RVA)+uint64(l.Size) > uint64(len(d.data)) {
		c.Fail(l.at, wire.ErrOffset)
		return c
	}
	c.Seek(uint64(l.RVA))
	return c.Sub(uint64(l.Size))
}

// rest returns a cursor from the offset rva to the end of the file. Errors are
// located at at, where the file has the offset.
func (d *Dump) rest(rva uint64, at int) wire.Cursor {
	c := wire.New(Section, d.data, d.big)
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

// location reads a MINIDUMP_LOCATION_DESCRIPTOR.
func location(c *wire.Cursor) Location {
	at := c.Pos()
	return Location{Size: c.U32(), RVA: c.U32(), at: at}
}

// Context decodes the context at a location, for the dump's CPU.
func (d *Dump) Context(l Location) (Context, error) { return ReadContext(d.System.CPU, d.at(l)) }

// Size returns the size of the file.
func (d *Dump) Size() int { return len(d.data) }
