package minidump

import (
	"fmt"

	"symkit/internal/wire"
)

// StreamType is MINIDUMP_STREAM_TYPE: what a stream holds.
type StreamType uint32

// The types of streams.
const (
	UnusedStream              StreamType = 0
	ThreadListStream          StreamType = 3
	ModuleListStream          StreamType = 4
	MemoryListStream          StreamType = 5
	ExceptionStream           StreamType = 6
	SystemInfoStream          StreamType = 7
	ThreadExListStream        StreamType = 8
	Memory64ListStream        StreamType = 9
	CommentStreamA            StreamType = 10
	CommentStreamW            StreamType = 11
	HandleDataStream          StreamType = 12
	FunctionTableStream       StreamType = 13
	UnloadedModuleListStream  StreamType = 14
	MiscInfoStream            StreamType = 15
	MemoryInfoListStream      StreamType = 16
	ThreadInfoListStream      StreamType = 17
	HandleOperationListStream StreamType = 18
	TokenStream               StreamType = 19
	JavaScriptDataStream      StreamType = 20
	SystemMemoryInfoStream    StreamType = 21
	ProcessVmCountersStream   StreamType = 22
	IptTraceStream            StreamType = 23
	ThreadNamesStream         StreamType = 24

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
	LinuxDsoDebugStream   StreamType = 0x4767000a

	CrashpadInfoStream    StreamType = 0x43500001 // Crashpad's
	StabilityReportStream StreamType = 0x4b6b0002 // Chromium's

	// Mozilla's.
	MacCrashInfoStream StreamType = 0x4d7a0001
	MacBootArgsStream  StreamType = 0x4d7a0002
	LinuxLimitsStream  StreamType = 0x4d7a0003
	SoftErrorsStream   StreamType = 0x4d7a0004
)

var streamNames = map[StreamType]string{
	UnusedStream: "UnusedStream", ThreadListStream: "ThreadListStream", ModuleListStream: "ModuleListStream",
	MemoryListStream: "MemoryListStream", ExceptionStream: "ExceptionStream", SystemInfoStream: "SystemInfoStream",
	ThreadExListStream: "ThreadExListStream", Memory64ListStream: "Memory64ListStream",
	CommentStreamA: "CommentStreamA", CommentStreamW: "CommentStreamW", HandleDataStream: "HandleDataStream",
	FunctionTableStream: "FunctionTableStream", UnloadedModuleListStream: "UnloadedModuleListStream",
	MiscInfoStream: "MiscInfoStream", MemoryInfoListStream: "MemoryInfoListStream",
	ThreadInfoListStream: "ThreadInfoListStream", HandleOperationListStream: "HandleOperationListStream",
	TokenStream: "TokenStream", JavaScriptDataStream: "JavaScriptDataStream",
	SystemMemoryInfoStream: "SystemMemoryInfoStream", ProcessVmCountersStream: "ProcessVmCountersStream",
	IptTraceStream: "IptTraceStream", ThreadNamesStream: "ThreadNamesStream",
	BreakpadInfoStream: "BreakpadInfoStream", AssertionInfoStream: "AssertionInfoStream",
	LinuxCPUInfoStream: "LinuxCpuInfo", LinuxProcStatusStream: "LinuxProcStatus",
	LinuxLsbReleaseStream: "LinuxLsbRelease", LinuxCmdLineStream: "LinuxCmdLine",
	LinuxEnvironStream: "LinuxEnviron", LinuxAuxvStream: "LinuxAuxv", LinuxMapsStream: "LinuxMaps",
	LinuxDsoDebugStream: "LinuxDsoDebug", CrashpadInfoStream: "CrashpadInfoStream",
	StabilityReportStream: "StabilityReportStream", MacCrashInfoStream: "MozMacosCrashInfoStream",
	MacBootArgsStream: "MozMacosBootargsStream", LinuxLimitsStream: "MozLinuxLimits",
	SoftErrorsStream: "MozSoftErrors",
}

// String is the type's name in the headers that define it.
func (t StreamType) String() string {
	if n, ok := streamNames[t]; ok {
		return n
	}
	return fmt.Sprintf("stream %#x", uint32(t))
}

// decoders are the streams that are decoded, order is in which order.
var decoders = map[StreamType]func(*Dump, wire.Cursor) error{
	SystemInfoStream:         (*Dump).readSystemInfo,
	MiscInfoStream:           (*Dump).readMiscInfo,
	ThreadListStream:         (*Dump).readThreads,
	ThreadNamesStream:        (*Dump).readThreadNames,
	ThreadInfoListStream:     (*Dump).readThreadInfos,
	ModuleListStream:         (*Dump).readModules,
	UnloadedModuleListStream: (*Dump).readUnloadedModules,
	Memory64ListStream:       (*Dump).readMemory64,
	MemoryListStream:         (*Dump).readMemory,
	MemoryInfoListStream:     (*Dump).readMemoryInfo,
	ExceptionStream:          (*Dump).readException,
	HandleDataStream:         (*Dump).readHandles,
	BreakpadInfoStream:       (*Dump).readBreakpadInfo,
	AssertionInfoStream:      (*Dump).readAssertion,
	CrashpadInfoStream:       (*Dump).readCrashpad,
	LinuxCPUInfoStream:       text(func(d *Dump) *[]byte { return &d.Linux.CPUInfo }),
	LinuxProcStatusStream:    text(func(d *Dump) *[]byte { return &d.Linux.Status }),
	LinuxLsbReleaseStream:    text(func(d *Dump) *[]byte { return &d.Linux.LsbRelease }),
	LinuxCmdLineStream:       text(func(d *Dump) *[]byte { return &d.Linux.CmdLine }),
	LinuxEnvironStream:       text(func(d *Dump) *[]byte { return &d.Linux.Environ }),
	LinuxAuxvStream:          text(func(d *Dump) *[]byte { return &d.Linux.AuxV }),
	LinuxLimitsStream:        text(func(d *Dump) *[]byte { return &d.Linux.Limits }),
	SoftErrorsStream:         text(func(d *Dump) *[]byte { return &d.SoftErrors }),
	LinuxMapsStream:          (*Dump).readMaps,
	MacCrashInfoStream:       (*Dump).readMacCrashInfo,
	MacBootArgsStream:        (*Dump).readMacBootArgs,
}

var order = []StreamType{
	SystemInfoStream, MiscInfoStream, ThreadListStream, ThreadNamesStream, ThreadInfoListStream,
	ModuleListStream, UnloadedModuleListStream, Memory64ListStream, MemoryListStream, MemoryInfoListStream,
	ExceptionStream, HandleDataStream, BreakpadInfoStream, AssertionInfoStream, CrashpadInfoStream,
	LinuxCPUInfoStream, LinuxProcStatusStream, LinuxLsbReleaseStream, LinuxCmdLineStream, LinuxEnvironStream,
	LinuxAuxvStream, LinuxLimitsStream, SoftErrorsStream, LinuxMapsStream,
	MacCrashInfoStream, MacBootArgsStream,
}

// text decodes a stream that is the bytes of a file.
func text(field func(*Dump) *[]byte) func(*Dump, wire.Cursor) error {
	return func(d *Dump, c wire.Cursor) error {
		if c.Err() != nil {
			return c.Err()
		}
		*field(d) = c.Bytes(uint64(c.Len()))
		return nil
	}
}
