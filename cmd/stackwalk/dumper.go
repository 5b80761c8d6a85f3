package main

import (
	"bytes"
	"context"

	"symkit/dump"
	"symkit/elfx"
	"symkit/emit"
	"symkit/walk"
)

// dumper is the supplier that makes symbols of the modules' ELF files.
type dumper struct {
	files *walk.Files
	dirs  []string // for debug files
	jobs  int
}

// Symbols implements walk.Supplier.
func (d *dumper) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	out := &walk.Symbols{}
	img := d.image(m, out)
	if img == nil {
		return out
	}
	if img.Debug != nil {
		defer img.Debug.Close()
	}
	if err := d.dump(ctx, img, m, out); err != nil {
		out.Tried = append(out.Tried, elfx.Probe{Path: out.From, Err: err})
		out.From = ""
	}
	return out
}

// image finds the ELF files of m: in the dump itself, or on disk.
func (d *dumper) image(m *walk.Module, out *walk.Symbols) *elfx.Image {
	if m.Image != nil {
		f, err := elfx.NewFile(m.Path, m.Image)
		if err != nil {
			out.Tried = append(out.Tried, elfx.Probe{Path: m.Path, Err: err})
			return nil
		}
		out.From = m.Path + " in the core file"
		return &elfx.Image{Main: f}
	}
	f, probes := d.files.Binary(m)
	if f == nil {
		out.Tried = append(out.Tried, probes...)
		return nil
	}
	out.Tried = append(out.Tried, probes[:len(probes)-1]...)
	out.From = f.Path()
	img := &elfx.Image{Main: f}
	if s := f.Section(".debug_info"); s != nil && s.Present() {
		return img
	}
	debug, probes := f.FindDebug(d.dirs)
	if debug == nil {
		out.Tried = append(out.Tried, probes...)
		return img
	}
	joined, err := elfx.Join(f, debug)
	if err != nil {
		debug.Close()
		out.Tried = append(out.Tried, elfx.Probe{Path: debug.Path(), Err: err})
		return img
	}
	out.From += " and " + debug.Path()
	return joined
}

// dump writes the symbols into memory and indexes them.
func (d *dumper) dump(ctx context.Context, img *elfx.Image, m *walk.Module, out *walk.Symbols) error {
	mod, err := dump.Dump(ctx, img, dump.Options{Jobs: d.jobs, Inlines: true, Name: m.Name, ID: idOf(img)})
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := mod.Write(&text); err != nil {
		return err
	}
	out.Index = emit.NewIndex(text.Bytes())
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
