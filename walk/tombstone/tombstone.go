package tombstone

import (
	"errors"
	"slices"

	"symkit/located"
	"symkit/walk"
)

// section is that of errors.
const section = "tombstone"

var (
	// errNone: the data has no tombstone.
	errNone = errors.New("no tombstone")
	// errRecord is the sentinel for a line or a message that does not have the form of its kind.
	errRecord = errors.New("malformed record")
	// errMany is the sentinel for more threads, frames, mappings or memory than a tombstone has.
	errMany = errors.New("more than a tombstone has; the rest is left out")
)

// Bounds on what one tombstone has: debuggerd itself writes a few hundred threads, 256 frames of each, and some
// thousand mappings.
const (
	maxThreads  = 1 << 14
	maxFrames   = 1 << 18 // of all threads
	maxMappings = 1 << 18
	maxLosses   = 20
)

// Tombstone is one crashed process.
type Tombstone struct {
	Offset int    // of the tombstone in the data
	CPU    string // as in MODULE records; empty: unknown
	PID    int
	Name   string // of the process
	// Build is the fingerprint of the system.
	Build string
	// Abort is the message of abort, empty if there is none.
	Abort    string
	Signal   int // 0: unknown
	Code     int
	HasCode  bool
	Address  uint64
	HasFault bool // Address is that of a fault
	// Threads are those of the process, the one that crashed first.
	Threads []Thread
	// Mappings are those of the process, in the order of the tombstone.
	Mappings []Mapping
	// Losses are the first damaged parts, each a *located.Error with the offset in the data. Lost counts all.
	Losses []error
	Lost   int

	frames int // of all threads
}

// Thread is one thread of a Tombstone.
type Thread struct {
	ID     int
	Name   string
	Regs   walk.Registers
	HasPC  bool
	Frames []Frame // the innermost first
	Memory []Range
}

// Frame is one frame that a tombstone lists.
type Frame struct {
	// PC is relative to the module: a virtual address of the module's file.
	PC uint64
	// Address is the virtual address in the process; 0: unknown.
	Address uint64
	// Module is the path of the module: of the mapped file, or of an APK with "!" and the library's name.
	Module string
	// Offset is where the module's file begins in the mapped file.
	Offset uint64
	// Func is the name of the function, and FuncOffset the distance of PC from its beginning; empty: unknown.
	Func       string
	FuncOffset uint64
	BuildID    []byte
}

// Mapping is one range of the address space.
type Mapping struct {
	walk.Mapping
	Offset   uint64 // in the file
	Path     string
	BuildID  []byte
	LoadBias uint64
}

// Range is memory of the process.
type Range struct {
	Base uint64
	Data []byte
}

// Is reports whether data has a tombstone: its text, or a message of tombstone.proto.
func Is(data []byte) bool {
	_, err := Decode(data)
	return err == nil
}

// Decode returns the tombstones in a text, such as a log, or in a message. One without a thread is none: Dart's traces
// begin as tombstones do.
func Decode(data []byte) ([]*Tombstone, error) {
	var stones []*Tombstone
	if isText(data) {
		stones = slices.DeleteFunc(decodeText(data), func(s *Tombstone) bool { return len(s.Threads) == 0 })
	} else if s, ok := decodeMessage(data); ok {
		stones = append(stones, s)
	}
	if len(stones) == 0 {
		return nil, &located.Error{Section: section, Err: errNone}
	}
	return stones, nil
}

func (t *Tombstone) lose(at int, err error) {
	t.Lost++
	if len(t.Losses) < maxLosses {
		t.Losses = append(t.Losses, &located.Error{Section: section, Offset: at, Err: err})
	}
}

// thread returns the last thread.
func (t *Tombstone) thread() *Thread {
	if len(t.Threads) == 0 {
		return nil
	}
	return &t.Threads[len(t.Threads)-1]
}

// addFrame adds a frame to the last thread.
func (t *Tombstone) addFrame(at int, f Frame) {
	th := t.thread()
	if th == nil || t.frames == maxFrames {
		t.lose(at, errMany)
		return
	}
	t.frames++
	th.Frames = append(th.Frames, f)
}
