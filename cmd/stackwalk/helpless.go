package main

import (
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/internal/command"
	"symkit/walk"
	"symkit/walk/symbols"
)

// isOther reports whether a file was not used because it is another module's.
func isOther(err error) bool {
	return errors.Is(err, elfx.ErrOtherBuildID) || errors.Is(err, symbols.ErrOtherLayout) || errors.Is(err, symbols.ErrOtherSize)
}

// exeBelongs reports whether the file of --exe belongs to a module.
func (j *job) exeBelongs(res *walk.Result) bool {
	return j.files.ExeError(res.Process.Modules, res.Process.Main) == nil
}

// helpless warns about what the command line gives and what helped nothing. rejected has the paths
// that a warning names already. Of several dumps another one may be helped, and the peers are silent.
func (j *job) helpless(w io.Writer, res *walk.Result, rejected map[string]bool) {
	c := j.c
	if c.outputs != nil || c.Out != "" || c.Worker {
		return
	}
	warn := func(flag, path, reason string) {
		command.Line(w, "stackwalk: warning: %s %s: not used: %s", flag, path, reason)
	}

	if c.Exe != "" && !rejected[c.Exe] {
		err := j.files.ExeError(res.Process.Modules, res.Process.Main)
		if err != nil {
			warn("--exe", c.Exe, "it belongs to no module of the dump: "+err.Error())
		}
	}
	for _, dir := range c.debugDirs {
		if useless(res, dir, rejected) {
			warn("--debug-dir", dir, "it has no file of the modules that were looked for")
		}
	}
	if c.Sysroot != "" && useless(res, c.Sysroot, rejected) {
		warn("--sysroot", c.Sysroot, "it has no file of the modules that were looked for")
	}
	if len(c.PerfMap) > 0 && !namesGenerated(res) {
		warn("--perf-map", strings.Join(c.PerfMap, ", "), "no frame is in its functions")
	}
	if a := c.signer.annotations; a != nil && reflect.ValueOf(*a).IsZero() {
		warn("--annotations", c.Annotations, "it has no annotation that signatures are made of")
	}
}

// useless reports whether files were looked for below dir, and none was there.
func useless(res *walk.Result, dir string, rejected map[string]bool) bool {
	below := func(path string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	for path := range rejected {
		if below(path) {
			return false // a warning has the reason
		}
	}

	asked := false
	for _, syms := range res.Symbols {
		if syms == nil {
			continue
		}
		if slices.ContainsFunc(strings.Split(syms.From, " and "), below) {
			return false
		}
		for _, p := range syms.Tried {
			asked = asked || below(p.Path)
		}
	}
	return asked
}

// namesGenerated reports whether a frame outside of all modules has a name.
func namesGenerated(res *walk.Result) bool {
	for i := range res.Stacks {
		for k := range res.Stacks[i].Frames {
			f := &res.Stacks[i].Frames[k]
			if f.Module == nil && f.Place.Func != "" {
				return true
			}
		}
	}
	return false
}
