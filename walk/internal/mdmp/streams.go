package mdmp

import (
	"fmt"
	"slices"

	"symkit/internal/wire"
)

// StreamType is MINIDUMP_STREAM_TYPE: the content of a stream.
type StreamType uint32

// The types of streams that are read.
const (
	ThreadListStream         StreamType = 3
	ModuleListStream         StreamType = 4
	MemoryListStream         StreamType = 5
	ExceptionStream          StreamType = 6
	SystemInfoStream         StreamType = 7
	Memory64ListStream       StreamType = 9
	HandleDataStream         StreamType = 12
	UnloadedModuleListStream StreamType = 14
	MiscInfoStream           StreamType = 15
	MemoryInfoListStream     StreamType = 16
	ThreadInfoListStream     StreamType = 17
	ThreadNamesStream        StreamType = 24

	// Breakpad's.
	BreakpadInfoStream    StreamType = 0x47670001
	AssertionInfoStream   StreamType = 0x47670002
	LinuxCPUInfoStream    StreamType = 0x47670003
	LinuxProcStatusStream StreamType = 0x47670004
	LinuxLsbReleaseStream StreamType = 0x47670005
	LinuxCmdLineStream    StreamType = 0x47670006
	LinuxEnvironStream    StreamType = 0x47670007
	LinuxAuxvStream       StreamType = 0x47670008
	LinuxMapsStream       StreamType = 0x47670009

	CrashpadInfoStream    StreamType = 0x43500001 // Crashpad's
	StabilityReportStream StreamType = 0x4b6b0002 // Chromium's

	// Mozilla's.
	MacCrashInfoStream StreamType = 0x4d7a0001
	MacBootArgsStream  StreamType = 0x4d7a0002
	LinuxLimitsStream  StreamType = 0x4d7a0003
	SoftErrorsStream   StreamType = 0x4d7a0004
)

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
	if s, ok := t.find(); ok {
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
