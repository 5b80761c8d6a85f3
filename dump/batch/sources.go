package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"symkit/elfx/archive/pkg"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// How a batch is divided among shards. Each process computes the division of all inputs
// and takes its part, so all processes must see the same inputs.
//
// If every input is a package that names its source, the packages of one source are one
// item: a program and its debug file are in packages of one source, and the other shards
// read only the control data at the start of these packages. Otherwise every shard reads
// all packages, and the items are the modules, by build id.

// divide distributes items with weights among n shards, so that the shards have about
// the same weight: the heaviest item first, each to the lightest shard. The result
// depends on the items alone, not on an order.
func divide(weights map[string]int64, n int) map[string]int {
	items := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	shard := make(map[string]int, len(items))
	sums := make([]int64, n)
	for _, item := range items {
		lightest := 0
		for i := range sums {
			if sums[i] < sums[lightest] {
				lightest = i
			}
		}
		shard[item] = lightest
		sums[lightest] += weights[item] + 1 // items without a weight are divided too
	}
	return shard
}

// divisible reports whether the packages of the inputs may be divided by their sources: each input is a package.
func (f *Finder) divisible() bool {
	return f.Shard.Count >= 2 && len(f.inputs) > 0 && !slices.ContainsFunc(f.inputs, func(in input) bool { return in.unread == nil })
}

// divide removes the packages of other shards from the inputs, if each package
// names its source. It reports whether it did. A package that cannot be read is an
// error, because the shard of its modules is then unknown.
func (f *Finder) divide(sources map[string]source) (bool, error) {
	weights := map[string]int64{}
	for i := range f.inputs {
		s := sources[f.inputs[i].key()]
		if s.err != nil {
			return false, s.err
		}
		if s.name == "" {
			return false, nil
		}
		weights[s.name] += s.weight()
	}

	shards := divide(weights, f.Shard.Count)
	var own []input
	for i := range f.inputs {
		if shards[sources[f.inputs[i].key()].name] == f.Shard.Index {
			own = append(own, f.inputs[i])
		}
	}
	f.inputs = own
	return true, nil
}

// readSources reads the control data of the packages among the inputs.
func (f *Finder) readSources(ctx context.Context, jobs int) (map[string]source, error) {
	var packages []*input
	for i := range f.inputs {
		if f.inputs[i].unread != nil {
			packages = append(packages, &f.inputs[i])
		}
	}
	list := make([]source, len(packages))
	err := each(ctx, len(packages), jobs, func(i int) { list[i] = f.source(ctx, packages[i]) })
	sources := make(map[string]source, len(packages))
	for i, in := range packages {
		sources[in.key()] = list[i]
	}
	return sources, err
}

// The time that a package takes, as bytes of the package: those it has, an eighth of its
// unpacked bytes, and as much as 200 KB for each package. Fitted to 164 sources of Debian
// (52 ms for a MB of the package, 8 ms for an unpacked MB, 13 ms for a source).
const (
	unpackedShare = 8
	packageWeight = 200_000
)

// source is the source of a package.
type source struct {
	name           string // empty if the package has none
	size, unpacked int64  // of the package in bytes
	err            error
}

// weight is a measure of the time that the package takes.
func (s *source) weight() int64 { return s.size + s.unpacked/unpackedShare + packageWeight }

// source reads the control data of a package. A damaged package is its own source.
func (f *Finder) source(ctx context.Context, in *input) (s source) {
	path := in.Path
	file, err := in.openPackage(ctx)
	if err != nil {
		return source{err: fmt.Errorf("%s: %w; no shard can tell which modules are its own", path, err)}
	}
	defer file.Close()

	origin, err := pkg.ReadOrigin(&interruptible{ctx: ctx, r: file}, f.Limits)
	name := origin.Source
	switch {
	case errors.Is(err, pkg.ErrPackage) || errors.Is(err, limits.ErrExceeded) || errors.Is(err, wire.ErrTruncated):
		name = base(path)
	case err != nil:
		return source{err: fmt.Errorf("%s: %w; no shard can tell which modules are its own", path, err)}
	}
	return source{name: name, size: max(file.Size, 0), unpacked: origin.Unpacked}
}

// take removes the modules and files of other shards, unless f, which found the inputs of the
// groups, has done so: modules by build id, modules without one and skipped files by file
// name. Damage of a file is reported by one shard. Any other failure is reported by each
// shard that meets it, because other shards may not
// meet it.
func (g *groups) take(f *Finder) {
	s := f.Shard
	if s.Count < 2 || f.Divided {
		return
	}

	weights := map[string]int64{}
	for i := range g.Modules {
		weights[g.Modules[i].key] += g.Modules[i].Size
	}
	shards := divide(weights, s.Count)
	g.Modules = slices.DeleteFunc(g.Modules, func(m module) bool { return shards[m.key] != s.Index })
	g.Skipped = slices.DeleteFunc(g.Skipped, func(f skipped) bool { return !s.has(base(f.Name())) })
	g.Failed = slices.DeleteFunc(g.Failed, func(f failure) bool {
		_, damage := errors.AsType[*located.Error](f.err)
		return damage && !s.has(base(f.name))
	})
}
