package batch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"symkit/check/lint"
	"symkit/check/report"
	"symkit/dump/store"
	"symkit/emit"
	"symkit/internal/atomicfile"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/packing"
	"symkit/internal/quantity"
	"symkit/limits"
)

// Symbol files are inputs, too: they are put into the store as they are, if package lint finds no fault in them.

var (
	errRefuted  = errors.New("the symbol file is wrong")
	errNoModule = errors.New("the symbol file does not begin with a MODULE record")
	errRenamed  = errors.New("is a symbol file, which keeps its name and id; leave out --id and --name")
	errText     = errors.New("is a symbol file, of which no GSYM file can be made; dump the ELF file")
)

// moduleWord begins symbol files.
const moduleWord = "MODULE "

// isSymbols reports whether the file at a path, with these first bytes, is a symbol file.
func isSymbols(path string, start []byte) bool {
	if bytes.HasPrefix(start, []byte(moduleWord)) {
		return true
	}
	how := packing.Of(start)
	if how == packing.None {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	z, done, err := packing.NewReader(file, how)
	if err != nil {
		return false
	}
	defer done()
	word := make([]byte, len(moduleWord))
	_, err = io.ReadFull(z, word)
	return err == nil && string(word) == moduleWord
}

// addStore adds the symbol files below a directory: a store.
func (f *Finder) addStore(ctx context.Context, dir string) error {
	return f.walk(ctx, dir, func(path string, start []byte) {
		if isSymbols(path, start) {
			f.inputs = append(f.inputs, input{Path: path, Limits: f.Limits, Symbols: true})
		}
	})
}

// symbolTraits returns the traits of a symbol file, which is a module of its own.
func symbolTraits(path string) traits {
	info, err := os.Stat(path)
	if err != nil {
		return traits{err: fmt.Errorf("%s: %w", path, filename.WithoutPath(err))}
	}
	return traits{size: info.Size()}
}

// openSymbols maps the text of a symbol file. One that is packed is unpacked into a file without a name first.
func openSymbols(path string, l limits.Limits) (*held, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, filename.WithoutPath(err)
	}
	defer file.Close()
	start := make([]byte, packing.MagicSize)
	_, err = file.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return nil, filename.WithoutPath(err)
	}
	how := packing.Of(start)
	if how == packing.None {
		m, err := mem.Open(path)
		return &held{file: m}, filename.WithoutPath(err)
	}
	z, done, err := packing.NewReader(file, how)
	if err != nil {
		return nil, err
	}
	defer done()
	return unpackSymbols(z, l)
}

// unpackSymbols is spool for a file of unknown size.
func unpackSymbols(r io.Reader, l limits.Limits) (*held, error) {
	f, err := os.CreateTemp("", "dump_syms-*.sym")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	most := int64(min(l.Max(limitof.FetchedSymbols, 0), math.MaxInt64-1))
	n, err := io.Copy(f, io.LimitReader(r, most+1))
	if err == nil && n > most {
		err = l.Exceeded(limitof.FetchedSymbols, 0)
	}
	if err != nil {
		return nil, err
	}
	m, err := mem.Open(f.Name())
	return &held{file: m}, err
}

// sameSymbols reports whether two symbol files have the same text.
func sameSymbols(a, b *input) (same bool) {
	x, err := openSymbols(a.Path, a.Limits)
	if err != nil {
		return false
	}
	defer x.release()
	y, err := openSymbols(b.Path, b.Limits)
	if err != nil {
		return false
	}
	defer y.release()
	err = mem.Guard(func() error {
		same = bytes.Equal(x.bytes(), y.bytes())
		return nil
	})
	return same && err == nil
}

// maxIdentity bounds the bytes in which the records that identify a module are looked for.
const maxIdentity = 64 << 10

// lintMemory is how many bytes lint takes for each of a symbol file.
const lintMemory = 4

// identifySymbols is identify for a symbol file.
func (j *job) identifySymbols() error {
	opt := &j.b.opt
	path := j.rec.Input
	named := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case opt.ID != "" || opt.Name != "":
		return named(errRenamed)
	case opt.GSYM:
		return named(errText)
	}
	text, err := openSymbols(path, j.mod.Main.Limits)
	if err != nil {
		return named(err)
	}
	defer text.release()
	size := int64(len(text.bytes()))
	err = mem.Guard(func() error { return j.readHead(text.bytes()) })
	if err != nil {
		return named(err)
	}
	j.memory = fileMemory + lintMemory*size
	j.paths, err = j.b.store.Paths(store.Module{Names: []string{j.rec.Name}, ID: j.rec.ID, BuildID: j.rec.CodeID}, store.Symbols)
	if err != nil {
		return named(err)
	}
	j.rec.Outputs = j.paths
	for _, to := range j.paths {
		err = cmp.Or(err, atomicfile.Clobbers(j.b.store.Path(to), nil, path))
	}
	return err
}

// readHead reads what identifies the module.
func (j *job) readHead(text []byte) error {
	rec := &j.rec
	for r, err := range emit.NewReader(text[:min(len(text), maxIdentity)]).Records() {
		if err != nil {
			return fmt.Errorf("%w: %w", errNoModule, err)
		}
		switch r := r.(type) {
		case *emit.Module:
			rec.Name, rec.ID, rec.OS, rec.Arch = r.Name, r.ID, r.OS, r.Arch
			continue
		case *emit.Info:
			if r.Key == emit.KeyCodeID && rec.Name != "" {
				rec.CodeID, _, _ = strings.Cut(r.Text, " ")
			}
		}
		break
	}
	if rec.Name == "" {
		return errNoModule
	}
	return nil
}

// copySymbols puts a symbol file into the store, unless lint refutes it.
func (j *job) copySymbols(ctx context.Context) (r Result, err error) {
	path := j.rec.Input
	text, err := openSymbols(path, j.mod.Main.Limits)
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	defer text.release()
	start := time.Now()
	rep, err := lint.File(text.bytes(), report.Options{Limits: j.mod.Main.Limits, Limit: 1})
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	j.rec.Seconds = &Seconds{Check: time.Since(start).Seconds()}
	j.rec.Findings = rep.Total()
	if len(rep.Findings) > 0 {
		f := rep.Findings[0]
		more := ""
		if rep.Total() > 1 {
			more = fmt.Sprintf("; symcheck lint shows all %s findings", quantity.Number(rep.Total()))
		}
		return r, fmt.Errorf("%s:%s [%s]: %w, and is not stored%s", path, f, f.Check, errRefuted, more)
	}

	start = time.Now()
	write := func(w io.Writer) error {
		return mem.Guard(func() error {
			_, err := w.Write(text.bytes())
			return err
		})
	}
	size, err := j.b.store.Put(j.paths, store.Symbols, write)
	j.rec.SymbolBytes, j.rec.StoredBytes, j.exists = size.Text, size.Stored, size.Existed
	j.rec.Why = size.Why
	j.rec.Seconds.Write = time.Since(start).Seconds()
	if err == nil && j.b.opt.Second != nil {
		err = j.b.opt.Second(ctx, write)
	}
	return r, err
}
