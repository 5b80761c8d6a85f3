package batch

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/par"
)

// module holds the files with one build id. A file without a build id is a module of
// its own.
type module struct {
	Main  Input  // the file that is loaded or, without one, the debug file
	Debug *Input // the separate debug file, or nil
	// Extra are files in packages that the module may need besides: dwz's supplementary
	// file, and a debug file with no more than a symbol table.
	Extra  []*Input
	Copies []Input
	// Names are the names of the files that are loaded, each once, in order.
	Names []string
	Size  int64 // of Main and Debug, in bytes

	key string // decides to which shard the module belongs
	id  string // of traits; empty without a build id
	// complete is set if the files have code and debug information, with the supplementary file.
	complete bool
}

// skipped is a file that was found, not named, and is no module.
type skipped struct {
	Input
	Why error
}

// The reasons that a file that was found is no module.
var (
	errCore   = errors.New("a core file")
	errObject = errors.New("an object file without a build id")
)

// groups is the result of group.
type groups struct {
	Modules []module // in the order of their first files
	Skipped []skipped
	Failed  []Failure
}

// traits of a file decide to which module the file belongs, and its part in the module.
type traits struct {
	id            string // build id and machine; empty without a build id
	buildID       string
	alt           string // build id of the supplementary file
	loaded, dwarf bool
	size          int64
	core, object  bool
	err           error
}

// group makes a module of the inputs with one build id. The inputs are opened on at most
// jobs goroutines. The result depends on the inputs and their order alone.
func group(ctx context.Context, inputs []Input, jobs int) (*groups, error) {
	all := make([]traits, len(inputs))
	err := each(ctx, len(inputs), jobs, func(i int) { all[i] = look(&inputs[i]) })
	if err != nil {
		return nil, err
	}

	g := &groups{}
	var sets [][]int // of each module, the indices of its inputs
	byID := map[string]int{}
	for i := range all {
		t := &all[i]
		switch {
		case t.err != nil:
			g.Failed = append(g.Failed, Failure{inputs[i].Name(), t.err})
		case t.why(&inputs[i]) != nil:
			g.Skipped = append(g.Skipped, skipped{inputs[i], t.why(&inputs[i])})
		default:
			// Without a build id an input is a set of its own.
			set, known := byID[t.id]
			if !known || t.id == "" {
				set = len(sets)
				sets = append(sets, nil)
				byID[t.id] = set
			}
			sets[set] = append(sets[set], i)
		}
	}

	alts := packedByID(inputs, all)
	for _, set := range sets {
		m := choose(inputs, all, set)
		m.id = all[set[0]].id
		m.key = cmp.Or(m.id, base(m.Main.Name()))
		for _, i := range set {
			alt := alts[all[i].alt]
			if alt != nil && !slices.Contains(m.Extra, alt) {
				m.Extra = append(m.Extra, alt)
			}
			m.complete = m.complete && (alt != nil || all[i].alt == "")
			if m.Debug == nil && !all[i].loaded && inputs[i].Packed != nil && inputs[i].Packed != m.Main.Packed {
				m.Extra = append(m.Extra, &inputs[i])
			}
		}
		g.Modules = append(g.Modules, m)
	}
	return g, nil
}

// why returns the reason that the file of an input is no module, or nil.
func (t *traits) why(in *Input) error {
	switch {
	case in.Found && t.core:
		return errCore
	case in.Found && t.object && t.id == "" && in.Member == nil:
		return errObject
	}
	return nil
}

// packedByID returns the files in packages by build id, the first of each.
func packedByID(inputs []Input, all []traits) map[string]*Input {
	byID := map[string]*Input{}
	for i := range inputs {
		id := all[i].buildID
		if inputs[i].Packed != nil && id != "" && byID[id] == nil {
			byID[id] = &inputs[i]
		}
	}
	return byID
}

// each calls work for every i below n, on at most jobs goroutines. each returns an error
// only if ctx ends: the cause.
func each(ctx context.Context, n, jobs int, work func(i int)) error {
	return par.For(ctx, jobs, n, func(i int) error {
		work(i)
		return nil
	})
}

// look opens an input and returns its traits.
func look(in *Input) (t traits) {
	if in.Packed != nil {
		return in.Packed.traits // Index has looked
	}
	f, err := in.Open()
	if err != nil {
		return traits{err: err}
	}
	defer f.Close()
	return traitsOf(f)
}

// traitsOf returns the traits of an opened file.
func traitsOf(f *elfx.File) (t traits) {
	// A truncated copy must not be part of the module of the complete file.
	if err := f.Complete(); err != nil {
		return traits{err: err}
	}

	if id := f.BuildID(); id != nil {
		t.id = fmt.Sprintf("%s%d %d %t", id, f.Machine, f.Class, f.BigEndian)
		t.buildID = t.id[:len(id)]
	}
	t.size, t.loaded = int64(f.Size()), f.HoldsLoaded()
	t.core, t.object = f.Type == elf.ET_CORE, f.Type == elf.ET_REL
	for _, name := range []string{".debug_info", ".debug_line"} {
		s := f.Section(name)
		t.dwarf = t.dwarf || s != nil && s.Present()
	}

	// Stripped programs may still name the supplementary file.
	if link, err := companion.ReadAltLink(f); err == nil && t.dwarf {
		t.alt = string(link.ID)
	}
	return t
}

// choose chooses among the inputs of one build id. The program is the first loaded
// file without debug information, else the first loaded file. The debug file is the
// first file that is not loaded and has debug information; if there is none and the
// program has no debug information, the first loaded file that has some. All others are
// copies.
func choose(inputs []Input, all []traits, set []int) (m module) {
	first := func(want func(t *traits) bool) int {
		for _, i := range set {
			if want(&all[i]) {
				return i
			}
		}
		return -1
	}

	main := first(func(t *traits) bool { return t.loaded && !t.dwarf })
	if main < 0 {
		main = first(func(t *traits) bool { return t.loaded })
	}
	debug := first(func(t *traits) bool { return !t.loaded && t.dwarf })
	switch {
	case main < 0 && debug < 0:
		main = set[0]
	case main < 0:
		main, debug = debug, -1
	case debug < 0 && !all[main].dwarf:
		debug = first(func(t *traits) bool { return t.dwarf })
	}

	// A program may be installed under several names, which all are looked up.
	m.Main, m.Size, m.complete = inputs[main], all[main].size, all[main].loaded && all[main].dwarf
	for _, i := range set {
		if name := filepath.Base(inputs[i].Name()); all[i].loaded && !slices.Contains(m.Names, name) {
			m.Names = append(m.Names, name)
		}
		switch i {
		case main:
		case debug:
			m.Debug = &inputs[i]
			m.Size += all[i].size
			m.complete = all[main].loaded
		default:
			m.Copies = append(m.Copies, inputs[i])
		}
	}
	return m
}
