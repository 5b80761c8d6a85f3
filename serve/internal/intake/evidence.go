package intake

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/internal/mem"
	"symkit/internal/spool"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
)

// evidence is the ELF file that a symbol file is compared with.
type evidence struct {
	elf  *gate.ELF // nil: there is none
	size int64     // of its files
	done []func()
}

// close closes the files.
func (e *evidence) close() {
	for _, done := range slices.Backward(e.done) {
		done()
	}
}

// evidence returns the ELF file of a symbol file: that at the paths sent, which came with it, else that of the store, else
// that of a debuginfod server.
func (s *Intake) evidence(ctx context.Context, of gate.Key, sym []byte, sent []string) (e *evidence, err error) {
	e = &evidence{}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	paths, from := sent, "the upload"
	if len(paths) == 0 {
		m, err := moduleOf(sym)
		if err != nil {
			return e, err
		}
		paths, from, err = s.findELF(ctx, m, e)
		if err != nil {
			return e, err
		}
	}
	if len(paths) == 0 {
		return e, nil
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil {
			e.size += info.Size()
		}
	}
	search := companion.Search{}
	if s.Debuginfod != nil {
		search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return s.Debuginfod.Find(ctx, id, debuginfod.DebugInfo)
		}
	}
	m, _, err := companion.Open(ctx, paths, search)
	if err != nil {
		// A damaged ELF file is no reason against a symbol file.
		s.Log(fmt.Errorf("%s %s cannot be compared with the ELF file of %s: %w", of.Name, of.ID, from, err))
		return e, context.Cause(ctx)
	}
	e.done = append(e.done, m.Close)
	e.elf = &gate.ELF{Image: m.Image, Companions: m.Companions, From: from}
	return e, nil
}

// moduleOf returns what the first lines of a symbol file say, in a mapped file.
func moduleOf(sym []byte) (m gate.Module, err error) {
	err = mem.Guard(func() error {
		m, _ = gate.Read(sym)
		return nil
	})
	return m, err
}

// findELF looks for the ELF files of a module in the store, then at debuginfod servers. A symbol file without a build id
// has the ELF file that was sent with the same id.
func (s *Intake) findELF(ctx context.Context, m gate.Module, e *evidence) (paths []string, from string, err error) {
	id, err := hex.DecodeString(m.CodeID)
	hasID := err == nil && len(id) >= 8
	wanted := hex.EncodeToString(id)
	if !hasID {
		wanted = strings.ToLower(m.ID)
	}
	for _, kind := range []string{"executable", "debuginfo"} {
		path, done, err := s.ELFPath(ctx, wanted, kind)
		if depot.Missing(err) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		e.done = append(e.done, done)
		paths = append(paths, path)
		if kind == "executable" && hasDebug(path) {
			break
		}
	}
	if len(paths) > 0 || s.Debuginfod == nil || !hasID {
		return paths, "the store", nil
	}
	for _, kind := range []debuginfod.Kind{debuginfod.Executable, debuginfod.DebugInfo} {
		path, err := s.Debuginfod.Find(ctx, id, kind)
		if err == nil {
			paths = append(paths, path)
			if kind == debuginfod.Executable && hasDebug(path) {
				break
			}
			continue
		}
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log(err) // a server that is down is no reason to take nothing
		}
	}
	return paths, "a debuginfod server", nil
}

// hasDebug reports whether an ELF file has debug information.
func hasDebug(path string) bool {
	f, err := elfx.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".debug_info") != nil
}

// ELFPath returns the path of an ELF file of the store, or of a temporary copy, which done removes.
func (s *Intake) ELFPath(ctx context.Context, id, kind string) (path string, done func(), err error) {
	content, file, err := s.OpenELF(ctx, id, kind)
	if err != nil {
		return "", nil, err
	}
	defer content.Close()
	path = s.Depot.Path(file)
	if path != "" {
		return path, func() {}, nil
	}
	f, err := spool.NewFile(s.Depot.Spool(), s.MaxFile)
	if err == nil {
		err = depot.Copy(f, content, file.Encoding)
	}
	if err != nil && f != nil {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", nil, err
	}
	return f.Path(), func() { f.Close() }, nil
}
