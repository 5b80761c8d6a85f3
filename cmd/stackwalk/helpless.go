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

// given is a flag with its value, and why it helped nothing in a dump; empty: it helped.
type given struct{ flag, reason string }

// sums counts, over many dumps, what the command line gives and what helped nothing.
type sums struct {
	mu      sync.Mutex
	dumps   int
	reasons map[string]string // of the last dump, by flag; empty for a flag that has helped a dump
}

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
			command.Line(w, "stackwalk: warning: %s: not used: %s", g.flag, g.reason)
		}
	}
}

// given returns what helped in a dump, and what did not though it could have.
func (j *job) given(res *walk.Result, rejected map[string]bool) (out []given) {
	c := j.c
	add := func(flag, value, reason string, useless bool) {
		if !useless {
			reason = ""
		}
		out = append(out, given{flag + " " + value, reason})
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
	for i, dir := range slices.Concat(c.DebugDir, c.Sysroot) {
		flag := "--debug-dir"
		if i >= len(c.DebugDir) {
			flag = "--sysroot"
		}
		asked, used := below(res, dir, rejected)
		if asked || used {
			add(flag, dir, "it has no file of the modules that were looked for", !used)
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
	if s.reasons == nil {
		s.reasons = map[string]string{}
	}
	for _, g := range all {
		reason, known := s.reasons[g.flag]
		if !known || reason != "" {
			s.reasons[g.flag] = g.reason
		}
	}
}

// tell warns about what helped no dump.
func (s *sums) tell(w io.Writer) {
	for _, flag := range slices.Sorted(maps.Keys(s.reasons)) {
		reason := s.reasons[flag]
		if reason != "" && s.dumps > 1 {
			reason = fmt.Sprintf("it helped none of %d dumps", s.dumps)
		}
		if reason != "" {
			command.Line(w, "stackwalk: warning: %s: not used: %s", flag, reason)
		}
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
