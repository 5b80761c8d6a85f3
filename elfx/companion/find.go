package companion

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"symkit/elfx"
)

// Why a file is not the companion that was looked for. A Probe's error wraps
// one of these, elfx.ErrOtherBuildID, elfx.ErrOtherSup, elfx.ErrOtherMachine,
// fs.ErrNotExist, or the error of opening it.
var (
	ErrSameFile      = errors.New("is the file itself")
	ErrOtherChecksum = errors.New("checksum differs from .gnu_debuglink")
)

// Probe is one place where a companion was looked for.
type Probe struct {
	Path string
	Err  error // nil: this file was taken. It does not repeat Path.
	// What was looked for there: one of the constants.
	What Kind
}

// Kind is a kind of companion, in words.
type Kind string

// What companions there are.
const (
	DebugFile Kind = "debug file"
	AltFile   Kind = "supplementary file"
	SplitFile Kind = "split DWARF file"
	Package   Kind = "split DWARF package"
)

// Rejected reports whether there was a file, but not the right one: worth a
// warning, where one that is not there is not.
func (p Probe) Rejected() bool {
	return p.Err != nil && !errors.Is(p.Err, os.ErrNotExist) && !errors.Is(p.Err, ErrSameFile)
}

// FindDebug looks for f's separate debug file, in GDB's order and then where
// Breakpad looks: DIR/.build-id/xx/yyyy.debug for each directory of debug files;
// with a .gnu_debuglink NAME the file's directory, its .debug/, the file's
// directory mirrored under each of those directories, and DIR/NAME; then
// Fetch. A build-id candidate must have f's build id; a linked one must have the
// link's checksum and no other build id. The File is nil when there is none; the
// caller closes it. The probes tell every place in order.
func (p *Places) FindDebug(f *elfx.File) (*elfx.File, []Probe) {
	s := &search{file: f, what: DebugFile}
	id := f.BuildID()
	sameID := func(c *elfx.File) error { return c.MatchBuildID(id) }
	if found := s.first(p.buildIDPaths(id), sameID); found != nil {
		return found, s.probes
	}
	link, err := f.DebugLink()
	if err != nil {
		s.probes = append(s.probes, Probe{f.Path(), errors.Unwrap(err), s.what})
	}
	if link.Name != "" {
		accept := func(c *elfx.File) error { return acceptLinked(f, c, link.CRC) }
		if found := s.first(p.linkPaths(f, link.Name), accept); found != nil {
			return found, s.probes
		}
	}
	return s.fetch(p, id), s.probes
}

// FindAlt looks for the file that f's .gnu_debugaltlink or .debug_sup names: at
// its path, in the .dwz directories and build-id directories of debug files,
// and with Fetch. It must have the link's build id or checksum. The File is nil
// when there is none; the caller closes it.
func (p *Places) FindAlt(f *elfx.File) (*elfx.File, []Probe) {
	s := &search{file: f, what: AltFile}
	link, err := f.AltLink()
	if err != nil {
		return nil, []Probe{{f.Path(), errors.Unwrap(err), s.what}}
	}
	if link.Path == "" {
		return nil, nil
	}
	if found := s.first(p.altPaths(f, link), link.Match); found != nil || link.Sup {
		return found, s.probes
	}
	return s.fetch(p, link.ID), s.probes
}

// search collects the probes of looking for one companion of a file.
type search struct {
	file   *elfx.File
	what   Kind
	probes []Probe
}

// first opens the first of the paths that accept accepts, each once.
func (s *search) first(paths []string, accept func(*elfx.File) error) *elfx.File {
	for _, path := range paths {
		if slices.ContainsFunc(s.probes, func(p Probe) bool { return p.Path == path }) {
			continue
		}
		found, err := s.open(path, accept)
		s.probes = append(s.probes, Probe{path, err, s.what})
		if found != nil {
			return found
		}
	}
	return nil
}

// fetch asks for the file with a build id from elsewhere.
func (s *search) fetch(p *Places, id []byte) *elfx.File {
	if p.Fetch == nil || len(id) == 0 {
		return nil
	}
	path, err := p.Fetch(id)
	if err != nil {
		s.probes = append(s.probes, Probe{"debuginfod", err, s.what})
		return nil
	}
	return s.first([]string{path}, func(c *elfx.File) error { return c.MatchBuildID(id) })
}

func (s *search) open(path string, accept func(*elfx.File) error) (*elfx.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if own := s.file.Info(); own != nil && os.SameFile(own, info) {
		return nil, ErrSameFile
	}
	return openFor(s.file, path, accept)
}

// openFor opens the file at path, which must be for the machine of f and be
// accepted. Its error does not repeat the path.
func openFor(f *elfx.File, path string, accept func(*elfx.File) error) (*elfx.File, error) {
	c, err := elfx.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err) // without the path
	}
	if err = elfx.ErrOtherMachine; c.SameMachine(f) {
		err = accept(c)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// acceptLinked returns an error if c is not the file that f's .gnu_debuglink
// means.
func acceptLinked(f, c *elfx.File, want uint32) error {
	if own := f.BuildID(); own != nil && c.BuildID() != nil {
		if err := c.MatchBuildID(own); err != nil {
			return err
		}
	}
	sum := crc32.NewIEEE()
	if _, err := c.WriteTo(sum); err != nil {
		return errors.Unwrap(err) // without the path
	}
	if sum.Sum32() != want {
		return fmt.Errorf("%w: %08x, not %08x", ErrOtherChecksum, sum.Sum32(), want)
	}
	return nil
}

// withoutPath removes the path from a system error.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// directories are the absolute directories of the file, as it was named and with
// symbolic links resolved: /lib/x and /usr/lib/x have one debug file.
func directories(f *elfx.File) []string {
	abs, err := filepath.Abs(filePath(f))
	if err != nil {
		return nil // no working directory: nothing is relative to it
	}
	dirs := []string{filepath.Dir(abs)}
	if real, err := filepath.EvalSymlinks(abs); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}

// filePath is the path of the file, or of the archive that it is in.
func filePath(f *elfx.File) string { return cmp.Or(f.Archive(), f.Path()) }

// dir is the directory of the file as it was named.
func dir(f *elfx.File) string { return filepath.Dir(filePath(f)) }
