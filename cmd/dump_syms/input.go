package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"symkit/dump/single"
	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/elfx/archive/pkg"
	"symkit/elfx/companion"
	"symkit/elfx/identity"
	"symkit/internal/command"
	"symkit/limits"
)

// wantELF describes the file to give, for errors about a file of another kind.
const wantELF = "the path of an ELF program or library"

// open opens the files of the command line as one module. A directory among the
// paths is searched for debug files. Two files are one module if one of them is
// the other's debug file.
func (c *cli) open(ctx context.Context) (*single.Module, error) {
	dirs := c.DebugDir
	var files []*elfx.File
	for _, path := range c.Paths {
		// elfx.Open explains whatever is wrong with a path, so that an error of Stat is not needed.
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if len(c.Paths) == 1 {
				return nil, fmt.Errorf("%s: is a directory; to dump all ELF files below it, give --store DIR and --recursive", path)
			}
			dirs = append(dirs, path)
			continue
		}

		f, err := c.openFile(path)
		if err != nil {
			closeAll(files)
			if errors.Is(err, elfx.ErrNotELF) {
				err = command.OtherKind(err, wantELF)
			}
			return nil, command.Unreadable("", path, err, wantELF)
		}
		files = append(files, f)
	}
	return c.assemble(ctx, files, dirs)
}

// inputs returns the paths that the command line names for reading.
func (c *cli) inputs() []string {
	return append(slices.Clone(c.Paths), c.MappingFile)
}

// assemble makes one module of the files and their companions, which are looked
// for in dirs.
func (c *cli) assemble(ctx context.Context, files []*elfx.File, dirs []string) (*single.Module, error) {
	var places *companion.Places
	var noClient error
	if !c.Header {
		places, noClient = c.places(ctx, dirs)
	}
	m, err := single.Join(files, places)
	if err == nil && noClient != nil {
		m.Warnings = append([]error{noClient}, m.Warnings...)
	}
	return m, advised(err)
}

// advised adds to an error, or a warning, what the user can do.
func advised(err error) error {
	stripped, isStripped := errors.AsType[*single.Stripped](err)
	switch {
	case errors.Is(err, single.ErrNoFile):
		return errors.New("no file among the arguments, only directories; give " + wantELF)
	case errors.Is(err, single.ErrOther):
		return fmt.Errorf("%w; give --store DIR to dump several", err)
	case errors.Is(err, single.ErrOtherBuild):
		return fmt.Errorf("%w; give the debug file of the same build", err)
	case errors.Is(err, single.ErrNoDebugFile):
		return fmt.Errorf("%w; give it, --debug-dir or --sysroot", err)
	case errors.Is(err, single.ErrManyUnused):
		return fmt.Errorf("%w; -v lists them", err)
	case isStripped:
		which := ""
		if len(stripped.Places) > single.Shown {
			which = ", which -v lists"
		}
		return fmt.Errorf("%w%s; dump the file as it was before strip, or give its debug file, --debug-dir or --sysroot", err, which)
	case errors.Is(err, identity.ErrNone):
		return fmt.Errorf("%w; give one with --id", err)
	}
	return err
}

// openFile opens the ELF file at path or, with --member, a member of the archive
// at path. The error for an archive without --member lists its members.
func (c *cli) openFile(path string) (*elfx.File, error) {
	if c.Member != "" {
		if pkg.IsFile(path, limits.Limits{}) {
			return pkg.OpenMember(path, c.Member, limits.Limits{})
		}
		f, err := archive.OpenMember(path, c.Member)
		if errors.Is(err, archive.ErrNotArchive) {
			err = fmt.Errorf("%w; leave out --member, or give an archive", err)
		}
		return f, err
	}

	f, err := elfx.Open(path)
	if errors.Is(err, elfx.ErrNotELF) && pkg.IsFile(path, limits.Limits{}) {
		names, err := pkg.Names(path, maxNames, limits.Limits{})
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: is a package; give --store DIR, or choose with --member one of: %s", path, strings.Join(names, ", "))
	}
	if errors.Is(err, elfx.ErrNotELF) {
		names, damage := members(path)
		switch {
		case names != "":
			return nil, fmt.Errorf("%s: is an archive; choose with --member one of: %s", path, names)
		case damage != nil && !errors.Is(damage, archive.ErrNotArchive):
			return nil, damage
		}
	}
	return f, err
}

// maxNames is how many members of an archive an error names.
const maxNames = 20

// members returns the names of the first maxNames ELF files in an archive and the first
// error of reading the archive.
func members(path string) (text string, first error) {
	var names []string
	for m, err := range archive.Members(path) {
		switch {
		case err == nil && len(names) < maxNames:
			names = append(names, m.Name)
		case first == nil:
			first = err
		}
	}
	return strings.Join(names, ", "), first
}

func closeAll(files []*elfx.File) {
	for _, f := range files {
		f.Close()
	}
}
