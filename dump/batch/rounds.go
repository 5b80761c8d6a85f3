package batch

import (
	"cmp"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"symkit/internal/crash"
)

// A batch of many packages is done in rounds. A round has the packages of some sources, all
// packages of each, so that a program and its debug file are in one round. A round's modules are
// dumped while the packages of the next round are read, and when they are in the store, so are the
// records and the list of --done: a run that is killed has done the rounds before. A source that is
// larger than a round is divided: a file without its counterpart is held until a later part has that,
// or until the source ends.
//
// Packages that name no source may have a program without its debug file. If there are such
// packages, or files that are not in packages, modules without code or debug information wait for
// the last round. The files that are not in packages are in the last round, too.

// roundBytes is the size of the packages that a round has for each processor: about a second of
// unpacking. Tests change it.
var roundBytes int64 = 2 << 20

// usualRatio is how many bytes a package of unknown content unpacks to for each of its own.
const usualRatio = 4

// round is a part of a batch.
type round struct {
	groups
	Duplicates []repeated // files of modules of earlier rounds
	Before     []string   // packages that Finder.Done has
	Empty      []string   // packages without ELF files
	Last       bool

	part   bool  // the round has not the last packages of a source
	inputs []int // numbers of the Finder's inputs
	found  contents
	lines  []doneLine // packages that were read
	bodies []*body
}

// repeated is a file with the build id of Of, which belongs to an earlier round.
type repeated struct {
	Input
	Of string
}

// rounds yields the inputs of f in rounds, grouped into modules. The caller dumps the modules of a
// round and calls finish before it takes the next one. Meanwhile, packages of the next round are
// read, on at most jobs goroutines; files that fit are held by h. If f.Whole is set, there is one
// round. An error is the cause of ctx's end, or that of a package without which the inputs cannot
// be divided among shards.
func (f *Finder) rounds(ctx context.Context, h *hold, jobs int) iter.Seq2[*round, error] {
	return func(yield func(*round, error) bool) {
		rounds, err := f.plan(ctx, h, jobs)
		if err != nil {
			yield(nil, err)
			return
		}

		ctx, cancel := context.WithCancel(ctx)
		indexed := make(chan error, 1)
		index := func(i int) {
			if i < len(rounds) {
				go func() {
					defer crash.Catch()
					indexed <- f.index(ctx, h, rounds[i], jobs)
				}()
			}
		}
		index(0)
		for i, r := range rounds {
			err := <-indexed
			if err == nil {
				index(i + 1)
				err = f.group(ctx, r, jobs)
			}
			rounds[i] = nil // its memory is the caller's
			if !yield(r, err) || err != nil {
				cancel()
				if err == nil && i+1 < len(rounds) {
					<-indexed // the goroutine uses h
				}
				return
			}
			h.drop(r.bodies, slices.Concat(f.held, f.late))
		}
		cancel()
	}
}

// plan divides the inputs into rounds.
func (f *Finder) plan(ctx context.Context, h *hold, jobs int) ([]*round, error) {
	var err error
	f.Divided, err = f.divide(ctx, jobs)
	if err != nil {
		return nil, err
	}

	// A round that is all of the inputs needs no sources.
	var units []*unit
	if !f.Whole && (f.Shard.Count < 2 || f.Divided) && !f.small(jobs) {
		units, err = f.units(ctx, jobs)
	}
	if err != nil {
		return nil, err
	}

	var rounds []*round
	var size, unpacked int64
	packed := make([]bool, len(f.Inputs))
	r := &round{}
	for _, u := range units {
		for k, p := range u.parts(roundBytes * int64(jobs)) {
			if len(r.inputs) > 0 && (k > 0 || size >= roundBytes*int64(jobs) || unpacked+p.unpacked > h.limit/2) {
				r.part = k > 0
				rounds = append(rounds, r)
				r, size, unpacked = &round{}, 0, 0
			}
			r.inputs = append(r.inputs, p.inputs...)
			size, unpacked = size+p.size, unpacked+p.unpacked
			for _, i := range p.inputs {
				packed[i] = true
			}
		}
	}

	// What is in no package, and what waits, makes up the last round.
	var rest []int
	for i := range f.Inputs {
		if !packed[i] {
			rest = append(rest, i)
		}
	}
	several := len(rounds) > 0
	f.unsure = f.unsure || len(rest) > 0
	if several && f.unsure {
		rounds = append(rounds, r)
		r = &round{}
	}
	r.inputs, r.Last = append(r.inputs, rest...), true
	slices.Sort(r.inputs)
	return append(rounds, r), nil
}

// small reports whether the packages are few enough for one round.
func (f *Finder) small(jobs int) bool {
	packages, sum := 0, int64(0)
	for i := range f.Inputs {
		in := &f.Inputs[i]
		if in.unread == nil {
			continue
		}
		packages++
		if in.unread.address.Raw() != "" {
			sum += roundBytes // of unknown size
		} else if info, err := os.Stat(in.Path); err == nil {
			sum += info.Size()
		}
	}
	return packages < 2 || sum < roundBytes*int64(jobs)
}

// unit is packages that belong together.
type unit struct {
	inputs         []int
	size, unpacked int64
	each           []unit // with one input each
}

// add adds a package.
func (u *unit) add(input int, size, unpacked int64) {
	u.inputs = append(u.inputs, input)
	u.size += size
	u.unpacked += unpacked
}

// parts divides a unit into parts of the given size at least, the last one excepted.
func (u *unit) parts(size int64) (list []*unit) {
	if u.size <= size {
		return []*unit{u}
	}
	p := &unit{}
	for i := range u.each {
		if p.size >= size {
			list = append(list, p)
			p = &unit{}
		}
		p.add(u.each[i].inputs[0], u.each[i].size, u.each[i].unpacked)
	}
	return append(list, p)
}

// units returns the packages by their sources, in the order of the first package of each. The
// layers of an image are one unit, and so is any other package that names no source.
func (f *Finder) units(ctx context.Context, jobs int) ([]*unit, error) {
	if f.sources == nil {
		err := f.readSources(ctx, jobs)
		if err != nil {
			return nil, err
		}
	}
	var list []*unit
	byName := map[string]*unit{}
	for i := range f.Inputs {
		in := &f.Inputs[i]
		if in.unread == nil {
			continue
		}
		s := f.sources[in.key()]
		name := cmp.Or(in.unread.image, in.key()) + "\x00"
		if s.name != "" && s.err == nil {
			name = s.name
		} else {
			f.unsure = true
		}
		u := byName[name]
		if u == nil {
			u = &unit{}
			byName[name] = u
			list = append(list, u)
		}
		unpacked := cmp.Or(s.unpacked, usualRatio*s.size)
		u.add(i, s.size, unpacked)
		u.each = append(u.each, unit{inputs: []int{i}, size: s.size, unpacked: unpacked})
	}
	return list, nil
}

// index reads the packages of a round.
func (f *Finder) index(ctx context.Context, h *hold, r *round, jobs int) error {
	found := make([]contents, len(r.inputs))
	err := each(ctx, len(r.inputs), jobs, func(i int) {
		in := &f.Inputs[r.inputs[i]]
		if in.unread != nil {
			found[i] = h.index(ctx, in, f)
		} else {
			found[i].inputs = []Input{*in}
		}
	})
	if err != nil {
		return err
	}

	for i, n := range r.inputs {
		in, c := &f.Inputs[n], &found[i]
		r.found.inputs = append(r.found.inputs, c.inputs...)
		r.found.failed = append(r.found.failed, c.failed...)
		switch {
		case in.unread == nil || len(c.failed) > 0:
		case c.done:
			r.Before = append(r.Before, in.Path)
		default:
			if len(c.inputs) == 0 {
				r.Empty = append(r.Empty, in.Path)
			}
			if f.Done != nil {
				r.lines = append(r.lines, doneLine{SHA256: c.sum, Package: in.Path})
			}
		}
		for j := range c.inputs {
			if p := c.inputs[j].Packed; p != nil {
				r.bodies = append(r.bodies, p.body)
			}
		}
		*in = Input{} // the round has it
	}
	return nil
}

// group groups the files of a round with those that wait for it.
func (f *Finder) group(ctx context.Context, r *round, jobs int) error {
	waiting := f.held
	f.held = nil
	if r.Last {
		waiting = append(f.late, waiting...)
		f.late = nil
	}
	for i := range waiting {
		if p := waiting[i].Packed; p != nil {
			r.bodies = append(r.bodies, p.body)
		}
		delete(f.waiting, waiting[i].Path)
	}
	inputs := append(waiting, r.found.inputs...)
	g, err := group(ctx, inputs, jobs)
	if err != nil {
		return err
	}
	r.groups = *g
	r.Failed = append(r.found.failed, r.Failed...)
	r.found = contents{}
	if f.seen == nil {
		f.seen, f.waiting = map[string]string{}, map[string]bool{}
	}

	kept := r.Modules[:0]
	for _, m := range r.Modules {
		first, known := f.seen[m.id]
		needs := !m.complete && m.id != "" // without a build id no other file belongs to the module
		switch {
		case known && m.id != "":
			for _, in := range m.files() {
				r.Duplicates = append(r.Duplicates, repeated{in, first})
			}
		case needs && r.part:
			f.held = f.wait(f.held, &m)
		case needs && !r.Last && f.unsure:
			f.late = f.wait(f.late, &m)
		default:
			if !r.Last && m.id != "" {
				f.seen[m.id] = m.Main.Name()
			}
			kept = append(kept, m)
		}
	}
	clear(r.Modules[len(kept):])
	r.Modules = kept
	return nil
}

// wait adds the files of a module to those that wait.
func (f *Finder) wait(list []Input, m *module) []Input {
	for _, in := range m.files() {
		f.waiting[in.Path] = true
	}
	return append(list, m.files()...)
}

// files returns the files of a module.
func (m *module) files() []Input {
	list := []Input{m.Main}
	if m.Debug != nil {
		list = append(list, *m.Debug)
	}
	return append(list, m.Copies...)
}

// finish adds to f.Done the packages that are dumped after a round. The packages that failed are left
// out; those that are incomplete, and those with files that wait for the last round, follow later. So do
// those of a part of a source: a later run would read the other packages of the source alone.
func (f *Finder) finish(r *round, failed, incomplete map[string]bool) error {
	if f.Done == nil {
		return nil
	}
	all := append(f.left, r.lines...)
	var lines, left []doneLine
	for _, line := range all {
		switch {
		case failed[line.Package]:
		case r.part || incomplete[line.Package] || !r.Last && f.waiting[line.Package]:
			left = append(left, line)
		default:
			lines = append(lines, line)
		}
	}
	f.left = left
	return f.Done.add(lines)
}

// layout adds the layers of a directory and reports whether it is an OCI image layout.
func (f *Finder) layout(dir string) bool {
	list, incomplete, err := layers(dir)
	if err != nil {
		f.fail(dir, err)
	}
	for _, err := range incomplete {
		f.fail(dir, err)
	}
	for _, layer := range list {
		path := filepath.Join(dir, filepath.FromSlash(layer))
		f.Inputs = append(f.Inputs, Input{Path: path, unread: &unread{image: dir}})
	}
	return err != nil || list != nil || incomplete != nil
}
