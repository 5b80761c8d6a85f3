package walk

import (
	"cmp"
	"slices"
)

// Facts is what a dump tells beside what a walk needs; it is only shown. What
// the dump does not tell is empty, nil or 0.
type Facts struct {
	// VersionLine is the system's version as Breakpad's tool prints it: three
	// numbers and all that the system says of itself. Empty: OSVersion.
	VersionLine string
	CPUInfo     string // vendor, model, features
	CPUs        int
	GPU         string // "UNKNOWN" in minidumps, as Breakpad's tool prints it
	Microcode   string // version of the CPU's microcode, hexadecimal
	// Uptime is for how many seconds the process had run, if HasUptime.
	Uptime    uint64
	HasUptime bool
	// Assertion is what failed before the process gave up.
	Assertion string

	Unloaded   []UnloadedModule // in the dump's order
	Handles    []Handle
	LSB        *LSBRelease
	Limits     []Limit
	MacRecords []MacRecord
	// MacBootArgs are the arguments that the kernel was started with.
	MacBootArgs *string
	// SoftErrors is JSON about what went wrong while the dump was written.
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

// MacRecord is what the __crash_info section of a module says.
type MacRecord struct {
	// Nil where the record is of a version without them.
	Thread, DialogMode, AbortCause                  *uint64
	Module, Message, Signature, Backtrace, Message2 string
}

// Crashpad is what the client told Crashpad.
type Crashpad struct {
	ReportID, ClientID string
	Simple             []Annotation
	Modules            []CrashpadModule
}

// CrashpadModule is what a module told Crashpad.
type CrashpadModule struct {
	Module  string // the module's name
	List    []string
	Simple  []Annotation
	Objects []Annotation // those that are strings
}

// Annotation is a name with a value.
type Annotation struct{ Name, Value string }

// unloadedIndex finds the unloaded modules at an address. It is made when first
// needed.
type unloadedIndex struct {
	mods []UnloadedModule // by Base
	ends []uint64         // the greatest End so far
}

func newUnloadedIndex(mods []UnloadedModule) *unloadedIndex {
	x := &unloadedIndex{mods: slices.Clone(mods), ends: make([]uint64, len(mods))}
	slices.SortStableFunc(x.mods, func(a, b UnloadedModule) int { return cmp.Compare(a.Base, b.Base) })
	top := uint64(0)
	for i := range x.mods {
		top = max(top, x.mods[i].End)
		x.ends[i] = top
	}
	return x
}

// unloadedAt is where an address was in a module that is no longer there.
type unloadedAt struct {
	name    string
	offsets []uint64 // ascending, each once
}

// maxUnloaded bounds how many modules below an address are looked at: systems
// remember some dozens.
const maxUnloaded = 1024

// at lists the modules that had addr, by name.
func (x *unloadedIndex) at(addr uint64) (out []unloadedAt) {
	i, _ := slices.BinarySearchFunc(x.mods, addr, func(m UnloadedModule, a uint64) int {
		if m.Base <= a {
			return -1
		}
		return 1
	})
	for last := max(0, i-maxUnloaded); i > last && x.ends[i-1] > addr; i-- {
		m := &x.mods[i-1]
		if addr >= m.End {
			continue
		}
		at, ok := slices.BinarySearchFunc(out, m.Name, func(u unloadedAt, name string) int { return cmp.Compare(u.name, name) })
		if !ok {
			out = slices.Insert(out, at, unloadedAt{name: m.Name})
		}
		if off := addr - m.Base; !slices.Contains(out[at].offsets, off) {
			out[at].offsets = append(out[at].offsets, off)
		}
	}
	return out
}
