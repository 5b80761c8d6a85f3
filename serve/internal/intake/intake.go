// Package intake decides about the files that clients send, and puts those that are kept into a depot.
package intake

import (
	"io"
	"sync"

	"symkit/elfx/debuginfod"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
)

// Options are the settings of an Intake.
type Options struct {
	Accept     gate.Accept
	Debuginfod *debuginfod.Client // nil: no servers are asked for ELF files
	Journal    io.Writer          // nil: none
	MaxFile    int64              // bytes of a file, unpacked
	Memory     int64              // bytes that examinations take together
	Log        func(err error)    // not nil
	// Count is called with each decision about a file of a size; the verdict is "error" if there is none. Not nil.
	Count func(protocol, verdict string, size int64)
	// Changed is called with the name and the id of a module whose symbol file was made or replaced. Not nil.
	Changed func(name, id string)
}

// Intake takes files. Its methods may be called from any number of goroutines.
type Intake struct {
	Options
	Depot   depot.Depot
	work    *work
	journal journal

	mu    sync.Mutex
	debug map[string]bool // by key and tag of an ELF file: it has debug information
}

// New returns the Intake of a depot.
func New(d depot.Depot, opt Options) *Intake {
	return &Intake{Options: opt, Depot: d, work: newWork(opt.Memory), journal: journal{w: opt.Journal}, debug: map[string]bool{}}
}
