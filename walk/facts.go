package walk

// Facts are the contents of a dump that a walk does not need; they are only shown. Fields
// that the dump does not have are empty, nil or 0.
type Facts struct {
	// VersionLine is the system's version as Breakpad's tool prints it: three numbers and
	// the system's description of itself. If empty, reports show OSVersion.
	VersionLine string
	CPUInfo     string // vendor, model, features
	CPUs        int
	GPU         string // "UNKNOWN" in minidumps, as Breakpad's tool prints it
	// GL is the version, the vendor and the renderer of OpenGL; nil: unknown.
	GL        []string
	Microcode string // version of the CPU's microcode, hexadecimal
	// Uptime is the number of seconds that the process had run, if HasUptime.
	Uptime    uint64
	HasUptime bool
	// Assertion is the expression that failed before the process aborted.
	Assertion string
	// Signature is the crash signature, ProtoSignature the frames that a signature can be made
	// of (see package signature). Both are empty unless options select them.
	Signature, ProtoSignature string

	Unloaded   []UnloadedModule // in the dump's order
	Handles    []Handle
	LSB        *LSBRelease
	Limits     []Limit
	MacRecords []MacRecord
	// MacBootArgs are the arguments that the kernel was started with.
	MacBootArgs *string
	// SoftErrors is JSON about errors while the dump was written.
	SoftErrors []byte
	Crashpad   *Crashpad
}

// UnloadedModule is a module that was in the process once.
type UnloadedModule struct {
	Name      string
	Base, End uint64
	CodeID    string
}

// Handle is a handle or file descriptor that was open.
type Handle struct {
	Handle     uint64
	Type, Name *string // nil: unknown
}

// LSBRelease is /etc/lsb-release.
type LSBRelease struct{ ID, Release, Codename, Description string }

// Limit is a line of /proc/PID/limits. The limits are numbers or "unlimited".
type Limit struct{ Name, Soft, Hard, Unit string }

// MacRecord is the content of the __crash_info section of a module.
type MacRecord struct {
	// Nil where the record is of a version without them.
	Thread, DialogMode, AbortCause                  *uint64
	Module, Message, Signature, Backtrace, Message2 string
}

// Crashpad holds the annotations of Crashpad's client.
type Crashpad struct {
	ReportID, ClientID string
	Simple             []Annotation
	Modules            []CrashpadModule
}

// CrashpadModule holds the annotations of one module.
type CrashpadModule struct {
	Module  string // the module's name
	List    []string
	Simple  []Annotation
	Objects []Annotation // those that are strings
}

// Annotation is a name with a value.
type Annotation struct{ Name, Value string }
