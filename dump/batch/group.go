package batch

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"symkit/internal/par"
)

// module holds the files with one build id. A file without a build id is a module of
// its own.
type module struct {
	Main  input  // the file that is loaded or, without one, the debug file
	Debug *input // the separate debug file, or nil
	// Extra are files in packages that the module may need besides: dwz's supplementary
	// file, and a debug file with no more than a symbol table.
	Extra  []*input
	Copies []input
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
	input
	Why error
}

// groups is the result of group.
type groups struct {
	Modules []module // in the order of their first files
	Skipped []skipped
	Failed  []failure
}

// group makes a module of the inputs with one build id. The inputs are opened on at most
// jobs goroutines. The result depends on the inputs and their order alone.
func group(ctx context.Context, inputs []input, jobs int) (*groups, error) {
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
			g.Failed = append(g.Failed, failure{inputs[i].Name(), t.err})
		case t.why(inputs[i].Found, inputs[i].Member != nil) != nil:
			g.Skipped = append(g.Skipped, skipped{inputs[i], t.why(inputs[i].Found, inputs[i].Member != nil)})
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

// packedByID returns the files in packages by build id, the first of each.
func packedByID(inputs []input, all []traits) map[string]*input {
	byID := map[string]*input{}
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
func look(in *input) (t traits) {
	if in.Packed != nil {
		return in.Packed.traits // Index has looked
	}
	if in.Symbols {
		return symbolTraits(in.Path)
	}
	f, err := in.Open()
	if err != nil {
		return traits{err: err}
	}
	defer f.Close()
	return traitsOf(f)
}

// choose chooses among the inputs of one build id. The program is the first loaded
// file without debug information, else the first loaded file. The debug file is the
// first file that is not loaded and has debug information; if there is none and the
// program has no debug information, the first loaded file that has some. All others are
// copies.
func choose(inputs []input, all []traits, set []int) (m module) {
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

// files returns the files of a module.
func (m *module) files() []input {
	list := []input{m.Main}
	if m.Debug != nil {
		list = append(list, *m.Debug)
	}
	return append(list, m.Copies...)
}
