package mdmp

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
