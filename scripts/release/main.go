// Command release makes the files of a release of symkit, for all systems, in one run
// on any system with Go and git: archives, packages of Debian and RPM, a container
// image, a Homebrew formula, a bill of materials, SHA256SUMS. See docs/releases.md.
//
// The files depend on the commit and the version of Go alone. So the programs are
// built without paths (-trimpath), every file has the date of the commit, lists are
// sorted, and nothing is read from the machine. The steps are functions of values:
//
//	newSource   the commit → version, date
//	build       source, target → the programs
//	newTree     programs, manual pages, completions, licences → files of an installation
//	archive, linuxPackages, image, formula, bill   trees → files of the release
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"
)

type cli struct {
	Root   string   `default:"." placeholder:"DIR" help:"The checkout of symkit. Default: the current directory."`
	Out    string   `default:"dist" placeholder:"DIR" help:"Write the files into DIR, which is emptied. Default: dist."`
	Target []string `placeholder:"OS/ARCH" help:"Only this system, as in linux/amd64. May be repeated. Default: all."`
	URL    string   `name:"url" placeholder:"URL" help:"Where the files of the release will be, for the Homebrew formula."`
	Dirty  bool     `help:"Accept a checkout with changes; their files have the version of the commit with +dirty."`
	Fast   bool     `help:"Build without the profile: half of the time, for tests of the release itself."`
}

func main() {
	var c cli
	kong.Parse(&c, kong.Name("release"), kong.Description("Make the files of a release."))

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := c.run(ctx)
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: error: %v\n", err)
		os.Exit(1)
	}
}

// step prints the current step, with the seconds since the start.
func step(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%5.0f s  %s\n", time.Since(started).Seconds(), fmt.Sprintf(format, args...))
}

var started = time.Now()

func (c *cli) run(ctx context.Context) error {
	chosen, err := chooseTargets(c.Target)
	if err != nil {
		return err
	}
	src, err := newSource(ctx, c.Root, c.Dirty)
	if err != nil {
		return err
	}
	src.fast = c.Fast
	step("symkit %s, commit %.12s, %s, %s", src.version, src.commit, src.date.Format(time.RFC3339), src.goVersion)

	// Files of the last release must not get into SHA256SUMS.
	err = errors.Join(os.RemoveAll(c.Out), os.MkdirAll(c.Out, 0o777))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "symkit-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	step("manual pages, completions, licences")
	shared, err := newShared(ctx, src, work)
	if err != nil {
		return err
	}

	// Each target: programs, then the archive, then packages.
	var archives []archiveFile
	var builds []builtTarget
	for _, t := range chosen {
		step("%s", t)
		b, err := build(ctx, src, t, filepath.Join(work, t.name()))
		if err != nil {
			return err
		}
		tree := newTree(src, shared, b)
		path, err := writeArchive(c.Out, src, t, tree)
		if err != nil {
			return err
		}
		err = linuxPackages(c.Out, src, t, tree)
		if err != nil {
			return err
		}
		archives = append(archives, archiveFile{target: t, path: path})
		builds = append(builds, b)
	}

	step("container image, formula, bill of materials, SHA256SUMS")
	return errors.Join(
		writeImage(c.Out, src, shared, builds),
		writeFormula(c.Out, src, c.URL, archives),
		writeBill(c.Out, src, shared, builds),
		writeSums(c.Out),
	)
}
