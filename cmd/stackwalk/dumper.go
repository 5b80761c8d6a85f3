package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/emit"
	"symkit/walk"
)

// dumper is the supplier that makes symbols of the modules' ELF files.
type dumper struct {
	files *walk.Files
	dirs  []string // for debug files
	jobs  int
	// remote are the debuginfod servers to ask for what is not here, or nil.
	remote *debuginfod.Client
}

// places is where companions are looked for.
func (d *dumper) places(ctx context.Context) companion.Places {
	places := companion.Places{DebugDirs: d.dirs}
	if d.remote != nil {
		places.Fetch = func(id []byte) (string, error) { return d.remote.Find(ctx, id, debuginfod.DebugInfo) }
	}
	return places
}

// fetch returns walk.Files.Fetch: the modules' binaries from the servers.
func fetch(ctx context.Context, remote *debuginfod.Client) func(*walk.Module) (string, error) {
	if remote == nil {
		return nil
	}
	return func(m *walk.Module) (string, error) { return remote.Find(ctx, m.BuildID, debuginfod.Executable) }
}

// Symbols implements walk.Supplier.
func (d *dumper) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	out := &walk.Symbols{}
	found := d.find(ctx, m, out)
	if found == nil {
		return out
	}
	defer found.Close()

	if err := d.dump(ctx, found, m, out); err != nil {
		out.Tried = append(out.Tried, companion.Probe{Path: out.From, Err: err})
		out.From = ""
	}
	return out
}

// find finds the ELF files of m: in the core file itself, or elsewhere. It
// returns nil if there is none. The module's own file stays that of d.files.
func (d *dumper) find(ctx context.Context, m *walk.Module, out *walk.Symbols) *companion.Module {
	if m.Image != nil {
		f, err := elfx.NewFile(m.Path, m.Image)
		if err != nil {
			out.Tried = append(out.Tried, companion.Probe{Path: m.Path, Err: err})
			return nil
		}
		out.From = m.Path + " in the core file"
		return companion.Alone(f, d.places(ctx))
	}

	main, probes := d.files.Binary(m)
	if main == nil {
		out.Tried = append(out.Tried, probes...)
		return d.debugAlone(ctx, m, out)
	}
	out.Tried = append(out.Tried, probes[:len(probes)-1]...)
	out.From = main.Path()
	found := companion.Complete(&elfx.Image{Main: main}, d.places(ctx))
	switch {
	case found.Mismatch != nil:
		debug := found.DebugProbes[len(found.DebugProbes)-1].Path
		out.Tried = append(out.Tried, companion.Probe{Path: debug, Err: found.Mismatch})
	case found.Image.Debug != nil:
		out.From += " and " + found.Image.Debug.Path()
	default:
		out.Tried = append(out.Tried, found.DebugProbes...)
	}
	return found
}

// debugAlone is the debug file of a module whose own file is missing: it has
// functions and lines, seldom unwind rules.
func (d *dumper) debugAlone(ctx context.Context, m *walk.Module, out *walk.Symbols) *companion.Module {
	debug, probes := d.files.Debug(m)
	if debug == nil {
		out.Tried = append(out.Tried, probes...)
		debug = d.fetchDebug(ctx, m, out)
	}
	if debug == nil {
		return nil
	}
	out.From = debug.Path()
	return companion.Alone(debug, d.places(ctx))
}

// fetchDebug asks the servers for m's debug file.
func (d *dumper) fetchDebug(ctx context.Context, m *walk.Module, out *walk.Symbols) *elfx.File {
	if d.remote == nil || m.BuildID == nil {
		return nil
	}
	path, err := d.remote.Find(ctx, m.BuildID, debuginfod.DebugInfo)
	if err == nil {
		var f *elfx.File
		if f, err = elfx.Open(path); err == nil {
			return f
		}
	}
	out.Tried = append(out.Tried, companion.Probe{Path: walk.Fetched, Err: err})
	return nil
}

// dump writes the symbols into memory and indexes them.
func (d *dumper) dump(ctx context.Context, found *companion.Module, m *walk.Module, out *walk.Symbols) error {
	img, others := found.Image, found.Companions
	mod, err := dump.Dump(ctx, img, dump.Options{Jobs: d.jobs, Inlines: true, Name: m.Name, ID: idOf(img), Companions: others})
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

// idOf is an id for images that have none; nobody sees it.
func idOf(img *elfx.Image) string {
	if _, err := img.ModuleID(); err != nil {
		return "0"
	}
	return ""
}
