package report

import (
	"context"
	"strings"

	"symkit/lookup/source"
	"symkit/walk"
)

// Sources has the source files of the frames of a result, by module and path.
type Sources map[*walk.Module]map[string]source.Found

// maxSourceFrames bounds the frames of a stack whose source files are looked for.
const maxSourceFrames = 800

// FindSources finds the source files that the frames of a result name: those that are embedded in the ELF files that the
// symbols are from, and those of the finder's directories.
func FindSources(ctx context.Context, r *walk.Result, finder *source.Finder) Sources {
	paths := map[*walk.Module][]string{}
	seen := map[*walk.Module]map[string]bool{}
	add := func(m *walk.Module, file string) {
		if m == nil || file == "" || seen[m][file] {
			return
		}
		if seen[m] == nil {
			seen[m] = map[string]bool{}
		}
		seen[m][file] = true
		paths[m] = append(paths[m], file)
	}
	for i := range r.Stacks {
		frames := r.Stacks[i].Frames
		for k := range frames[:min(len(frames), maxSourceFrames)] {
			f := &frames[k]
			add(f.Module, f.Place.File)
			for _, in := range f.Place.Inlines {
				add(f.Module, in.File)
			}
		}
	}
	out := Sources{}
	for i := range r.Modules {
		m := &r.Modules[i]
		if len(paths[m.Module]) == 0 {
			continue
		}
		var from []string
		if m.Symbols != nil && m.Symbols.From != "" {
			from = strings.Split(m.Symbols.From, " and ") // a program and its debug file
		}
		out[m.Module] = finder.Find(ctx, nil, from, paths[m.Module])
	}
	return out
}
