package elfx

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Why a file is not the companion that was looked for. A Probe's error wraps
// one of these, fs.ErrNotExist, or the error of opening it.
var (
	ErrSameFile      = errors.New("is the file itself")
	ErrOtherBuildID  = errors.New("build id differs")
	ErrOtherChecksum = errors.New("checksum differs from .gnu_debuglink")
	ErrOtherSup      = errors.New("checksum differs from .debug_sup")
	ErrOtherMachine  = errors.New("machine, class or byte order differs")
)

// Probe is one place where a companion was looked for.
type Probe struct {
	Path string
	Err  error // nil: this file was taken. It does not repeat Path.
	// What was looked for there: one of the constants.
	What Companion
}

// Companion is a kind of companion, in words.
type Companion string

// What companions there are.
const (
	DebugFile Companion = "debug file"
	AltFile   Companion = "supplementary file"
	SplitFile Companion = "split DWARF file"
	Package   Companion = "split DWARF package"
)

// Rejected tells whether there was a file, but not the right one: worth a
// warning, where one that is not there is not.
func (p Probe) Rejected() bool {
	return p.Err != nil && !errors.Is(p.Err, os.ErrNotExist) && !errors.Is(p.Err, ErrSameFile)
}

// FindDebug is Places.FindDebug with directories of debug files alone.
func (f *File) FindDebug(dirs []string) (*File, []Probe) {
	return (&Places{DebugDirs: dirs}).FindDebug(f)
}

// FindDebug looks for f's separate debug file, in GDB's order and then where
// Breakpad looks: DIR/.build-id/xx/yyyy.debug for each directory of debug files;
// with a .gnu_debuglink NAME the file's directory, its .debug/, the file's
// directory mirrored under each of those directories, and DIR/NAME; then
// Fetch. A build-id candidate must have f's build id; a linked one must have the
// link's checksum and no other build id. The File is nil when there is none; the
// caller closes it. The probes tell every place in order.
func (p *Places) FindDebug(f *File) (*File, []Probe) {
	s := &search{file: f, what: DebugFile}
	sameID := func(c *File) error { return acceptBuildID(c, f.buildID) }
	if found := s.first(p.buildIDPaths(f.buildID), sameID); found != nil {
		return found, s.probes
	}
	link, err := f.DebugLink()
	if err != nil {
		s.probes = append(s.probes, Probe{f.path, errors.Unwrap(err), s.what})
	}
	if link.Name != "" {
		accept := func(c *File) error { return f.acceptLinked(c, link.CRC) }
		if found := s.first(p.linkPaths(f, link.Name), accept); found != nil {
			return found, s.probes
		}
	}
	return s.fetch(p, f.buildID), s.probes
}

// FindAlt looks for the file that f's .gnu_debugaltlink or .debug_sup names: at
// its path, in the .dwz directories and build-id directories of debug files,
// and with Fetch. It must have the link's build id or checksum. The File is nil
// when there is none; the caller closes it.
func (p *Places) FindAlt(f *File) (*File, []Probe) {
	s := &search{file: f, what: AltFile}
	link, err := f.AltLink()
	if err != nil {
		return nil, []Probe{{f.path, errors.Unwrap(err), s.what}}
	}
	if link.Path == "" {
		return nil, nil
	}
	if found := s.first(p.altPaths(f, link), link.accept); found != nil || link.Sup {
		return found, s.probes
	}
	return s.fetch(p, link.ID), s.probes
}

// search collects the probes of looking for one companion of a file.
type search struct {
	file   *File
	what   Companion
	probes []Probe
}

// first opens the first of the paths that accept accepts, each once.
func (s *search) first(paths []string, accept func(*File) error) *File {
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
func (s *search) fetch(p *Places, id []byte) *File {
	if p.Fetch == nil || len(id) == 0 {
		return nil
	}
	path, err := p.Fetch(id)
	if err != nil {
		s.probes = append(s.probes, Probe{"debuginfod", err, s.what})
		return nil
	}
	return s.first([]string{path}, func(c *File) error { return acceptBuildID(c, id) })
}

func (s *search) open(path string, accept func(*File) error) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if own := s.file.Info(); own != nil && os.SameFile(own, info) {
		return nil, ErrSameFile
	}
	c, err := open(path)
	if err != nil {
		return nil, err
	}
	if !s.file.sameMachine(c) {
		err = ErrOtherMachine
	} else {
		err = accept(c)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (f *File) sameMachine(g *File) bool {
	return f.Class == g.Class && f.BigEndian == g.BigEndian && f.Machine == g.Machine
}

func acceptBuildID(c *File, id []byte) error {
	if !bytes.Equal(c.buildID, id) {
		return fmt.Errorf("%w: %x, not %x", ErrOtherBuildID, c.buildID, id)
	}
	return nil
}

func (f *File) acceptLinked(c *File, want uint32) error {
	if f.buildID != nil && c.buildID != nil {
		if err := acceptBuildID(c, f.buildID); err != nil {
			return err
		}
	}
	sum, err := c.checksum()
	if err == nil && sum != want {
		err = fmt.Errorf("%w: %08x, not %08x", ErrOtherChecksum, sum, want)
	}
	return err
}

// directories is the absolute directory of the file, as it was named and with
// symbolic links resolved: /lib/x and /usr/lib/x have one debug file.
func (f *File) directories() []string {
	abs, err := filepath.Abs(f.filePath())
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
func (f *File) filePath() string {
	if f.archive != "" {
		return f.archive
	}
	return f.path
}

// dir is the directory of the file as it was named.
func (f *File) dir() string { return filepath.Dir(f.filePath()) }
