package upkeep

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"symkit/internal/filename"
	"symkit/internal/par"
	"symkit/internal/storefiles"
)

// Store is an opened store.
type Store struct {
	files  *storefiles.Store
	others int
	aside  []string // files that a killed process was about to remove
}

// Open opens the store in a directory or at s3://BUCKET/PREFIX.
func Open(ctx context.Context, at string) (*Store, error) {
	files, err := storefiles.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Store{files: files}, nil
}

// Close closes the store.
func (s *Store) Close() { s.files.Close() }

// Others returns the number of files of the last list that are of no module.
func (s *Store) Others() int { return s.others }

// errOrder: the files of a module would be found in several places.
var errOrder = errors.New("the service does not list objects in the order of their keys; only the files of one module can be looked at here")

// reading is how many symbol files are read at the same time for the names of their modules.
const reading = 16

// Modules yields the modules of the store in the order of their paths. The last error is one about the store, or about a
// directory that cannot be listed. Whatever the size of the store, a few modules are held.
func (s *Store) Modules(ctx context.Context) iter.Seq2[Module, error] {
	return func(yield func(Module, error) bool) {
		var waiting []Module // for their names
		flush := func() bool {
			err := par.For(ctx, reading, len(waiting), func(i int) error {
				if waiting[i].Name == "" {
					waiting[i].readName(ctx, s.files)
				}
				return nil
			})
			if err != nil {
				yield(Module{}, err)
				return false
			}
			for _, m := range waiting {
				if !yield(m, nil) {
					return false
				}
			}
			waiting = waiting[:0]
			return true
		}
		for m, err := range s.grouped(ctx) {
			if err != nil {
				if flush() {
					yield(Module{}, err)
				}
				return
			}
			waiting = append(waiting, m)
			if m.Name != "" && len(waiting) == 1 || len(waiting) == 4*reading {
				if !flush() {
					return
				}
			}
		}
		flush()
	}
}

// grouped yields the modules, without names that paths do not have.
func (s *Store) grouped(ctx context.Context) iter.Seq2[Module, error] {
	return func(yield func(Module, error) bool) {
		s.others, s.aside = 0, nil
		var m Module
		emit := func() bool {
			if !m.sure {
				s.others += len(m.Files)
				return true
			}
			return yield(m, nil)
		}
		last := ""
		for f, err := range s.files.List(ctx, "") {
			switch {
			case err == nil && f.Err != nil:
				err = &filename.Error{Path: s.files.Path(f.Key), Err: f.Err}
			case err == nil && f.Key < last:
				err = fmt.Errorf("%s: %w", s.files.Path(""), errOrder)
			}
			if err != nil {
				yield(Module{}, err)
				return
			}
			last = f.Key
			p := storefiles.PlaceOf(f.Key)
			if p.Module == "" {
				s.other(f.Key)
				continue
			}
			if !m.of(&p) {
				if !emit() {
					return
				}
				m = newModule(&p)
			}
			m.add(&p, f)
		}
		emit()
	}
}

// other notes a file that is of no module.
func (s *Store) other(key string) {
	if storefiles.IsAside(key) {
		s.aside = append(s.aside, key)
		return
	}
	s.others++
}
