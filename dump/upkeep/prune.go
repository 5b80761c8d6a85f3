package upkeep

import (
	"context"
	"errors"
	"iter"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"symkit/internal/par"
	"symkit/internal/storefiles"
)

// Rule says which modules stay: those that one of its parts keeps.
type Rule struct {
	// Days keeps modules of which a file was stored in the last so many days, until Now. 0: the part does not count.
	Days int
	Now  time.Time // 0: the time of the call
	// Newest keeps the last so many modules of each name, and those without a known name. 0: the part does not count.
	Newest int
}

// Plan is what a rule says about a store. Files of its modules are not in it.
type Plan struct {
	Old      []Module // to be removed, in the order of their paths
	OldBytes int64
	Modules  int   // in the store
	Bytes    int64 // of all of them
	Nameless int   // modules that stay because nothing says their names

	counts []int // of the files of Old
}

// errRule: without a rule, all modules would go.
var errRule = errors.New("a rule keeps nothing")

// Old returns which modules a rule does not keep.
func (s *Store) Old(ctx context.Context, rule Rule) (*Plan, error) {
	if rule.Days <= 0 && rule.Newest <= 0 {
		return nil, errRule
	}
	if rule.Now.IsZero() {
		rule.Now = time.Now()
	}
	plan := &Plan{}
	since := rule.Now.Add(-time.Duration(rule.Days) * 24 * time.Hour)
	source := s.grouped(ctx)
	if rule.Newest > 0 {
		source = s.Modules(ctx)
	}
	var counts []int
	for m, err := range source {
		if err != nil {
			return nil, err
		}
		plan.Modules++
		plan.Bytes += m.Bytes
		switch {
		case rule.Days > 0 && m.Date.After(since) || m.Date.IsZero():
			if rule.Newest == 0 {
				continue
			}
		case m.Name == "" && rule.Newest > 0:
			plan.Nameless++
			continue
		}
		counts = append(counts, len(m.Files))
		m.Files = nil // there may be very many modules
		plan.Old = append(plan.Old, m)
	}

	kept := newest(plan.Old, rule.Newest)
	old := plan.Old[:0]
	for i, m := range plan.Old {
		if kept[i] || rule.Days > 0 && m.Date.After(since) || m.Date.IsZero() {
			continue
		}
		old = append(old, m)
		plan.counts = append(plan.counts, counts[i])
		plan.OldBytes += m.Bytes
	}
	plan.Old = old
	return plan, nil
}

// newest reports which modules are among the last n of their names. Of modules of one date, the order of their paths
// decides.
func newest(all []Module, n int) (kept []bool) {
	kept = make([]bool, len(all))
	byDate := make([]int, len(all))
	for i := range all {
		byDate[i] = i
	}
	slices.SortFunc(byDate, func(a, b int) int {
		x, y := &all[a], &all[b]
		c := y.Date.Compare(x.Date)
		if c == 0 {
			c = strings.Compare(x.Path, y.Path)
		}
		return c
	})
	seen := map[string]int{}
	for _, i := range byDate {
		name := all[i].Name
		seen[name]++
		kept[i] = name != "" && seen[name] <= n
	}
	return kept
}

// Outcome is what became of a module that was to be removed.
type Outcome string

// The outcomes.
const (
	Removed Outcome = "removed"
	Changed Outcome = "changed" // it stays: another process stored a file of it meanwhile
)

// Removal is a module of a Plan, and what became of it.
type Removal struct {
	Module
	Outcome Outcome `json:"outcome"`
}

// removing is how many modules of a bucket are removed at the same time.
const removing = 16

// Remove removes the modules of a plan, and yields them in their order. The last error is one of the store; what was to
// be removed after it stays.
func (s *Store) Remove(ctx context.Context, plan *Plan) iter.Seq2[Removal, error] {
	return func(yield func(Removal, error) bool) {
		for _, key := range s.aside {
			s.files.Recover(key)
		}
		jobs := removing
		if s.files.IsDir() {
			jobs = runtime.GOMAXPROCS(0)
		}
		const stretch = 16 * removing
		for at := 0; at < len(plan.Old); at += stretch {
			part := plan.Old[at:min(at+stretch, len(plan.Old))]
			outcomes := make([]Outcome, len(part))
			err := par.For(ctx, jobs, len(part), func(i int) (err error) {
				outcomes[i], err = s.remove(ctx, &part[i], plan.counts[at+i])
				return err
			})
			for i := range part {
				if outcomes[i] != "" && !yield(Removal{part[i], outcomes[i]}, nil) {
					return
				}
			}
			if err != nil {
				yield(Removal{}, err)
				return
			}
		}
	}
}

// remove removes a module that had a number of files.
func (s *Store) remove(ctx context.Context, m *Module, count int) (Outcome, error) {
	now, err := s.module(ctx, m)
	switch {
	case err != nil:
		return "", err
	case len(now.Files) == 0:
		return Removed, nil // by another process
	case len(now.Files) != count || now.Bytes != m.Bytes || !now.Date.Equal(m.Date):
		return Changed, nil
	}

	// The symbol file, which has the name, goes last.
	last := max(now.symbols(), 0)
	n := len(now.Files) - 1
	now.Files[last], now.Files[n] = now.Files[n], now.Files[last]
	for i, f := range now.Files {
		if i > 0 && i == n {
			rest, err := s.module(ctx, m)
			if err != nil {
				return "", err
			}
			if len(rest.Files) > 1 || len(rest.Files) == 1 && rest.Files[0].Path != f.Path {
				return Changed, nil
			}
		}
		err := s.files.Remove(ctx, f.stored)
		if errors.Is(err, storefiles.ErrChanged) {
			return Changed, nil
		}
		if err != nil {
			return "", err
		}
	}
	return Removed, nil
}

// module lists the files of a module anew.
func (s *Store) module(ctx context.Context, m *Module) (now Module, err error) {
	below := m.Path + "/"
	if m.beside {
		below = path.Dir(m.Path) + "/" // of several modules
	}
	for f, err := range s.files.List(ctx, below) {
		if err != nil {
			return now, err
		}
		if f.Err != nil {
			return now, f.Err
		}
		p := storefiles.PlaceOf(f.Key)
		if m.of(&p) {
			now.add(&p, f)
		}
	}
	return now, nil
}
