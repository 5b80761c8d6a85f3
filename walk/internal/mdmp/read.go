package mdmp

import (
	"fmt"
	"slices"

	"symkit/internal/wire"
)

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

// stream is one type of streams.
type stream struct {
	typ  StreamType
	name string
	read func(*Dump, wire.Cursor) error // nil: not decoded
}

// streams are the types of streams with their names in the headers that define
// them. Those with a decoder come first, in the order in which they are decoded:
// the system information names the CPU, which contexts depend on.
var streams = []stream{
	{SystemInfoStream, "SystemInfoStream", (*Dump).readSystemInfo},
	{MiscInfoStream, "MiscInfoStream", (*Dump).readMiscInfo},
	{ThreadListStream, "ThreadListStream", (*Dump).readThreads},
	{ThreadNamesStream, "ThreadNamesStream", (*Dump).readThreadNames},
	{ThreadInfoListStream, "ThreadInfoListStream", (*Dump).readThreadInfos},
	{ModuleListStream, "ModuleListStream", (*Dump).readModules},
	{UnloadedModuleListStream, "UnloadedModuleListStream", (*Dump).readUnloadedModules},
	{Memory64ListStream, "Memory64ListStream", (*Dump).readMemory64},
	{MemoryListStream, "MemoryListStream", (*Dump).readMemory},
	{MemoryInfoListStream, "MemoryInfoListStream", (*Dump).readMemoryInfo},
	{ExceptionStream, "ExceptionStream", (*Dump).readException},
	{HandleDataStream, "HandleDataStream", (*Dump).readHandles},
	{BreakpadInfoStream, "BreakpadInfoStream", (*Dump).readBreakpadInfo},
	{AssertionInfoStream, "AssertionInfoStream", (*Dump).readAssertion},
	{CrashpadInfoStream, "CrashpadInfoStream", (*Dump).readCrashpad},
	{LinuxCPUInfoStream, "LinuxCpuInfo", (*Dump).readFile},
	{LinuxProcStatusStream, "LinuxProcStatus", (*Dump).readFile},
	{LinuxLsbReleaseStream, "LinuxLsbRelease", (*Dump).readFile},
	{LinuxCmdLineStream, "LinuxCmdLine", (*Dump).readFile},
	{LinuxEnvironStream, "LinuxEnviron", (*Dump).readFile},
	{LinuxAuxvStream, "LinuxAuxv", (*Dump).readFile},
	{LinuxLimitsStream, "MozLinuxLimits", (*Dump).readFile},
	{SoftErrorsStream, "MozSoftErrors", (*Dump).readFile},
	{LinuxMapsStream, "LinuxMaps", (*Dump).readMaps},
	{MacCrashInfoStream, "MozMacosCrashInfoStream", (*Dump).readMacCrashInfo},
	{MacBootArgsStream, "MozMacosBootargsStream", (*Dump).readMacBootArgs},
	{0, "UnusedStream", nil},
	{8, "ThreadExListStream", nil},
	{10, "CommentStreamA", nil},
	{11, "CommentStreamW", nil},
	{13, "FunctionTableStream", nil},
	{18, "HandleOperationListStream", nil},
	{19, "TokenStream", nil},
	{20, "JavaScriptDataStream", nil},
	{21, "SystemMemoryInfoStream", nil},
	{22, "ProcessVmCountersStream", nil},
	{23, "IptTraceStream", nil},
	{0x4767000a, "LinuxDsoDebug", nil},
	{StabilityReportStream, "StabilityReportStream", nil},
}

// StreamTypes returns the types of streams that have names.
func StreamTypes() (all []StreamType) {
	for _, s := range streams {
		all = append(all, s.typ)
	}
	return all
}

// String returns the type's name in the headers that define it.
func (t StreamType) String() string {
	s, ok := t.find()
	if ok {
		return s.name
	}
	return fmt.Sprintf("stream %#x", uint32(t))
}

// Known reports whether the headers that define types of streams have the type.
func (t StreamType) Known() bool {
	_, ok := t.find()
	return ok
}

// Decoded reports whether streams of the type are decoded.
func (t StreamType) Decoded() bool {
	s, _ := t.find()
	return s.read != nil
}

// find returns the type's row of streams.
func (t StreamType) find() (s stream, ok bool) {
	i := slices.IndexFunc(streams, func(s stream) bool { return s.typ == t })
	if i < 0 {
		return s, false
	}
	return streams[i], true
}

// readFile reads a stream that is the bytes of a file: File returns them.
func (*Dump) readFile(c wire.Cursor) error { return c.Err() }
