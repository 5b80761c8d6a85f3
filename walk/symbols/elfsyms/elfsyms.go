// Package elfsyms makes symbols of the ELF files of a process's modules, with their
// debug files, when a walk asks for them.
package elfsyms

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/debuginfod"
	"symkit/emit"
	"symkit/walk"
	"symkit/walk/symbols"
)

// Supplier is a walk.Supplier that dumps the modules' ELF files.
type Supplier struct {
	// Files finds the modules' own files.
	Files *symbols.Files
	// DebugDirs are the directories to look for debug files in.
	DebugDirs []string
	Jobs      int // goroutines of one dump; 0 means one per processor
	// Remote asks debuginfod servers for files that are not on this machine, if not
	// nil.
	Remote *debuginfod.Client
}

// Fetch returns a function for symbols.Files.Fetch that gets modules' files from
// debuginfod servers; nil if there are no servers.
func Fetch(ctx context.Context, remote *debuginfod.Client) func(*walk.Module) (string, error) {
	if remote == nil {
		return nil
	}
	return func(m *walk.Module) (string, error) { return remote.Find(ctx, m.BuildID, debuginfod.Executable) }
}

// places returns where companions are looked for.
func (s *Supplier) places(ctx context.Context) elfx.Places {
	places := elfx.Places{DebugDirs: s.DebugDirs}
	if s.Remote != nil {
		places.Fetch = func(id []byte) (string, error) { return s.Remote.Find(ctx, id, debuginfod.DebugInfo) }
	}
	return places
}

// Symbols implements walk.Supplier.
func (s *Supplier) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	out := &walk.Symbols{}
	img, debug := s.image(ctx, m, out)
	if debug != nil {
		defer debug.Close()
	}
	if img == nil {
		return out
	}
	if err := s.dump(ctx, img, m, out); err != nil {
		out.Tried = append(out.Tried, elfx.Probe{Path: out.From, Err: err})
		out.From = ""
	}
	return out
}

// image finds the ELF files of m: in the dump itself, or elsewhere. The image is nil
// if there are none. The caller closes the debug file, which may be nil.
func (s *Supplier) image(ctx context.Context, m *walk.Module, out *walk.Symbols) (img *elfx.Image, debug *elfx.File) {
	if m.Image != nil {
		f, err := elfx.NewFile(m.Path, m.Image)
		if err != nil {
			out.Tried = append(out.Tried, elfx.Probe{Path: m.Path, Err: err})
			return nil, nil
		}
		out.From = m.Path + " in the core file"
		return &elfx.Image{Main: f}, nil
	}
	main, probes := s.Files.Binary(m)
	if main == nil {
		out.Tried = append(out.Tried, probes...)
		return s.debugAlone(ctx, m, out)
	}
	out.Tried = append(out.Tried, probes[:len(probes)-1]...)
	out.From = main.Path()
	img = &elfx.Image{Main: main}
	if info := main.Section(".debug_info"); info != nil && info.Present() {
		return img, nil
	}
	places := s.places(ctx)
	if debug, probes = places.FindDebug(main); debug == nil {
		out.Tried = append(out.Tried, probes...)
		return img, nil
	}
	joined, err := elfx.Join(main, debug)
	if err != nil {
		out.Tried = append(out.Tried, elfx.Probe{Path: debug.Path(), Err: err})
		return img, debug
	}
	out.From += " and " + debug.Path()
	return joined, debug
}

// debugAlone returns the debug file of a module whose own file is missing. Debug
// files have functions and lines, seldom unwind rules.
func (s *Supplier) debugAlone(ctx context.Context, m *walk.Module, out *walk.Symbols) (*elfx.Image, *elfx.File) {
	debug, probes := s.Files.Debug(m)
	if debug == nil {
		out.Tried = append(out.Tried, probes...)
		debug = s.fetchDebug(ctx, m, out)
	}
	if debug == nil {
		return nil, nil
	}
	out.From = debug.Path()
	return &elfx.Image{Main: debug}, debug
}

// fetchDebug asks the servers for m's debug file; the caller closes it.
func (s *Supplier) fetchDebug(ctx context.Context, m *walk.Module, out *walk.Symbols) *elfx.File {
	if s.Remote == nil || m.BuildID == nil {
		return nil
	}
	path, err := s.Remote.Find(ctx, m.BuildID, debuginfod.DebugInfo)
	if err == nil {
		var f *elfx.File
		if f, err = elfx.Open(path); err == nil {
			return f
		}
	}
	out.Tried = append(out.Tried, elfx.Probe{Path: symbols.Fetched, Err: err})
	return nil
}

// dump writes the symbols into memory and indexes them.
func (s *Supplier) dump(ctx context.Context, img *elfx.Image, m *walk.Module, out *walk.Symbols) error {
	others := img.FindCompanions(s.places(ctx))
	defer others.Close()
	mod, err := dump.Dump(ctx, img, dump.Options{Jobs: s.Jobs, Inlines: true, Name: m.Name, ID: idOf(img), Companions: others})
	if err != nil {
		return err
	}
	for _, p := range others.Probes() {
		if p.Err == nil {
			out.From += " and " + p.Path
		} else if !errors.Is(p.Err, fs.ErrNotExist) {
			out.Tried = append(out.Tried, p)
		}
	}
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
	if _, err := img.ModuleID(); err != nil {
		return "0"
	}
	return ""
}
