package main

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
func (d *dumper) places(ctx context.Context) elfx.Places {
	places := elfx.Places{DebugDirs: d.dirs}
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
	img, debug := d.image(ctx, m, out)
	if debug != nil {
		defer debug.Close()
	}
	if img == nil {
		return out
	}
	if err := d.dump(ctx, img, m, out); err != nil {
		out.Tried = append(out.Tried, elfx.Probe{Path: out.From, Err: err})
		out.From = ""
	}
	return out
}

// image finds the ELF files of m: in the dump itself, or elsewhere. The debug
// file is the caller's to close, and may be nil; the image is nil without any.
func (d *dumper) image(ctx context.Context, m *walk.Module, out *walk.Symbols) (img *elfx.Image, debug *elfx.File) {
	if m.Image != nil {
		f, err := elfx.NewFile(m.Path, m.Image)
		if err != nil {
			out.Tried = append(out.Tried, elfx.Probe{Path: m.Path, Err: err})
			return nil, nil
		}
		out.From = m.Path + " in the core file"
		return &elfx.Image{Main: f}, nil
	}
	main, probes := d.files.Binary(m)
	if main == nil {
		out.Tried = append(out.Tried, probes...)
		return d.debugAlone(ctx, m, out)
	}
	out.Tried = append(out.Tried, probes[:len(probes)-1]...)
	out.From = main.Path()
	img = &elfx.Image{Main: main}
	if s := main.Section(".debug_info"); s != nil && s.Present() {
		return img, nil
	}
	places := d.places(ctx)
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

// debugAlone is the debug file of a module whose own file is missing: it has
// functions and lines, seldom unwind rules.
func (d *dumper) debugAlone(ctx context.Context, m *walk.Module, out *walk.Symbols) (*elfx.Image, *elfx.File) {
	debug, probes := d.files.Debug(m)
	if debug == nil {
		out.Tried = append(out.Tried, probes...)
		debug = d.fetchDebug(ctx, m, out)
	}
	if debug == nil {
		return nil, nil
	}
	out.From = debug.Path()
	return &elfx.Image{Main: debug}, debug
}

// fetchDebug asks the servers for m's debug file; the caller closes it.
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
	out.Tried = append(out.Tried, elfx.Probe{Path: walk.Fetched, Err: err})
	return nil
}

// dump writes the symbols into memory and indexes them.
func (d *dumper) dump(ctx context.Context, img *elfx.Image, m *walk.Module, out *walk.Symbols) error {
	others := img.FindCompanions(d.places(ctx))
	defer others.Close()
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
