package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"symkit/check"
	"symkit/elfx"
	"symkit/elfx/archive/pkg"
	"symkit/elfx/companion"
	"symkit/internal/command"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/remote"
	"symkit/internal/smallfile"
	"symkit/limits"
)

// wantELF describes the file to give, for errors about a file of another kind.
const wantELF = "the ELF file that the symbol file was made from"

// inputs are the files that a command reads. Those at addresses are read from copies.
type inputs struct {
	ctx    context.Context
	copies map[string]string // address by path of the copy
	paths  map[string]string // path of the copy by address
	closes []func()
}

func newInputs(ctx context.Context) *inputs {
	return &inputs{ctx: ctx, copies: map[string]string{}, paths: map[string]string{}}
}

// get returns the path of a file: of a copy if the file is at an address.
func (in *inputs) get(address string) (path string, err error) {
	path, known := in.paths[address]
	if known {
		return path, nil
	}
	path, remove, err := remote.Fetch(in.ctx, address)
	if err == nil {
		in.copies[path], in.paths[address], in.closes = remote.Shown(address), path, append(in.closes, remove)
	}
	return path, err
}

// sym opens the symbol file at a path or an address.
func (in *inputs) sym(address string) (*symData, error) {
	path, err := in.get(address)
	if err != nil {
		return nil, err
	}
	d, err := openSym(path)
	if err == nil {
		in.closes = append(in.closes, func() { _ = d.mapping.Release() }) // nothing can be done about an error
	}
	return d, err
}

// elf opens the ELF file at a path or an address.
func (in *inputs) elf(address string) (*elfx.File, error) {
	path, err := in.get(address)
	if err != nil {
		return nil, err
	}
	return openELF(path)
}

// named returns err with addresses in place of the paths of copies.
func (in *inputs) named(err error) error {
	for path, address := range in.copies {
		err = remote.Renamed(err, path, address)
	}
	return err
}

// close closes the symbol files and removes the copies.
func (in *inputs) close() {
	for _, f := range slices.Backward(in.closes) {
		f()
	}
}

// open opens the ELF files among the paths, and their companion files. Files that were found but do not belong to the
// module are only warned about.
func (c *replayCmd) open(e *env, in *inputs) (*companion.Module, error) {
	search, err := c.Search()
	if err != nil {
		return nil, err
	}
	search.File = in.elf
	m, warnings, err := companion.Open(in.ctx, c.Files, search)
	switch {
	case errors.Is(err, companion.ErrOtherBuild):
		return nil, fmt.Errorf("%w; give the debug file of the same build", err)
	case errors.Is(err, companion.ErrOther), errors.Is(err, companion.ErrNoFile):
		return nil, fmt.Errorf("%w; give one ELF file, or a program and its debug file", err)
	case err != nil:
		return nil, err
	}

	for _, w := range append(warnings, m.Unused()...) {
		switch w.Problem {
		case companion.Unused:
			command.Line(e.stderr, "symcheck: warning: %s: not used: %v", w.Path, w.Err)
		case companion.ManyUnused, companion.Misfit:
			command.Line(e.stderr, "symcheck: warning: %v", w)
		}
	}
	return m, nil
}

// openELF opens an ELF file, which may be compressed. The most frequent mistakes get a hint.
func openELF(path string) (*elfx.File, error) {
	f, err := pkg.Open(path, elfx.Options{})
	switch {
	case err == nil:
		err = f.Complete()
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	case isSymbolFile(err):
		err = fmt.Errorf("%w; the symbol file comes first, then the ELF file", err)
	case errors.Is(err, elfx.ErrNotELF):
		err = command.OtherKind(err, wantELF)
	case errors.Is(err, elfx.ErrNotRegular):
		err = fmt.Errorf("%w; give %s", err, wantELF)
	}
	return nil, command.Unreadable("", path, err, wantELF)
}

// isSymbolFile reports whether err is about a symbol file in the place of an ELF file.
func isSymbolFile(err error) bool {
	other, ok := errors.AsType[*elfx.KindError](err)
	return ok && other.Kind == elfx.SymbolFile
}

// symData is an opened symbol file.
type symData struct {
	bytes   []byte
	mapping *mem.Mapping // nil if the file was read instead
	path    string
}

// unchanged returns an error if the file has been written to since it was opened.
func (d *symData) unchanged() error {
	if d.mapping == nil {
		return nil
	}
	return elfx.Unchanged(d.path, d.mapping.Info())
}

// openSym maps a regular file and reads any other.
func openSym(path string) (*symData, error) {
	d, err := readSym(path)
	if err != nil {
		return nil, command.Unreadable("", path, err, "the path of a symbol file")
	}
	kind := foreign(d)
	switch {
	case len(d.bytes) == 0:
		err = fmt.Errorf("%s: %w; make it again with dump_syms", path, check.ErrEmpty)
	case kind != (elfx.Kind{}):
		err = fmt.Errorf("%s: %w: it is %v", path, errNotSym, kind)
	}
	if err != nil {
		_ = d.mapping.Release() // nothing can be done about an error
		return nil, err
	}
	return d, nil
}

// readSym maps a regular file, and reads any other up to a limit.
func readSym(path string) (*symData, error) {
	mapping, err := mem.Open(path)
	if err == nil {
		return &symData{mapping.Bytes(), mapping, path}, nil
	}
	info, _ := os.Stat(path) // nil after an error
	if !errors.Is(err, elfx.ErrNotRegular) || info == nil || info.IsDir() {
		return nil, err
	}

	// A pipe has no size that could be checked in advance.
	most := int64(min(limits.Limits{}.Max(limitof.CheckInput, 0), math.MaxInt64-2))
	data, err := smallfile.Read(path, most)
	if errors.Is(err, smallfile.ErrSize) {
		err = fmt.Errorf("%s: %w", path, (limits.Limits{}).Exceeded(limitof.CheckInput, 0))
	}
	return &symData{bytes: data, path: path}, err
}

var errNotSym = errors.New("not a symbol file")

// foreign returns the kind of a file that was given as a symbol file and is of another known
// format. The result is the zero Kind for all that may be a symbol file, even a damaged one.
func foreign(d *symData) (kind elfx.Kind) {
	_ = mem.Guard(func() error { // the check finds that the file has changed
		kind = elfx.KindOf(d.bytes[:min(len(d.bytes), 64<<10)])
		return nil
	})
	switch kind.Name {
	case "empty", "a text file", "a script", elfx.SymbolFile.Name:
		return elfx.Kind{}
	}
	return kind
}
