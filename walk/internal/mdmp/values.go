package mdmp

// SystemInfo is MINIDUMP_SYSTEM_INFO.
type SystemInfo struct {
	SystemRecord
	ServicePack Text // Windows: the service pack; Linux: uname -srvmo; macOS: the build
}

// ThreadName is MINIDUMP_THREAD_NAME.
type ThreadName struct {
	ID   uint32
	Name Text
}

// Exception is MINIDUMP_EXCEPTION_STREAM: why the process died.
type Exception struct {
	ExceptionRecord
	Parameters []uint64 // as many as the system gave
}

// Module is a file whose code is in the process.
type Module struct {
	ModuleRecord
	Name     Text // the path
	CodeView CodeView
	// MiscName is the name of a DBG file (IMAGE_DEBUG_MISC); hardly ever there.
	MiscName string
}

// UnloadedModule is a module that the process had loaded and unloaded.
type UnloadedModule struct {
	UnloadedRecord
	Name Text
}

// CodeView identifies the debug information of a module.
type CodeView struct {
	Signature uint32 // the first four bytes: the format; only Raw is set for an unknown one
	// ID is a GUID in the order in which it is printed (PDB70), the signature
	// (PDB20, 4 bytes, the same), or the build id (ELF).
	ID   []byte
	GUID GUID   // PDB70
	Age  uint32 // PDB70, PDB20
	File []byte // path of the PDB file
	Raw  []byte // the whole record
	// PDB20 has the numbers of that format.
	PDB20 PDB20Record
}

// The formats. Breakpad's for ELF files has a build id.
const (
	SignaturePDB70 = 0x53445352
	SignaturePDB20 = 0x3031424e
	SignatureELF   = 0x4270454c
)

// Handle is a handle of the process.
type Handle struct {
	HandleRecord
	Type, Name Text // of the object; nil when not known
	Extended   bool // the record is of the second version: Info is known
	Info       []HandleInfo
}

// CrashpadInfo is MinidumpCrashpadInfo: the annotations of Crashpad's client. AddressMask has the
// bits set that are no part of an address of code (pointer authentication); 0 if the dump does not
// have them.
type CrashpadInfo struct {
	crashpadInfo
	crashpadMask
	Annotations []Annotation
	Modules     []CrashpadModule
}

// CrashpadModule is MinidumpModuleCrashpadInfo: the annotations of one module.
type CrashpadModule struct {
	Module  int // index in the dump's own list of modules
	Version uint32
	List    [][]byte
	Simple  []Annotation
	Objects []AnnotationObject
}

// Annotation is a name with a value.
type Annotation struct{ Key, Value []byte }

// AnnotationObject is MinidumpAnnotation: a name with a value that has a type.
type AnnotationObject struct {
	Name  []byte
	Type  uint16 // 0: invalid, 1: string, from 0x8000 the client's own
	Value []byte
}

// AnnotationString is the type of an annotation that is a string.
const AnnotationString = 1

// MacCrashInfo is a record of Mozilla's stream of crash information: the contents
// of the __crash_info section of a module.
type MacCrashInfo struct {
	Version uint64
	// All fields below are set from version 4 on, AbortCause from version 5 on.
	Thread, DialogMode, AbortCause                      uint64
	ModulePath, Message, Signature, Backtrace, Message2 []byte
}

// MaxMacRecords is the most records that the stream has.
const MaxMacRecords = 20

// The versions of MacCrashInfo that have more fields.
const (
	MacRecordVersion4 = 4
	MacRecordVersion5 = 5
)

// Mapping is a line of /proc/PID/maps.
type Mapping struct {
	Begin, End                    uint64
	Read, Write, Execute, Private bool
	Offset                        uint64
	Major, Minor                  uint32
	Inode                         uint64
	Path                          []byte
}

// MiscInfo is MINIDUMP_MISC_INFO, and the flags of the fields that it has.
type MiscInfo struct {
	MiscRecord
	Known     uint32
	HasXState bool
}
