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

// divide removes the packages of other shards from the inputs, if each input is a package
// that names its source. It reports whether it did. A package that cannot be read is an
// error, because the shard of its modules is then unknown.
func (f *Finder) divide(ctx context.Context, jobs int) (bool, error) {
	if f.Shard.Count < 2 || len(f.Inputs) == 0 || slices.ContainsFunc(f.Inputs, func(in Input) bool { return in.unread == nil }) {
		return false, nil
	}

	err := f.readSources(ctx, jobs)
	if err != nil {
		return false, err
	}
	weights := map[string]int64{}
	for i := range f.Inputs {
		s := f.sources[f.Inputs[i].key()]
		if s.err != nil {
			return false, s.err
		}
		if s.name == "" {
			return false, nil
		}
		weights[s.name] += s.weight()
	}

	shards := divide(weights, f.Shard.Count)
	var own []Input
	for i := range f.Inputs {
		if shards[f.sources[f.Inputs[i].key()].name] == f.Shard.Index {
			own = append(own, f.Inputs[i])
		}
	}
	f.Inputs = own
	return true, nil
}

// readSources reads the control data of the packages among the inputs.
func (f *Finder) readSources(ctx context.Context, jobs int) error {
	var packages []*Input
	for i := range f.Inputs {
		if f.Inputs[i].unread != nil {
			packages = append(packages, &f.Inputs[i])
		}
	}
	sources := make([]source, len(packages))
	err := each(ctx, len(packages), jobs, func(i int) { sources[i] = f.source(ctx, packages[i]) })
	f.sources = make(map[string]source, len(packages))
	for i, in := range packages {
		f.sources[in.key()] = sources[i]
	}
	return err
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
func (f *Finder) source(ctx context.Context, in *Input) (s source) {
	path := in.Path
	file, err := f.opener(in)(ctx)
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
