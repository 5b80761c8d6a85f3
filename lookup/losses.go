package lookup

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"symkit/elfx"
)

// losses is the damage that was met.
type losses struct {
	mu    sync.Mutex
	first []error
	count int
}

// maxLosses is how many losses are kept.
const maxLosses = 100

// errMore: the number of losses that are not kept.
var errMore = errors.New("more damaged parts")

// add notes damage; nil is none.
func (l *losses) add(errs ...error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, err := range errs {
		if err == nil {
			continue
		}
		l.count++
		if len(l.first) < maxLosses {
			l.first = append(l.first, err)
		}
	}
}

// addIn is add for errors that do not name their file.
func (l *losses) addIn(f *elfx.File, errs ...error) {
	for _, err := range errs {
		if err != nil {
			l.add(fmt.Errorf("%s: %w", f.Path(), err))
		}
	}
}

// all returns the losses.
func (l *losses) all() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := slices.Clone(l.first)
	more := l.count - len(errs)
	if more > 0 {
		errs = append(errs, fmt.Errorf("%d %w", more, errMore))
	}
	return errs
}
