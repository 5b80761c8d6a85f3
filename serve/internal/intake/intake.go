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

	debug    remembered // by key and tag of an ELF file: it has debug information
	examined remembered // by the keys of an ELF file and of a symbol file, and the latter's tag: it was not refuted
}

// remembered is what is known of files, of a bounded number.
type remembered struct {
	mu  sync.Mutex
	all map[string]bool
}

// maxRemembered bounds what a server remembers of files.
const maxRemembered = 1 << 14

func (r *remembered) get(id string) (value, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, known = r.all[id]
	return value, known
}

func (r *remembered) set(id string, value bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= maxRemembered {
		r.all = map[string]bool{}
	}
	r.all[id] = value
}

// New returns the Intake of a depot.
func New(d depot.Depot, opt Options) *Intake {
	return &Intake{Options: opt, Depot: d, work: newWork(opt.Memory), journal: journal{w: opt.Journal}}
}
