package batch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"symkit/dump"
	"symkit/dump/single"
	"symkit/dump/store"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/atomicfile"
)

// job is one module of a  prepare opens the module's files to find the module's place
// in the store and the memory that the dump takes; do opens the files again to dump the
// module. Between prepare and do the files are closed, so that a waiting job holds no
// memory.
type job struct {
	b     *sink
	mod   *module
	in    *single.Module // the module's files, open within prepare and dump
	debug string         // path of the separate debug file that prepare found
	paths []string       // of the symbol file in the store
	elf   []elfCopy      // the ELF files to store with the symbol file
	// sources are the paths of the bundle of source files.
	sources []string
	memory  int64 // estimate of the dump's memory, in bytes
	rec     Record
	err     error // why the module cannot be dumped

	exists  bool  // the store has all outputs
	lookErr error // why that is not known
}

// prepare finds the module's identity, its place in the store, and how much memory its
// dump takes. Errors are left in j.err.
func (j *job) prepare(ctx context.Context, b *sink, mod *module) {
	j.b, j.mod = b, mod
	j.rec = Record{Input: mod.Main.Name(), InputBytes: mod.Size}
	if mod.Debug != nil {
		j.rec.Debug = mod.Debug.Name()
	}

	if mod.Main.Symbols {
		j.err = j.identifySymbols()
		return
	}
	j.err = j.open(ctx)
	if j.err != nil {
		return
	}
	j.err = j.identify(ctx)
	j.in.Close()

	// The rest of the input would hold memory that the tasks need.
	j.in = &single.Module{Module: &companion.Module{Probes: j.in.Probes}, Warnings: j.in.Warnings, Incomplete: j.in.Incomplete}
}

// identify fills in the module's name, id, places in the store and size.
func (j *job) identify(ctx context.Context) error {
	b, mod := j.b, j.mod

	opt := b.opt.Options.Options
	opt.HeaderOnly = true
	m, err := dump.Dump(ctx, j.in.Image, opt)
	if err != nil {
		return b.opt.Advise(err)
	}

	j.rec.Name, j.rec.ID, j.rec.OS, j.rec.Arch, j.rec.CodeID = m.Name, m.ID, m.OS, m.Arch, m.CodeID
	names := []string{m.Name}
	if b.opt.Alias {
		names = append(names, mod.Names...)
	}

	place := store.Module{Names: names, ID: m.ID, BuildID: m.BuildID}
	j.paths, err = b.store.Paths(place, b.kind())
	if err == nil && b.opt.ELF {
		j.elf, err = elfCopies(j.in, b.store, place, b.opt.GDB)
	}
	if err == nil && b.opt.Sources != nil {
		j.sources, err = b.store.Paths(place, store.Sources)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.rec.Input, err)
	}

	// A store may hold the very files that are read.
	for _, path := range j.paths {
		if err := atomicfile.Clobbers(b.store.Path(path), nil, j.in.Paths()...); err != nil {
			return err
		}
	}

	j.rec.Outputs = slices.Clone(j.paths)
	for _, c := range j.elf {
		j.rec.Outputs = append(j.rec.Outputs, c.paths...)
	}

	j.memory = estimate(j.in.Image, j.in.Companions, work{Inlines: b.opt.Inlines, Check: b.opt.Check})

	// A debug file that open found by itself counts as input, too.
	if d := j.in.Image.Debug; d != nil && mod.Debug == nil {
		j.debug, j.rec.Debug = d.Path(), d.Path()
		mod.Size += int64(d.Size())
		j.rec.InputBytes = mod.Size
	}
	return nil
}

// open opens the files of the module. The first call searches for the separate
// debug file; the second one opens the file that the first one found.
func (j *job) open(ctx context.Context) error {
	main, err := j.mod.Main.Open()
	if err != nil {
		return err
	}

	files := []*elfx.File{main}
	var debug *elfx.File
	switch {
	case j.mod.Debug != nil:
		debug, err = j.mod.Debug.Open()
	case j.debug != "":
		debug, err = elfx.Open(j.debug)
	}
	if err != nil {
		main.Close()
		return err
	}

	if debug != nil {
		files = append(files, debug)
	}
	search := j.b.opt.Search
	if len(j.mod.Extra) > 0 {
		search.Open = j.openPacked
	}
	opened, warnings, err := companion.Join(ctx, files, search)
	if err != nil {
		return j.b.opt.Advise(err)
	}
	in := single.New(opened, warnings)

	// The search took place the first time: its warnings are the module's.
	if first := j.in; first != nil {
		in.Warnings, in.Probes, in.Incomplete = first.Warnings, first.Probes, first.Incomplete
	}
	j.in = in
	return nil
}

// openPacked opens the file with a build id among the files in packages that may be companions of the module.
func (j *job) openPacked(id []byte) *elfx.File {
	for _, in := range j.mod.Extra {
		f, err := in.Open()
		if err != nil {
			continue // the companion is reported as missing
		}
		if f.MatchBuildID(id) == nil {
			return f
		}
		f.Close()
	}
	return nil
}

// do dumps the module and passes on the outcome. It returns an error only if the
// batch must end: the store cannot be written, or ctx is done.
func (j *job) do(ctx context.Context) error {
	result, err := j.dump(ctx)
	switch {
	case err == nil:
		j.rec.Status = Written
		if j.exists { // another process was faster
			j.rec.Status, j.rec.SymbolBytes, j.rec.StoredBytes = Existing, 0, 0
		}
		result.Record = j.rec
		j.b.results <- result
	case ctx.Err() != nil:
		return err
	case errors.Is(err, store.ErrStore):
		j.b.fail(j.rec, err)
		return store.ErrStore
	default:
		j.b.failOrSkip(j.rec, j.mod.Main.Found, err)
	}
	return nil
}

// smallModule is the size of a module, in bytes, below which its dump is not divided among
// goroutines: other modules of the batch use the other processors.
const smallModule = 256 << 10

// dump dumps the module into the store.
func (j *job) dump(ctx context.Context) (r Result, err error) {
	if j.mod.Main.Symbols {
		return j.copySymbols(ctx)
	}
	err = j.open(ctx)
	if err != nil {
		return r, err
	}
	defer j.in.Close()

	start := time.Now()
	opt := j.b.opt.Options
	if j.mod.Size < smallModule {
		opt.Jobs = 1
	}
	m, err := j.in.Dump(ctx, opt)
	if err != nil {
		return r, j.b.opt.Advise(err)
	}
	j.rec.Seconds = &Seconds{Dump: time.Since(start).Seconds()}

	start = time.Now()
	r.Check, err = j.in.Write(ctx, m, opt, func(write func(io.Writer) error) error {
		size, err := j.b.store.Put(j.paths, j.b.kind(), write)
		j.rec.SymbolBytes, j.rec.StoredBytes, j.exists = size.Text, size.Stored, size.Existed
		j.rec.Why = size.Why
		j.rec.Seconds.Write = time.Since(start).Seconds()
		if err == nil && j.b.opt.Second != nil {
			err = j.b.opt.Second(ctx, write)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	if opt.Check {
		j.rec.Seconds.Check = time.Since(start).Seconds() - j.rec.Seconds.Write
	}

	j.in.Rejected()
	r.Stats, r.Warnings, r.Stripped, r.Probes, r.Lost = &m.Stats, j.in.Warnings, j.in.Stripped, j.in.AllProbes(), j.in.Lost(m)
	j.describe(&r)
	err = copyELF(j.in, j.b.store, j.elf)
	if err == nil {
		err = j.storeSources(ctx)
	}
	if err != nil || !j.exists || len(j.elf)+len(j.sources) == 0 {
		return r, err
	}

	// The symbol file was there already, and a prune that began before the others were there may have removed it.
	has, err := j.b.store.Has(j.paths)
	if err == nil && !has {
		return j.dump(ctx)
	}
	return r, err
}

// describe fills in the record of a written module.
func (j *job) describe(r *Result) {
	rec, s := &j.rec, r.Stats
	rec.Counts = &Counts{
		Units: s.Units, Funcs: s.Funcs, Lines: s.Lines, Inlines: s.Inlines, Publics: s.Publics, FDEs: s.FDEs,
	}
	rec.Losses, rec.Missing = s.LossCount, s.Missing
	if j.in.Incomplete {
		rec.Missing++
	}
	if r.Check != nil {
		rec.Findings = r.Check.Total() + uint64(r.Check.Unallowed())
	}
	for _, err := range s.Losses[:min(len(s.Losses), 10)] {
		rec.First = append(rec.First, err.Error())
	}
	for _, warning := range r.Warnings {
		rec.Warnings = append(rec.Warnings, j.b.opt.Advise(warning).Error())
	}
	rec.Warnings = append(rec.Warnings, s.Warnings...)
}

// place is the first module of a path in the store. It is small: a batch keeps one for each path.
type place struct {
	main input
	size int64
}

// placeKey returns the key of a path in the store: a digest, which is shorter than the path.
func placeKey(path string) (key [16]byte) {
	sum := sha256.Sum256([]byte(path))
	return [16]byte(sum[:16])
}

// sameFile reports whether two modules without build ids are copies of each
// other: files with the same bytes, unpacked those of symbol files.
func (j *job) sameFile(other *place) bool {
	a, b := &j.mod.Main, &other.main
	if a.Symbols && b.Symbols {
		return sameSymbols(a, b)
	}
	if a.Packed != nil && b.Packed != nil {
		return a.Packed.sameContent(b.Packed)
	}
	if a.Member != nil || b.Member != nil || a.Packed != nil || b.Packed != nil || j.mod.Size != other.size {
		return false
	}

	x, err := os.ReadFile(a.Path)
	if err != nil {
		return false
	}
	y, err := os.ReadFile(b.Path)
	return err == nil && bytes.Equal(x, y)
}
