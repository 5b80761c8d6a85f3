package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"symkit/elfx"
	"symkit/internal/command"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// isOther reports whether a file was not used because it is another module's.
func isOther(err error) bool {
	return errors.Is(err, elfx.ErrOtherBuildID) || errors.Is(err, sources.ErrOtherLayout) || errors.Is(err, sources.ErrOtherSize)
}

// exeBelongs reports whether the file of --exe belongs to a module.
func (j *job) exeBelongs(res *walk.Result) bool {
	return j.files.ExeError(res.Process.Modules, res.Process.Main) == nil
}

// given is a flag with a path, and why it helped nothing in a dump; empty: it helped.
type given struct{ flag, path, reason string }

// sums counts, over many dumps, what the command line gives and what helped nothing.
type sums struct {
	mu      sync.Mutex
	dumps   int
	useless map[string]given // by flag and path, with the reason of the last dump
	helped  map[string]bool  // by flag and path
}

func (g *given) key() string { return g.flag + " " + g.path }

// helpless warns about what the command line gives and what helped nothing. rejected has the paths
// that a warning names already. Of several dumps another one may be helped: they are counted. The
// peers are silent.
func (j *job) helpless(w io.Writer, res *walk.Result, rejected map[string]bool) {
	c := j.c
	if c.other != nil {
		return
	}
	all := j.given(res, rejected)
	if c.many() {
		c.helped.add(all)
		return
	}
	for _, g := range all {
		if g.reason != "" {
			command.Line(w, "stackwalk: warning: %s: not used: %s", g.key(), g.reason)
		}
	}
}

// many reports whether the command line is about more than one dump.
func (c *cli) many() bool { return c.Out != "" || c.Worker }

// given returns what helped in a dump, and what did not though it could have.
func (j *job) given(res *walk.Result, rejected map[string]bool) (out []given) {
	c := j.c
	add := func(flag, path, reason string, useless bool) {
		if !useless {
			reason = ""
		}
		out = append(out, given{flag, path, reason})
	}

	// The warnings about each of many dumps do not say that none was helped.
	if c.Exe != "" && (c.many() || !rejected[c.Exe]) {
		err := j.files.ExeError(res.Process.Modules, res.Process.Main)
		add("--exe", c.Exe, fmt.Sprintf("it belongs to no module of the dump: %v", err), err != nil)
	}
	if c.many() {
		strangers := c.strangers(res)
		for _, path := range c.Symbols {
			add("--symbols", path, "the dump has no module of its name and id", slices.Contains(strangers, path))
		}
	}
	const noFile = "it has no file of the modules that were looked for"
	for i, dir := range slices.Concat(c.DebugDir, c.Sysroot) {
		flag := "--debug-dir"
		if i >= len(c.DebugDir) {
			flag = "--sysroot"
		}
		asked, used := below(res, dir, rejected)
		if asked || used {
			add(flag, dir, noFile, !used)
		}
	}
	if len(c.PerfMap) > 0 {
		add("--perf-map", strings.Join(c.PerfMap, ", "), "no frame is in its functions", !namesGenerated(res))
	}
	if a := c.signer.annotations; a != nil {
		add("--annotations", c.Annotations, "it has no annotation that signatures are made of", reflect.ValueOf(*a).IsZero())
	}
	return out
}

// add counts a dump.
func (s *sums) add(all []given) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dumps++
	if s.helped == nil {
		s.helped, s.useless = map[string]bool{}, map[string]given{}
	}
	for _, g := range all {
		if g.reason == "" {
			s.helped[g.key()] = true
		} else {
			s.useless[g.key()] = g
		}
	}
}

// tell warns about what helped no dump.
func (s *sums) tell(w io.Writer) {
	for _, key := range slices.Sorted(maps.Keys(s.useless)) {
		if s.helped[key] {
			continue
		}
		text := fmt.Sprintf("it helped none of %d dumps", s.dumps)
		if s.dumps == 1 {
			text = s.useless[key].reason
		}
		command.Line(w, "stackwalk: warning: %s: not used: %s", key, text)
	}
}

// strangers returns the symbol files of --symbols that are of none of the modules in the dump.
func (c *cli) strangers(res *walk.Result) (out []string) {
	for _, path := range c.Symbols {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if len(res.Process.Modules) > 0 && sources.FileIsOfOthers(path, res.Process.Modules) {
			out = append(out, path)
		}
	}
	return out
}

// below reports whether files were looked for below dir, and whether one was used. A file that a
// warning names counts as used.
func below(res *walk.Result, dir string, rejected map[string]bool) (asked, used bool) {
	below := func(path string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	for path := range rejected {
		if below(path) {
			return true, true
		}
	}

	for i := range res.Modules {
		syms := res.Modules[i].Symbols
		if syms == nil {
			continue
		}
		if slices.ContainsFunc(strings.Split(syms.From, " and "), below) {
			return true, true
		}
		for _, p := range syms.Tried {
			asked = asked || below(p.Path)
		}
	}
	return asked, false
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
