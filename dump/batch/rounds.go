package batch

import (
	"cmp"
	"context"
	"iter"
	"os"
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
	input
	Of string
}

// rounds are the inputs of a Finder in parts, and what waits for a later part.
type rounds struct {
	*Finder
	hold *hold // of files that fit
	jobs int   // goroutines that read packages

	sources map[string]source // of packages, by path
	unsure  bool              // a debug file may be outside of the packages of its source
	seen    map[string]string // by the id of a module of an earlier round, the name of its main file
	waiting map[string]bool   // packages with files in held or late
	held    []input           // wait for the next part of their source
	late    []input           // wait for the last round
	left    []doneLine        // packages that were read and are not dumped yet
}

// all yields the rounds, with their files grouped into modules. The caller dumps the modules of a round and calls
// finish before the next one. Meanwhile, packages of the next round are read. If Whole is set, there is one round. An
// error is the cause of ctx's end, or that of a package without which the inputs cannot be divided among shards.
func (rs *rounds) all(ctx context.Context) iter.Seq2[*round, error] {
	return func(yield func(*round, error) bool) {
		list, err := rs.plan(ctx)
		if err != nil {
			yield(nil, err)
			return
		}

		ctx, cancel := context.WithCancel(ctx)
		indexed := make(chan error, 1)
		index := func(i int) {
			if i < len(list) {
				go func() {
					defer crash.Catch()
					indexed <- rs.index(ctx, list[i])
				}()
			}
		}
		index(0)
		for i, r := range list {
			err := <-indexed
			if err == nil {
				index(i + 1)
				err = rs.group(ctx, r)
			}
			list[i] = nil // its memory is the caller's
			if !yield(r, err) || err != nil {
				cancel()
				if err == nil && i+1 < len(list) {
					<-indexed // the goroutine uses rs.hold
				}
				return
			}
			rs.hold.drop(r.bodies, slices.Concat(rs.held, rs.late))
		}
		cancel()
	}
}

// plan divides the inputs into rounds.
func (rs *rounds) plan(ctx context.Context) ([]*round, error) {
	err := rs.takeShard(ctx)
	if err != nil {
		return nil, err
	}

	// A round that is all of the inputs needs no sources.
	var units []*unit
	if !rs.Whole && (rs.Shard.Count < 2 || rs.Divided) && !rs.small() {
		units, err = rs.units(ctx)
		if err != nil {
			return nil, err
		}
	}

	var list []*round
	var size, unpacked int64
	packed := make([]bool, len(rs.inputs))
	r := &round{}
	for _, u := range units {
		for k, p := range u.parts(roundBytes * int64(rs.jobs)) {
			if len(r.inputs) > 0 && (k > 0 || size >= roundBytes*int64(rs.jobs) || unpacked+p.unpacked > rs.hold.limit/2) {
				r.part = k > 0
				list = append(list, r)
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
	for i := range rs.inputs {
		if !packed[i] {
			rest = append(rest, i)
		}
	}
	several := len(list) > 0
	rs.unsure = rs.unsure || len(rest) > 0
	if several && rs.unsure {
		list = append(list, r)
		r = &round{}
	}
	r.inputs, r.Last = append(r.inputs, rest...), true
	slices.Sort(r.inputs)
	return append(list, r), nil
}

// takeShard removes the packages of other shards, if the inputs are divided by sources.
func (rs *rounds) takeShard(ctx context.Context) error {
	if !rs.divisible() {
		return nil
	}
	sources, err := rs.allSources(ctx)
	if err == nil {
		rs.Divided, err = rs.divide(sources)
	}
	return err
}

// allSources returns the sources of the packages, which are read once.
func (rs *rounds) allSources(ctx context.Context) (map[string]source, error) {
	var err error
	if rs.sources == nil {
		rs.sources, err = rs.readSources(ctx, rs.jobs)
	}
	return rs.sources, err
}

// small reports whether the packages are few enough for one round.
func (rs *rounds) small() bool {
	packages, sum := 0, int64(0)
	for i := range rs.inputs {
		in := &rs.inputs[i]
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
	return packages < 2 || sum < roundBytes*int64(rs.jobs)
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
func (rs *rounds) units(ctx context.Context) ([]*unit, error) {
	sources, err := rs.allSources(ctx)
	if err != nil {
		return nil, err
	}
	var list []*unit
	byName := map[string]*unit{}
	for i := range rs.inputs {
		in := &rs.inputs[i]
		if in.unread == nil {
			continue
		}
		s := sources[in.key()]
		name := cmp.Or(in.unread.image, in.key()) + "\x00"
		if s.name != "" && s.err == nil {
			name = s.name
		} else {
			rs.unsure = true
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
func (rs *rounds) index(ctx context.Context, r *round) error {
	found := make([]contents, len(r.inputs))
	err := each(ctx, len(r.inputs), rs.jobs, func(i int) {
		in := &rs.inputs[r.inputs[i]]
		if in.unread != nil {
			found[i] = rs.hold.index(ctx, in, rs.Finder)
		} else {
			found[i].inputs = []input{*in}
		}
	})
	if err != nil {
		return err
	}

	for i, n := range r.inputs {
		in, c := &rs.inputs[n], &found[i]
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
			if rs.Done != nil {
				r.lines = append(r.lines, doneLine{SHA256: c.sum, Package: in.Path})
			}
		}
		for j := range c.inputs {
			if p := c.inputs[j].Packed; p != nil {
				r.bodies = append(r.bodies, p.body)
			}
		}
		*in = input{} // the round has it
	}
	return nil
}

// group groups the files of a round with those that wait for it.
func (rs *rounds) group(ctx context.Context, r *round) error {
	waiting := rs.held
	rs.held = nil
	if r.Last {
		waiting = append(rs.late, waiting...)
		rs.late = nil
	}
	for i := range waiting {
		if p := waiting[i].Packed; p != nil {
			r.bodies = append(r.bodies, p.body)
		}
		delete(rs.waiting, waiting[i].Path)
	}
	inputs := append(waiting, r.found.inputs...)
	g, err := group(ctx, inputs, rs.jobs)
	if err != nil {
		return err
	}
	r.groups = *g
	r.Failed = append(r.found.failed, r.Failed...)
	r.found = contents{}
	if rs.seen == nil {
		rs.seen, rs.waiting = map[string]string{}, map[string]bool{}
	}

	kept := r.Modules[:0]
	for _, m := range r.Modules {
		first, known := rs.seen[m.id]
		needs := !m.complete && m.id != "" // without a build id no other file belongs to the module
		switch {
		case known && m.id != "":
			for _, in := range m.files() {
				r.Duplicates = append(r.Duplicates, repeated{in, first})
			}
		case needs && r.part:
			rs.held = rs.wait(rs.held, &m)
		case needs && !r.Last && rs.unsure:
			rs.late = rs.wait(rs.late, &m)
		default:
			if !r.Last && m.id != "" {
				rs.seen[m.id] = m.Main.Name()
			}
			kept = append(kept, m)
		}
	}
	clear(r.Modules[len(kept):])
	r.Modules = kept
	return nil
}

// wait adds the files of a module to those that wait.
func (rs *rounds) wait(list []input, m *module) []input {
	for _, in := range m.files() {
		rs.waiting[in.Path] = true
	}
	return append(list, m.files()...)
}

// finish adds to Done the packages that are dumped after a round. The packages that failed are left
// out; those that are incomplete, and those with files that wait for the last round, follow later. So do
// those of a part of a source: a later run would read the other packages of the source alone.
func (rs *rounds) finish(r *round, failed, incomplete map[string]bool) error {
	if rs.Done == nil {
		return nil
	}
	all := append(rs.left, r.lines...)
	var lines, left []doneLine
	for _, line := range all {
		switch {
		case failed[line.Package]:
		case r.part || incomplete[line.Package] || !r.Last && rs.waiting[line.Package]:
			left = append(left, line)
		default:
			lines = append(lines, line)
		}
	}
	rs.left = left
	return rs.Done.add(lines)
}
