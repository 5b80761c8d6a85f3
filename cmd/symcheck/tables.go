package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"symkit/check"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/elfx/companion"
	"symkit/internal/bounds"
	"symkit/lookup"
)

// withoutSym reports whether the files are ELF files to verify without a symbol file.
func (c *replayCmd) withoutSym(out *output, in *inputs) bool {
	if !out.tableOnly() {
		return false
	}
	_, err := in.sym(c.Sym)
	return errors.Is(err, errNotSym) || len(c.Files) == 0
}

// tables verifies the .sframe sections of ELF files: of one module, which may have a debug file, or of
// each file, and of each member of an archive.
func (c *replayCmd) tables(e *env, out *output, in *inputs) error {
	var results []report.Result
	var failed error
	add := func(r report.Result, err error) {
		if err == nil {
			results = append(results, r)
		}
		failed = errors.Join(failed, err)
	}

	files := append([]string{c.Sym}, c.Files...)
	if !slices.ContainsFunc(files, in.isArchive) {
		c.Files = files
		r, err := c.table(e, out, in)
		if !errors.Is(err, companion.ErrOther) || len(files) < 2 {
			add(r, err)
			return errors.Join(out.write(e, results...), failed)
		}
	}

	// A file that cannot be read does not keep the others from being verified.
	for _, file := range files {
		if in.isArchive(file) {
			c.members(out, in, file, add)
			continue
		}
		c.Files = []string{file}
		add(c.table(e, out, in))
	}
	return errors.Join(out.write(e, results...), failed)
}

// table verifies the .sframe section of the module in c.Files.
func (c *replayCmd) table(e *env, out *output, in *inputs) (r report.Result, err error) {
	mod, err := c.open(e, in)
	if err != nil {
		return r, err
	}
	defer mod.Close()
	path := mod.Image.Main.Path()
	return out.table(in, mod, cmp.Or(in.copies[path], path))
}

// members verifies the .sframe sections of the ELF files in an archive.
func (c *replayCmd) members(out *output, in *inputs, file string, add func(report.Result, error)) {
	path, err := in.get(file)
	if err != nil {
		add(report.Result{}, err)
		return
	}
	for member, err := range archive.Members(path) {
		if err != nil {
			add(report.Result{}, err)
			continue
		}
		f, err := member.Open()
		if err != nil {
			add(report.Result{}, err)
			continue
		}
		mod, _, err := companion.Join(in.ctx, []*elfx.File{f}, companion.Search{})
		if err != nil {
			add(report.Result{}, err)
			continue
		}
		add(out.table(in, mod, strings.Replace(f.Path(), path, in.copies[path], 1)))
		mod.Close()
	}
}

// table verifies the .sframe section of a module, which is shown under a name.
func (o *output) table(in *inputs, mod *companion.Module, name string) (r report.Result, err error) {
	bounds.Heap(mod.Image.Size())
	r.File = name
	r.Report, err = check.SFrame(in.ctx, mod.Image, o.options())
	if err != nil {
		return r, err
	}
	return r, o.addSources(in.ctx, &r, mod, lookup.Virtual, side{of: []string{report.OfELF}})
}

// isArchive reports whether the file at a path or an address is an archive of ELF files. What cannot be read is none.
func (in *inputs) isArchive(address string) bool {
	path, err := in.get(address)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var prefix [64]byte
	n, _ := io.ReadFull(f, prefix[:])
	return archive.Is(prefix[:n])
}
