package elfx

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// DefaultDebugDir is where distributions install separate debug files.
const DefaultDebugDir = "/usr/lib/debug"

// Why a file is not the companion that was looked for. A Probe's error wraps
// one of these, fs.ErrNotExist, or the error of opening it.
var (
	ErrSameFile      = errors.New("is the file itself")
	ErrOtherBuildID  = errors.New("build id differs")
	ErrOtherChecksum = errors.New("checksum differs from .gnu_debuglink")
	ErrOtherMachine  = errors.New("machine, class or byte order differs")
)

// Probe is one place where a companion was looked for.
type Probe struct {
	Path string
	Err  error // nil: this file was taken. It does not repeat Path.
}

// Rejected tells whether there was a file, but not the right one: worth a
// warning, where one that is not there is not.
func (p Probe) Rejected() bool {
	return p.Err != nil && !errors.Is(p.Err, os.ErrNotExist) && !errors.Is(p.Err, ErrSameFile)
}

// FindDebug looks for f's separate debug file, in GDB's order and then where
// Breakpad looks: DIR/.build-id/xx/yyyy.debug for each of dirs; with a
// .gnu_debuglink NAME the file's directory, its .debug/, the file's directory
// mirrored under each of dirs, and DIR/NAME. A build-id candidate must have
// f's build id; a linked one must have the link's checksum and no other build
// id. The File is nil when there is none; the caller closes it. The probes
// tell every place in order.
func (f *File) FindDebug(dirs []string) (*File, []Probe) {
	s := &search{file: f}
	if found := s.byBuildID(dirs, f.buildID); found != nil {
		return found, s.probes
	}
	link, err := f.DebugLink()
	if err != nil {
		s.probes = append(s.probes, Probe{f.path, errors.Unwrap(err)})
	}
	if link.Name == "" {
		return nil, s.probes
	}
	accept := func(c *File) error { return f.acceptLinked(c, link.CRC) }
	for _, path := range f.linkPaths(link.Name, dirs) {
		if found := s.try(path, accept); found != nil {
			return found, s.probes
		}
	}
	return nil, s.probes
}

// FindAlt looks for the file that f's .gnu_debugaltlink names: at its path, in
// the build-id directories, and in DIR/.dwz. It must have the link's build id.
// The File is nil when there is none; the caller closes it.
func (f *File) FindAlt(dirs []string) (*File, []Probe) {
	s := &search{file: f}
	link, err := f.AltLink()
	if err != nil {
		return nil, []Probe{{f.path, errors.Unwrap(err)}}
	}
	if link.Path == "" {
		return nil, nil
	}
	var paths []string
	if filepath.IsAbs(link.Path) {
		paths = append(paths, link.Path)
	} else {
		for _, dir := range f.directories() {
			paths = append(paths, filepath.Join(dir, link.Path))
		}
	}
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, ".dwz", filepath.Base(link.Path)))
	}
	for _, path := range paths {
		if found := s.try(path, func(c *File) error { return acceptBuildID(c, link.BuildID) }); found != nil {
			return found, s.probes
		}
	}
	return s.byBuildID(dirs, link.BuildID), s.probes
}

// search collects the probes of looking for one companion.
type search struct {
	file   *File
	probes []Probe
}

// byBuildID looks into the build-id directories (GDB manual, "Separate Debug
// Files").
func (s *search) byBuildID(dirs []string, id []byte) *File {
	if len(id) < 2 {
		return nil
	}
	name := hex.EncodeToString(id)
	for _, dir := range dirs {
		path := filepath.Join(dir, ".build-id", name[:2], name[2:]+".debug")
		if found := s.try(path, func(c *File) error { return acceptBuildID(c, id) }); found != nil {
			return found
		}
	}
	return nil
}

// try opens path, unless it was tried before, and keeps what accept accepts.
func (s *search) try(path string, accept func(*File) error) *File {
	if slices.ContainsFunc(s.probes, func(p Probe) bool { return p.Path == path }) {
		return nil
	}
	found, err := s.open(path, accept)
	s.probes = append(s.probes, Probe{path, err})
	return found
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

// linkPaths lists where the file of a debug link may be.
func (f *File) linkPaths(name string, dirs []string) (paths []string) {
	own := f.directories()
	for _, dir := range own {
		paths = append(paths, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
	}
	for _, debugDir := range dirs {
		for _, dir := range own {
			inside := dir[len(filepath.VolumeName(dir)):]
			paths = append(paths, filepath.Join(debugDir, inside, name))
		}
	}
	for _, debugDir := range dirs {
		paths = append(paths, filepath.Join(debugDir, name))
	}
	return paths
}

// directories is the absolute directory of the file, as it was named and with
// symbolic links resolved: /lib/x and /usr/lib/x have one debug file.
func (f *File) directories() []string {
	path := f.path
	if f.archive != "" {
		path = f.archive
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil // no working directory: nothing is relative to it
	}
	dirs := []string{filepath.Dir(abs)}
	if real, err := filepath.EvalSymlinks(abs); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}
