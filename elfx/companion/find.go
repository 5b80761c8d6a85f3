package companion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"symkit/elfx"
)

// Reasons for which a file is not the companion. The error of a Probe wraps one of
// these, elfx.ErrOtherBuildID, errOtherSup, elfx.ErrOtherMachine,
// fs.ErrNotExist, or the error of opening the file.
var (
	errSameFile      = errors.New("is the file itself")
	errOtherChecksum = errors.New("checksum differs from .gnu_debuglink")
)

// Probe is one place that was searched for a companion.
type Probe struct {
	Path string
	Err  error // nil: the file is the companion. Err does not repeat Path.
	// What is the kind of companion that was searched for.
	What Kind
}

// Kind is a kind of companion, in words.
type Kind string

// The kinds of companions.
const (
	DebugFile Kind = "debug file"
	altFile   Kind = "supplementary file"
	splitFile Kind = "split DWARF file"
	Package   Kind = "split DWARF package"
)

// Rejected reports whether the place has a file, but not the companion. That deserves a
// warning; a place without a file does not.
func (p Probe) Rejected() bool {
	return p.Err != nil && !errors.Is(p.Err, os.ErrNotExist) && !errors.Is(p.Err, syscall.ENOTDIR) && !errors.Is(p.Err, errSameFile)
}

// FindDebug searches for f's separate debug file in these places: GDB's, in GDB's
// order, then Breakpad's, then Fetch.
//
//   - DIR/.build-id/xx/yyyy.debug for each directory of debug files. The file must have
//     f's build id.
//   - With NAME in .gnu_debuglink: f's directory, its .debug/, f's directory mirrored
//     below each DIR, and DIR/NAME. The file must have the link's checksum and no other
//     build id.
//
// The File is nil if there is no such file; the caller closes it. The probes are all
// places in order.
func (p *Search) FindDebug(ctx context.Context, f *elfx.File) (*elfx.File, []Probe) {
	// The build id identifies the file on its own, so its paths come first.
	s := &attempt{file: f, what: DebugFile}
	id := f.BuildID()
	sameID := func(c *elfx.File) error { return c.MatchBuildID(id) }
	found := s.first(p.BuildIDPaths(id, debugSuffix), sameID)
	if found != nil {
		return found, s.probes
	}

	// Then the paths of the debug link, which has a checksum.
	link, err := readDebugLink(f)
	if err != nil {
		s.probes = append(s.probes, Probe{f.Path(), errors.Unwrap(err), s.what})
	}
	if link.Name != "" {
		accept := func(c *elfx.File) error { return acceptLinked(f, c, link.CRC) }
		if found := s.first(p.linkPaths(f, link.Name), accept); found != nil {
			return found, s.probes
		}
	}
	return s.fetch(ctx, p, id), s.probes
}

// findAlt searches for the file that f's .gnu_debugaltlink or .debug_sup names: at the
// path in the link, in the .dwz and build-id directories of the directories of debug
// files, then with Fetch. The file must have the link's build id or checksum. The File
// is nil if there is no such file; the caller closes it.
func (p *Search) findAlt(ctx context.Context, f *elfx.File) (*elfx.File, []Probe) {
	s := &attempt{file: f, what: altFile}
	link, err := ReadAltLink(f)
	if err != nil {
		return nil, []Probe{{f.Path(), errors.Unwrap(err), s.what}}
	}
	if link.Path == "" {
		return nil, nil
	}

	// Servers know build ids, but not the checksum of .debug_sup.
	if found := s.first(p.altPaths(f, link), link.match); found != nil || link.Sup {
		return found, s.probes
	}
	return s.fetch(ctx, p, link.ID), s.probes
}

// attempt searches for one companion of a file and collects the probes.
type attempt struct {
	file   *elfx.File
	what   Kind
	own    bool // the file itself can be the companion
	probes []Probe
}

// first opens the first of the paths that accept accepts. Each path is tried once.
func (s *attempt) first(paths []string, accept func(*elfx.File) error) *elfx.File {
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

// fetch gets the file with a build id from Search.Open or Search.Fetch.
func (s *attempt) fetch(ctx context.Context, p *Search, id []byte) *elfx.File {
	if p.Open != nil && len(id) > 0 {
		f := p.Open(id)
		if f != nil && f.MatchBuildID(id) == nil && f.SameMachine(s.file) {
			s.probes = append(s.probes, Probe{f.Path(), nil, s.what})
			return f
		}
		if f != nil {
			f.Close()
		}
	}
	if p.Fetch == nil || len(id) == 0 {
		return nil
	}
	path, err := p.Fetch(ctx, id)
	if err != nil {
		s.probes = append(s.probes, Probe{"debuginfod", err, s.what})
		return nil
	}
	return s.first([]string{path}, func(c *elfx.File) error { return c.MatchBuildID(id) })
}

// open opens the file at path, which must be for the machine of s.file and be accepted.
// The error does not repeat the path.
func (s *attempt) open(path string, accept func(*elfx.File) error) (*elfx.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Unwrap(err) // without the path
	}

	// A debug link can lead back to the file itself, which is not its own debug file.
	itself := s.file.Info()
	if !s.own && itself != nil && os.SameFile(itself, info) {
		return nil, errSameFile
	}

	c, err := s.file.Options().Open(path)
	if err != nil {
		return nil, errors.Unwrap(err) // without the path
	}
	err = elfx.ErrOtherMachine
	if c.SameMachine(s.file) {
		err = accept(c)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// acceptLinked returns an error if c is not the file that f's .gnu_debuglink names, whose
// CRC-32 is want.
func acceptLinked(f, c *elfx.File, want uint32) error {
	// Build ids are compared first: they are known, while the checksum needs all bytes.
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
		return fmt.Errorf("%w: %08x, not %08x", errOtherChecksum, sum.Sum32(), want)
	}
	return nil
}

// directories returns the absolute directories of the path of f, unresolved and with
// symbolic links resolved: /lib/x and /usr/lib/x have one debug file.
func directories(f *elfx.File) []string {
	abs, err := filepath.Abs(filePath(f))
	if err != nil {
		return nil // there is no working directory
	}

	// The real directory counts too if the path has symbolic links.
	dirs := []string{filepath.Dir(abs)}
	if real, err := filepath.EvalSymlinks(abs); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}

// filePath returns the path of f, or of the archive that contains f.
func filePath(f *elfx.File) string { return cmp.Or(f.Archive(), f.Path()) }

// dir returns the directory of filePath.
func dir(f *elfx.File) string { return filepath.Dir(filePath(f)) }
