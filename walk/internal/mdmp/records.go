package mdmp

import (
	"encoding/binary"
	"fmt"
)

// Header is MINIDUMP_HEADER.
type Header struct {
	Signature   uint32 `raw:"signature"`
	Version     uint32 `raw:"version"` // the high half is the writer's own
	StreamCount uint32 `raw:"stream_count,d"`
	Directory   Offset `raw:"stream_directory_rva"`
	Checksum    uint32 `raw:"checksum"`
	Time        uint32 `raw:"time_date_stamp,t"` // when it was written, in seconds since 1970
	Flags       uint64 `raw:"flags"`             // MINIDUMP_TYPE
}

// Signature and Version are those of every header.
const (
	Signature = 0x504d444d // MDMP
	Version   = 0xa793
)

// Offset is RVA: a place in the file.
type Offset struct {
	At  int
	RVA uint32 `raw:""`
}

// Location is MINIDUMP_LOCATION_DESCRIPTOR: a part of the file.
type Location struct {
	At   int
	Size uint32 `raw:"data_size"`
	RVA  uint32 `raw:"rva"`
}

// Stream is MINIDUMP_DIRECTORY: the place of a stream.
type Stream struct {
	Type     StreamType
	Location Location `raw:"location,dx"`
}

// MemoryDescriptor is MINIDUMP_MEMORY_DESCRIPTOR.
type MemoryDescriptor struct {
	At     int
	Base   uint64   `raw:"start_of_memory_range"` // address in the process
	Memory Location `raw:"memory"`
}

// memory64List is the head of MINIDUMP_MEMORY64_LIST.
type memory64List struct {
	At     int
	Count  uint64
	BaseAt int
	Base   uint64
}

// MemoryDescriptor64 is MINIDUMP_MEMORY_DESCRIPTOR64.
type MemoryDescriptor64 struct {
	At     int
	Base   uint64 `raw:"start_of_memory_range"`
	SizeAt int
	Size   uint64 `raw:"memory.data_size"`
}

// MemoryInfo is MINIDUMP_MEMORY_INFO: a range of pages of one kind.
type MemoryInfo struct {
	At                   int
	Base                 uint64 `raw:"base_address"`
	AllocationBase       uint64 `raw:"allocation_base"`
	AllocationProtection uint32 `raw:"allocation_protection"` // PAGE_*
	_                    uint32
	Size                 uint64 `raw:"region_size"`
	State                uint32 `raw:"state"`      // MEM_COMMIT, MEM_RESERVE, MEM_FREE
	Protection           uint32 `raw:"protection"` // PAGE_*
	Type                 uint32 `raw:"_type"`      // MEM_PRIVATE, MEM_MAPPED, MEM_IMAGE
	_                    uint32
}

// Thread is MINIDUMP_THREAD.
type Thread struct {
	ID            uint32           `raw:"thread_id"`
	SuspendCount  uint32           `raw:"suspend_count,d"`
	PriorityClass uint32           `raw:"priority_class"` // Windows'
	Priority      uint32           `raw:"priority"`       // Windows'
	TEB           uint64           `raw:"teb"`            // address of the thread environment block
	Stack         MemoryDescriptor `raw:"stack"`
	Context       Location         `raw:"thread_context"`
}

// threadName is MINIDUMP_THREAD_NAME.
type threadName struct {
	ID  uint32
	At  int
	RVA uint64
}

// threadInfo is MINIDUMP_THREAD_INFO, of which nothing is needed.
type threadInfo struct{ _ [64]byte }

// ModuleRecord is MINIDUMP_MODULE.
type ModuleRecord struct {
	At       int
	Base     uint64      `raw:"base_of_image"`
	Size     uint32      `raw:"size_of_image"`
	Checksum uint32      `raw:"checksum"`
	Time     uint32      `raw:"time_date_stamp,t"` // of the image; Windows takes a hash for it
	NameAt   Offset      `raw:"module_name_rva"`
	Version  FileVersion `raw:"version_info"`
	CVRecord Location    `raw:"cv_record,dx"`
	Misc     Location    `raw:"misc_record,dx"`
	_        [16]byte
}

// FileVersion is VS_FIXEDFILEINFO. Of two numbers the first is the higher half.
type FileVersion struct {
	Signature     uint32    `raw:"signature"`
	StructVersion uint32    `raw:"struct_version"`
	File          [2]uint32 `raw:"file_version"`
	Product       [2]uint32 `raw:"product_version"`
	FlagsMask     uint32    `raw:"file_flags_mask"`
	Flags         uint32    `raw:"file_flags"`
	OS            uint32    `raw:"file_os"`
	Type          uint32    `raw:"file_type"`
	Subtype       uint32    `raw:"file_subtype"`
	Date          [2]uint32 `raw:"file_date"`
}

// UnloadedRecord is MINIDUMP_UNLOADED_MODULE.
type UnloadedRecord struct {
	At       int
	Base     uint64 `raw:"base_of_image"`
	Size     uint32 `raw:"size_of_image"`
	Checksum uint32 `raw:"checksum"`
	Time     uint32 `raw:"time_date_stamp,t"`
	NameAt   Offset `raw:"module_name_rva"`
}

// debugMisc is IMAGE_DEBUG_MISC, before its name.
type debugMisc struct {
	DataType uint32
	At       int
	Size     uint32
	Unicode  uint8
	_        [3]byte
}

// ExceptionRecord is MINIDUMP_EXCEPTION_STREAM.
type ExceptionRecord struct {
	ThreadID uint32 `raw:"thread_id"`
	_        uint32
	// Code is the exception: NTSTATUS (Windows), signal (Linux), Mach exception
	// (macOS). Flags refines it: si_code (Linux), code (macOS).
	Code   uint32 `raw:"exception_record.exception_code"`
	Flags  uint32 `raw:"exception_record.exception_flags"`
	Record uint64 `raw:"exception_record.exception_record"` // address of a nested exception's record
	// Address is the address of the fault (Linux, macOS) or of the instruction
	// (Windows).
	Address     uint64 `raw:"exception_record.exception_address"`
	CountAt     int
	Count       uint32 `raw:"exception_record.number_parameters,d"`
	_           uint32
	Information [MaxParameters]uint64 `raw:"exception_record.exception_information"`
	Context     Location              `raw:"thread_context,dx"`
}

// MaxParameters is the size of the array of parameters.
const MaxParameters = 15 // EXCEPTION_MAXIMUM_PARAMETERS

// SystemRecord is MINIDUMP_SYSTEM_INFO.
type SystemRecord struct {
	CPU           CPU       `raw:"processor_architecture"`
	Level         uint16    `raw:"processor_level,d"`  // the family
	Revision      uint16    `raw:"processor_revision"` // model and stepping
	Processors    uint8     `raw:"number_of_processors,d"`
	ProductType   uint8     `raw:"product_type,d"`
	Major         uint32    `raw:"major_version,d"`
	Minor         uint32    `raw:"minor_version,d"`
	Build         uint32    `raw:"build_number,d"`
	OS            OS        `raw:"platform_id"`
	ServicePackAt Offset    `raw:"csd_version_rva"`
	SuiteMask     uint16    `raw:"suite_mask"`
	_             uint16    // reserved
	Info          [6]uint32 // CPU_INFORMATION
}

// MiscRecord is MINIDUMP_MISC_INFO in any of its five versions. Fields of later versions than the
// dump's are zero.
type MiscRecord struct {
	MiscInfo1 `raw:""`

	// Version 2.
	MaxMHz           uint32 `raw:"processor_max_mhz,d" valid:"0x4"`
	CurrentMHz       uint32 `raw:"processor_current_mhz,d" valid:"0x4"`
	MHzLimit         uint32 `raw:"processor_mhz_limit,d" valid:"0x4"`
	MaxIdleState     uint32 `raw:"processor_max_idle_state,d" valid:"0x4"`
	CurrentIdleState uint32 `raw:"processor_current_idle_state,d" valid:"0x4"`

	// Version 3.
	IntegrityLevel   uint32 `raw:"process_integrity_level,d" valid:"0x10"`
	ExecuteFlags     uint32 `raw:"process_execute_flags,h" valid:"0x20"`
	ProtectedProcess uint32 `raw:"protected_process,d" valid:"0x80"`
	TimeZoneID       uint32 `raw:"time_zone_id,d" valid:"0x40"`
	TimeZone         TimeZone

	// Version 4.
	BuildString      [260]uint16
	DebugBuildString [40]uint16

	// Version 5.
	XState XStateInfo
	Cookie ProcessCookie
}

// MiscInfo1 is the first version of MINIDUMP_MISC_INFO.
type MiscInfo1 struct {
	Size       uint32 `raw:"size_of_info,d"`
	Flags      uint32 `raw:"flags1,h"` // MINIDUMP_MISC*: the fields that are valid
	ProcessID  uint32 `raw:"process_id,d" valid:"0x1"`
	CreateTime uint32 `raw:"process_create_time,t" valid:"0x2"` // seconds since 1970
	UserTime   uint32 `raw:"process_user_time,d" valid:"0x2"`   // seconds
	KernelTime uint32 `raw:"process_kernel_time,d" valid:"0x2"` // seconds
}

// The flags that are asked for.
const (
	MiscProcessID    = 0x001
	MiscProcessTimes = 0x002
	MiscTimeZone     = 0x040
	MiscBuildString  = 0x100
)

// MiscSize1 is the size of the first version of MINIDUMP_MISC_INFO.
const MiscSize1 = 24

// miscVersions has the sizes of the versions of MINIDUMP_MISC_INFO, and the flags of the fields
// that each adds.
var miscVersions = []struct {
	size  int
	flags uint32
}{
	{MiscSize1, MiscProcessID | MiscProcessTimes}, {44, 0x4}, {232, 0x30 | MiscTimeZone | 0x80}, {832, MiscBuildString}, {1364, MiscCookie},
}

// ProcessCookie is the last field of MINIDUMP_MISC_INFO_5.
type ProcessCookie struct {
	Value uint32 `raw:"process_cookie,d" valid:"0x200"`
}

// MiscCookie is the flag of ProcessCookie.
const MiscCookie = 0x200

// TimeZone is TIME_ZONE_INFORMATION. Biases are in minutes.
type TimeZone struct {
	Bias               int32
	Standard, Daylight ZoneName
}

// ZoneName is the name of a time in a zone, and when it begins.
type ZoneName struct {
	Name [32]uint16
	Date SystemTime
	Bias int32
}

// SystemTime is SYSTEMTIME.
type SystemTime struct {
	Year, Month, DayOfWeek, Day, Hour, Minute, Second, Milliseconds uint16
}

// XStateInfo is XSTATE_CONFIG_FEATURE_MSC_INFO: where the extended state of
// the CPU lies in a context. The offsets count from the start of the area that XSAVE writes.
type XStateInfo struct {
	Size        uint32
	ContextSize uint32
	Enabled     uint64 // a bit for each valid feature
	Features    [64]struct{ Offset, Size uint32 }
}

// HandleRecord is MINIDUMP_HANDLE_DESCRIPTOR_2. The first version ends before InfoAt.
type HandleRecord struct {
	Handle        uint64 `raw:"handle"`
	TypeAt        Offset `raw:"type_name_rva"`
	NameAt        Offset `raw:"object_name_rva"`
	Attributes    uint32 `raw:"attributes"`
	GrantedAccess uint32 `raw:"granted_access"`
	HandleCount   uint32 `raw:"handle_count,d"`
	PointerCount  uint32 `raw:"pointer_count,d"`
	InfoAt        Offset
	_             uint32
}

const (
	handleSize1 = 32
	handleSize2 = 40

	handleInfoSize = 12
)

// HandleInfo is MINIDUMP_HANDLE_OBJECT_INFORMATION: more about an object, in a format that
// Type determines.
type HandleInfo struct {
	Next       Offset
	Type, Size uint32
}

// BreakpadInfo is MDRawBreakpadInfo. Two bits of Validity say which of the threads are valid.
type BreakpadInfo struct {
	Validity         uint32 `raw:"validity"`
	DumpThread       uint32 `raw:"dump_thread_id" valid:"1"`
	RequestingThread uint32 `raw:"requesting_thread_id" valid:"2"`
}

// Assertion is MDRawAssertionInfo: an assertion of the C library that failed.
type Assertion struct {
	Expression, Function, File [128]uint16
	Line                       uint32 `raw:"line,d"`
	Type                       uint32 `raw:"type,d"` // 1: invalid parameter, 2: pure virtual call
}

// crashpadInfo is MinidumpCrashpadInfo.
type crashpadInfo struct {
	Version            uint32
	ReportID, ClientID GUID
	Simple, Links      Location
}

// crashpadMask is what newer writers append to MinidumpCrashpadInfo.
type crashpadMask struct {
	_           uint32
	AddressMask uint64
}

// crashpadLink is MinidumpModuleCrashpadInfoLink.
type crashpadLink struct {
	Index uint32
	Info  Location
}

// crashpadModule is MinidumpModuleCrashpadInfo.
type crashpadModule struct {
	Version               uint32
	List, Simple, Objects Location
}

// simpleAnnotation is MinidumpSimpleStringDictionaryEntry.
type simpleAnnotation struct{ Key, Value Offset }

// annotationObject is MinidumpAnnotation.
type annotationObject struct {
	Name  Offset
	Type  uint16
	_     uint16
	Value Offset
}

// macCrashInfos is the head of Mozilla's stream of crash information.
type macCrashInfos struct {
	_            uint32 // the stream's type again
	At           int
	Count, Start uint32
}

// macBootArgs is Mozilla's stream of the kernel's arguments.
type macBootArgs struct {
	_   uint32 // the stream's type again
	At  int
	RVA uint64
}

// pdb70 is a CodeView record of PDB 7.0, before the path.
type pdb70 struct {
	Signature uint32
	ID        GUID
	Age       uint32
}

// PDB20Record is a CodeView record of PDB 2.0, before the path.
type PDB20Record struct {
	Signature uint32 `raw:"(cv_record).cv_header.signature"`
	Offset    uint32 `raw:"(cv_record).cv_header.offset"`
	Time      uint32 `raw:"(cv_record).signature,t"`
	Age       uint32 `raw:"(cv_record).age,d"`
}

// GUID is a GUID. Its first three fields are numbers, in the byte order of the dump.
type GUID struct {
	A    uint32
	B, C uint16
	D    [8]byte
}

// Bytes returns the bytes in the order in which they are printed.
func (g GUID) Bytes() []byte { return Append(nil, binary.BigEndian, g) }

// String returns the GUID in groups.
func (g GUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", g.A, g.B, g.C, g.D[:2], g.D[2:])
}
