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
	"symkit/elfx/debuginfod"
	"symkit/elfx/identity"
	"symkit/internal/command"
	"symkit/limits"
	"symkit/lookup/source"
)

// wantELF describes the file to give, for errors about a file of another kind.
const wantELF = "the path of an ELF program or library"

// open opens the files of the command line as one module. A directory among the
// paths is searched for debug files.
func (c *cli) open(ctx context.Context) (*single.Module, error) {
	info, err := os.Stat(c.Paths[0])
	if err == nil && info.IsDir() && len(c.Paths) == 1 {
		return nil, fmt.Errorf("%s: is a directory; to dump all ELF files below it, give --store DIR and --recursive", c.Paths[0])
	}

	search, noClient := c.search(c.DebugDir)
	search.Alone, search.File = c.Header, c.openFile
	m, warnings, err := companion.Open(ctx, c.Paths, search)
	if err != nil {
		return nil, advised(err)
	}
	in := single.New(m, warnings)
	if noClient != nil && !c.Header {
		in.Warnings = append([]error{noClient}, in.Warnings...)
	}
	return in, nil
}

// search returns where companions are looked for: in dirs and the sysroots; last, on the debuginfod servers of the
// environment. An error is about the servers.
func (c *cli) search(dirs []string) (companion.Search, error) {
	search := companion.Search{DebugDirs: dirs, SplitDirs: c.DWODir, Sysroots: c.Sysroot}
	client, err := c.remote()
	if client != nil {
		search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return client.Find(ctx, id, debuginfod.DebugInfo)
		}
	}
	return search, err
}

// inputs returns the paths that the command line names for reading.
func (c *cli) inputs() []string {
	return append(slices.Clone(c.Paths), c.MappingFile)
}

// advised adds to an error, or a warning, what the user can do.
func advised(err error) error {
	stripped, isStripped := errors.AsType[*single.Stripped](err)
	warning, isWarning := errors.AsType[companion.Warning](err)
	switch {
	case errors.Is(err, companion.ErrNoFile):
		return errors.New("no file among the arguments, only directories; give " + wantELF)
	case errors.Is(err, companion.ErrOther):
		return fmt.Errorf("%w; give --store DIR to dump several", err)
	case isWarning && warning.Problem == companion.Missing:
		return fmt.Errorf("%w; give it, --debug-dir or --sysroot", err)
	case isWarning && warning.Problem == companion.ManyUnused:
		return fmt.Errorf("%w; -v lists them", err)
	case errors.Is(err, companion.ErrOtherBuild):
		return fmt.Errorf("%w; give the debug file of the same build", err)
	case isStripped && stripped.Format != "":
		return fmt.Errorf("%w; compile with -gdwarf", err)
	case isStripped:
		which := ""
		if len(stripped.Places) > single.Shown {
			which = ", which -v lists"
		}
		return fmt.Errorf("%w%s; dump the file as it was before strip, or give its debug file, --debug-dir or --sysroot", err, which)
	case errors.Is(err, identity.ErrNone):
		return fmt.Errorf("%w; give one with --id, or the program that the file belongs to", err)
	}
	return err
}

// openFile opens the ELF file at path or, with --member, a member of the archive
// at path.
func (c *cli) openFile(path string) (*elfx.File, error) {
	open := openELF
	if c.Member != "" {
		open = c.openMember
	}
	f, err := open(path)
	if errors.Is(err, elfx.ErrNotELF) {
		err = command.OtherKind(err, wantELF)
	}
	return f, command.Unreadable("", path, err, wantELF)
}

// openMember opens the member of the archive or package at path that --member names.
func (c *cli) openMember(path string) (*elfx.File, error) {
	if pkg.IsFile(path, limits.Limits{}) {
		return pkg.OpenMember(path, c.Member, limits.Limits{})
	}
	f, err := archive.OpenMember(path, c.Member)
	if errors.Is(err, archive.ErrNotArchive) {
		err = fmt.Errorf("%w; leave out --member, or give an archive", err)
	}
	return f, err
}

// openELF opens the ELF file at path, which may be compressed. The error for an archive or a package lists its members.
func openELF(path string) (*elfx.File, error) {
	f, err := pkg.Open(path, elfx.Options{})
	if !errors.Is(err, elfx.ErrNotELF) {
		return f, err
	}
	if pkg.IsFile(path, limits.Limits{}) {
		names, err := pkg.Names(path, maxNames, limits.Limits{})
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: is a package; give --store DIR, or choose with --member one of: %s", path, strings.Join(names, ", "))
	}
	names, damage := members(path)
	switch {
	case names != "":
		return nil, fmt.Errorf("%s: is an archive; choose with --member one of: %s", path, names)
	case damage != nil && !errors.Is(damage, archive.ErrNotArchive):
		return nil, damage
	}
	return nil, err
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

// openSources opens the directories of --source-dir: DIR, or PREFIX=DIR. Without --with-sources there are none.
func (c *cli) openSources() (*source.Dirs, error) {
	if !c.Sources {
		return nil, nil
	}
	dirs, err := source.Open(source.ParseDirs(c.SourceDir))
	if err != nil {
		return nil, fmt.Errorf("--source-dir: %w", err)
	}
	return dirs, nil
}
