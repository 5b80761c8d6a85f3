// Package elfsyms makes symbols from the ELF files of a process's modules, and from their
// debug files, when a walk asks for the symbols.
//
//	files := &sources.Files{Exe: "app"}
//	defer files.Close()
//	supplier := &elfsyms.Supplier{Files: files}
//	result, err := walk.Walk(ctx, process, supplier, walk.Options{})
package elfsyms

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/elfx/identity"
	"symkit/emit"
	"symkit/limits"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// Supplier is a walk.Supplier that dumps the modules' ELF files.
type Supplier struct {
	// Files finds the modules' own files. Debug files are looked for in the same places.
	Files *sources.Files
	Jobs  int // goroutines of one dump; 0 means one per processor
	// Remote, if not nil, fetches files that are not on this machine from debuginfod servers.
	Remote *debuginfod.Client
	// Limits bound the cost of dumping one module. The modules' own files have the limits of
	// Files.
	Limits limits.Limits
}

// Fetch returns a function for sources.Files.Fetch that gets modules' files from
// debuginfod servers; nil if there are no servers.
func Fetch(ctx context.Context, remote *debuginfod.Client) func(*walk.Module) (string, error) {
	if remote == nil {
		return nil
	}
	return func(m *walk.Module) (string, error) { return remote.Find(ctx, m.BuildID, debuginfod.Executable) }
}

// search returns where the companions of m are looked for.
func (s *Supplier) search(m *walk.Module) companion.Search {
	search := s.Files.Search
	search.Open = func(id []byte) *elfx.File {
		if !bytes.Equal(id, m.BuildID) {
			return nil
		}
		return s.Files.ArchivedDebug(m)
	}
	if s.Remote != nil {
		search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return s.Remote.Find(ctx, id, debuginfod.DebugInfo)
		}
	}
	return search
}

// Symbols implements walk.Supplier.
func (s *Supplier) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	out := &walk.Symbols{}
	found := s.find(ctx, m, out)
	if found == nil {
		return out
	}
	defer found.Close()

	if err := s.dump(ctx, found, m, out); err != nil {
		out.Tried = append(out.Tried, companion.Probe{Path: out.From, Err: err})
		out.From = ""
	}
	return out
}

// find finds the ELF files of m, in the core file itself or elsewhere. It returns nil if
// there are none. s.Files keeps ownership of the module's own file.
func (s *Supplier) find(ctx context.Context, m *walk.Module, out *walk.Symbols) *companion.Module {
	if m.Image != nil {
		f, err := elfx.Options{Limits: s.Limits}.NewFile(m.Path, m.Image)
		if err != nil {
			out.Tried = append(out.Tried, companion.Probe{Path: m.Path, Err: err})
			return nil
		}
		out.From = m.Path + " in the core file"
		found, _, _ := companion.Join(ctx, []*elfx.File{f}, companion.Search{Alone: true})
		return found
	}

	// The file is looked for by the module's path and build id.
	main, probes := s.Files.Binary(m)
	if main == nil {
		out.Tried = append(out.Tried, probes...)
		return s.debugAlone(ctx, m, out)
	}

	out.Tried = append(out.Tried, probes[:len(probes)-1]...)
	out.From = s.Remote.Source(main.Path())
	found, warnings := companion.Complete(ctx, &elfx.Image{Main: main}, s.search(m))
	misfit := slices.IndexFunc(warnings, func(w companion.Warning) bool { return w.Problem == companion.Misfit })
	switch {
	case misfit >= 0:
		out.Tried = append(out.Tried, companion.Probe{Path: warnings[misfit].Path, Err: warnings[misfit].Err})
	case found.Image.Debug != nil:
		out.From += " and " + s.Remote.Source(found.Image.Debug.Path())
	default:
		out.Tried = append(out.Tried, found.Probes...)
	}
	return found
}

// debugAlone finds the debug file of a module whose own file is missing. A debug file
// has functions and lines, seldom unwind rules.
func (s *Supplier) debugAlone(ctx context.Context, m *walk.Module, out *walk.Symbols) *companion.Module {
	// Directories of this machine come before servers.
	debug, probes := s.Files.Debug(m)
	if debug == nil {
		out.Tried = append(out.Tried, probes...)
		debug = s.fetchDebug(ctx, m, out)
	}
	if debug == nil {
		return nil
	}

	out.From = s.Remote.Source(debug.Path())
	found, _, _ := companion.Join(ctx, []*elfx.File{debug}, s.search(m)) // one file always is a module
	return found
}

// fetchDebug fetches m's debug file from the servers.
func (s *Supplier) fetchDebug(ctx context.Context, m *walk.Module, out *walk.Symbols) *elfx.File {
	if s.Remote == nil || m.BuildID == nil {
		return nil
	}

	var f *elfx.File
	path, err := s.Remote.Find(ctx, m.BuildID, debuginfod.DebugInfo)
	if err == nil {
		f, err = elfx.Options{Limits: s.Limits}.Open(path)
	}
	if err != nil {
		out.Tried = append(out.Tried, companion.Probe{Path: sources.Fetched, Err: err})
		return nil
	}
	return f
}

// dump writes the symbols into memory and indexes them.
func (s *Supplier) dump(ctx context.Context, found *companion.Module, m *walk.Module, out *walk.Symbols) error {
	img, others := found.Image, found.Companions
	mod, err := dump.Dump(ctx, img, dump.Options{Jobs: s.Jobs, Inlines: true, Name: m.Name, ID: idOf(img), Companions: others, Limits: s.Limits})
	if err != nil {
		return err
	}

	// Companions that are damaged are reported, absent ones are not.
	for _, p := range others.Probes() {
		if p.Err == nil {
			out.From += " and " + s.Remote.Source(p.Path)
		} else if !errors.Is(p.Err, fs.ErrNotExist) {
			out.Tried = append(out.Tried, p)
		}
	}

	// The text is indexed like a symbol file.
	var text bytes.Buffer
	if err := mod.Write(&text); err != nil {
		return err
	}
	out.Index, out.Heap = emit.NewIndex(text.Bytes()), int64(text.Cap())
	out.Damage = mod.Stats.LossCount
	return nil
}

// idOf returns an id for images that have none. No output shows the id.
func idOf(img *elfx.Image) string {
	if _, err := identity.Of(img); err != nil {
		return "0"
	}
	return ""
}
