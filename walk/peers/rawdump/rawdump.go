package rawdump

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"symkit/internal/printable"
	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

// Options selects what Write writes.
type Options struct {
	// Brief leaves out the contents of stacks and of other memory.
	Brief bool
}

// Write writes the streams of the minidump in data. Control characters of names are escaped. The
// error is a *located.Error, its offset counted from the start of the file, if data has no header
// and directory of a minidump, or an error of out. The output is larger than data by a factor of
// at most ten, unless records overlap: out bounds the output of such a dump.
func Write(out io.Writer, data []byte, opt Options) error {
	p := &printer{Writer: bufio.NewWriterSize(&printable.Writer{W: out}, 1<<16), data: data, brief: opt.Brief}
	c, err := p.header()
	if err != nil {
		return err
	}
	p.fields(headerLayout, c)
	p.directory()

	// Threads and the exception depend on other streams.
	p.system = p.readSystem()
	list, list64 := p.memoryList(), p.memory64List()
	p.stacks = cmp.Or(list64, list)

	for _, print := range []func(){
		p.threads, p.modules, p.unloadedModules, p.handles,
		func() { p.memory(list64) }, func() { p.memory(list) },
		p.memoryInfo, p.exception, p.assertion, p.systemInfo, p.miscInfo, p.threadNames, p.breakpadInfo,
		p.crashpad, p.macCrashInfo, p.macBootArgs, p.stability, p.files,
	} {
		print()

		// Without this check, a damaged dump would be formatted to its end for no reader.
		if p.err != nil {
			return p.err
		}
	}
	return p.Flush()
}

// printer has the dump, and the writer for its text.
type printer struct {
	*bufio.Writer
	err error // the first of the Writer

	data    []byte
	big     bool
	brief   bool
	streams map[mdmp.StreamType]entry
	system  system
	stacks  *memoryList // where stacks are that threads do not have
}

// entry is MINIDUMP_DIRECTORY. Of several streams of one type the last counts.
type entry struct {
	index     int
	size, rva uint32
}

// printf writes text.
func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p, format, args...)
	}
}

// text writes text that has been formatted.
func (p *printer) text(text []byte) {
	if p.err == nil {
		_, p.err = p.Write(text)
	}
}

const section = "minidump"

const headerLayout layout = `MDRawHeader
  signature            = {x4}
  version              = {x4}
  stream_count         = {d4}
  stream_directory_rva = {x4}
  checksum             = {x4}
  time_date_stamp      = {t4}
  flags                = {x8}

`

// header finds the byte order and reads the directory. It returns a cursor at the header.
func (p *printer) header() (wire.Cursor, error) {
	const signature, version = 0x504d444d, 0xa793 // "MDMP"
	start := wire.New(section, p.data, false)
	c := start
	if c.U32() != signature {
		p.big = true
		start = wire.New(section, p.data, true)
		c = start
		if c.U32() != signature {
			c.Fail(0, mdmp.ErrSignature)
			return c, &wire.Error{Section: section, Offset: 0, Err: mdmp.ErrSignature}
		}
	}
	if c.U32()&0xffff != version {
		return c, &wire.Error{Section: section, Offset: 4, Err: mdmp.ErrVersion}
	}

	// The directory can be anywhere in the file.
	count := uint64(c.U32())
	rva := uint64(c.U32())
	whole := start
	whole.Skip(uint64(headerLayout.size()))
	directory := start
	directory.Seek(rva)
	switch {
	case whole.Err() != nil:
		return c, whole.Err()
	case directory.Err() != nil:
		return c, &wire.Error{Section: section, Offset: 12, Err: wire.ErrOffset}
	case count > uint64(directory.Len())/12:
		return c, &wire.Error{Section: section, Offset: 8, Err: mdmp.ErrCount}
	}

	p.streams = map[mdmp.StreamType]entry{}
	for i := range int(count) {
		p.streams[mdmp.StreamType(directory.U32())] = entry{i, directory.U32(), directory.U32()}
	}
	return start, nil
}

// directory lists the streams, in the order of the file and by type.
func (p *printer) directory() {
	types := slices.Collect(maps.Keys(p.streams))
	slices.SortFunc(types, func(a, b mdmp.StreamType) int { return cmp.Compare(p.streams[a].index, p.streams[b].index) })
	for _, typ := range types {
		s := p.streams[typ]
		p.printf("mDirectory[%d]\nMDRawDirectory\n  stream_type        = %#x (%s)\n  location.data_size = %d\n  location.rva       = %#x\n\n",
			s.index, uint32(typ), streamName(typ), s.size, s.rva)
	}

	p.printf("Streams:\n")
	slices.Sort(types)
	for _, typ := range types {
		p.printf("  stream type %#x (%s) at index %d\n", uint32(typ), streamName(typ), p.streams[typ].index)
	}
	p.printf("\n")
}

// names are the types of streams that package minidump has no names for, and those that
// rust-minidump calls by another name.
var names = map[mdmp.StreamType]string{
	1: "ReservedStream0", 2: "ReservedStream1", mdmp.FunctionTableStream: "FunctionTable",
	0x8000: "ceStreamNull", 0x8001: "ceStreamSystemInfo", 0x8002: "ceStreamException", 0x8003: "ceStreamModuleList",
	0x8004: "ceStreamProcessList", 0x8005: "ceStreamThreadList", 0x8006: "ceStreamThreadContextList",
	0x8007: "ceStreamThreadCallStackList", 0x8008: "ceStreamMemoryVirtualList", 0x8009: "ceStreamMemoryPhysicalList",
	0x800a: "ceStreamBucketParameters", 0x800b: "ceStreamProcessModuleMap", 0x800c: "ceStreamDiagnosisList",
	0xffff: "LastReservedStream",
}

// streamName returns the name that rust-minidump has for a type of streams, or "unknown".
func streamName(typ mdmp.StreamType) string {
	switch {
	case names[typ] != "":
		return names[typ]
	case typ.Known():
		return typ.String()
	}
	return "unknown"
}

// at returns a cursor over a part of the file. The cursor has failed if the part is not inside.
func (p *printer) at(rva, size uint32) wire.Cursor {
	c := wire.New(section, p.data, p.big)
	c.Seek(uint64(rva))
	return c.Sub(uint64(size))
}

// rest returns a cursor from the offset rva to the end of the file.
func (p *printer) rest(rva uint64) wire.Cursor {
	c := wire.New(section, p.data, p.big)
	c.Seek(rva)
	return c
}

// stream returns a cursor over a stream, which has failed if there is none.
func (p *printer) stream(typ mdmp.StreamType) wire.Cursor {
	s, ok := p.streams[typ]
	c := p.at(s.rva, s.size)
	if !ok {
		c.Fail(0, mdmp.ErrMissing)
	}
	return c
}

// list returns the records of size bytes of a stream that begins with their number, and
// whether the list is whole. Some writers align the first record to 8 bytes.
func (p *printer) list(typ mdmp.StreamType, size int) (wire.Cursor, bool) {
	c := p.stream(typ)
	n := uint64(c.U32()) * uint64(size)
	switch uint64(c.Len()) {
	case n:
	case n + 4:
		c.Skip(4)
	default:
		c.Fail(c.Pos(), mdmp.ErrCount)
	}
	return c, c.Err() == nil
}

// table returns the records of a stream whose header has its own size, the size of a record,
// and the number of records. The list is rejected if the size is not one of sizes.
func (p *printer) table(typ mdmp.StreamType, sizes ...int) (records wire.Cursor, size int, ok bool) {
	c := p.stream(typ)
	start := c
	header, record, n := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	if c.Err() != nil || header < uint64(c.Pos()-start.Pos()) || !slices.Contains(sizes, int(record)) {
		return c, 0, false
	}
	start.Skip(header)
	if start.Err() != nil || n > uint64(start.Len())/record {
		return c, 0, false
	}
	return start.Sub(n * record), int(record), true
}
