package batch

import (
	"errors"
	"strings"
	"sync"

	"symkit/dump"
	"symkit/dump/single"
	"symkit/dump/store"
	"symkit/elfx"
	"symkit/elfx/identity"
)

// sink takes the results of a batch, from several goroutines.
type sink struct {
	opt     Options
	store   *store.Store
	results chan Result

	mu             sync.Mutex
	failedPackages map[string]bool // packages of which something failed; nil without a list of packages
}

// kind returns the content of the symbol files.
func (b *sink) kind() store.Kind {
	if b.opt.GSYM {
		return store.GSYM
	}
	return store.Symbols
}

// record passes on the outcome of an input.
func (b *sink) record(r Record) { b.results <- Result{Record: r} }

// without passes on an input that has no symbol file, and the reason.
func (b *sink) without(r Record, err error) {
	r.Error, r.Outputs = err.Error(), nil
	b.results <- Result{Record: r, Err: err}
}

// fail passes on a failure.
func (b *sink) fail(r Record, err error) {
	r.Status = Failed
	if b.failedPackages != nil {
		b.mu.Lock()
		for _, name := range []string{r.Input, r.Debug} {
			path, _, _ := strings.Cut(name, elfx.Separator)
			b.failedPackages[path] = true
		}
		b.mu.Unlock()
	}
	b.without(r, err)
}

// failOrSkip records why the module is not dumped. Having nothing to dump is a
// failure only for a file that the user named, not for one that was found in a
// directory.
func (b *sink) failOrSkip(rec Record, found bool, err error) {
	for _, nothing := range []error{dump.ErrNoCode, identity.ErrNone, identity.ErrMachine, single.ErrNothing} {
		if found && errors.Is(err, nothing) {
			rec.Status = NoModule
			b.without(rec, err)
			return
		}
	}
	b.fail(rec, err)
}
