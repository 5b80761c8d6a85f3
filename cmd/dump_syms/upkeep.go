package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"symkit/check/report"
	"symkit/check/storecheck"
	"symkit/dump/upkeep"
	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/internal/objects"
	"symkit/internal/printable"
	"symkit/internal/quantity"
	"symkit/internal/remote"
)

// upkeepFlags are those of what is done with a store that is there.
type upkeepFlags struct {
	List   bool `env:"-" help:"List the modules of the store: when the last file of each was stored, bytes, id, name, kinds of files."`
	Verify bool `env:"-" help:"Check all symbol files of the store, as symcheck --store does: alone, or with ELF files that are in the store, among the paths given, in --sysroot and --debug-dir, or at a server."`
	Prune  bool `env:"-" help:"Say which modules --keep-days and --keep-newest do not keep, and with --yes remove them. A module of which a file is stored meanwhile stays."`

	KeepDays   int  `name:"keep-days" env:"-" placeholder:"N" help:"With --prune: keep modules of which a file was stored in the last N days."`
	KeepNewest int  `name:"keep-newest" env:"-" placeholder:"N" help:"With --prune: keep the last N modules of each name. With --keep-days, a module stays that one of them keeps."`
	Yes        bool `env:"-" help:"With --prune: remove the modules."`
	JSON       bool `name:"json" help:"With --list and --prune: a JSON line for each module."`
}

// upkeep returns the flag that asks for upkeep of a store, or "".
func (f *upkeepFlags) upkeep() string {
	switch {
	case f.List:
		return "--list"
	case f.Verify:
		return "--verify"
	case f.Prune:
		return "--prune"
	}
	return ""
}

// validateUpkeep checks the rules of these flags that the tags cannot express.
func (c *cli) validateUpkeep() error {
	n := 0
	for _, is := range []bool{c.List, c.Verify, c.Prune} {
		if is {
			n++
		}
	}
	flag := c.upkeep()
	switch {
	case n > 1:
		return errors.New("--list, --verify and --prune exclude each other")
	case !c.Prune && (c.KeepDays != 0 || c.KeepNewest != 0 || c.Yes):
		return errors.New("--keep-days, --keep-newest and --yes need --prune")
	case c.JSON && !c.List && !c.Prune:
		return errors.New("--json needs --list or --prune")
	case n == 0:
		return nil
	case c.Store == "":
		return fmt.Errorf("%s needs --store", flag)
	case !objects.IsURL(c.Store) && command.Output("--store", c.Store) != nil:
		return fmt.Errorf("%s: a symbol server does not say which modules it has; give the directory or the s3:// bucket that it keeps them in", flag)
	case c.Prune && c.KeepDays == 0 && c.KeepNewest == 0:
		return errors.New("--prune needs --keep-days or --keep-newest")
	case c.KeepDays < 0 || c.KeepNewest < 0:
		return errors.New("--keep-days and --keep-newest: want 1 or more")
	case c.Worker || c.FilesFrom != "" || c.Output != "" || c.Manifest != "" || c.Report != "" || c.Done != "" || c.Shard != "":
		return fmt.Errorf("%s dumps nothing: leave out the flags about inputs and outputs", flag)
	case !c.Verify && len(c.Paths) > 0:
		return fmt.Errorf("%s takes no paths; the store is that of --store", flag)
	}
	return nil
}

// keepUp does what the flag asks for, and returns the exit code.
func (c *cli) keepUp(ctx context.Context) (code int, err error) {
	if c.Verify {
		return c.verify(ctx)
	}
	s, err := upkeep.Open(ctx, c.Store)
	if err != nil {
		return command.Failed, fmt.Errorf("--store %w", err)
	}
	defer s.Close()

	out := bufio.NewWriter(c.stdout)
	if c.List {
		err = c.list(ctx, s, out)
	} else {
		err = c.prune(ctx, s, out)
	}
	err = errors.Join(err, out.Flush())
	if ctx.Err() != nil && err != nil {
		err = errors.New("interrupted; run the same command again to go on")
	}
	if err != nil {
		return command.Failed, err
	}
	return 0, nil
}

// list writes a line for each module.
func (c *cli) list(ctx context.Context, s *upkeep.Store, out io.Writer) error {
	modules, bytes := 0, int64(0)
	for m, err := range s.Modules(ctx) {
		if err != nil {
			return err
		}
		modules++
		bytes += m.Bytes
		err = c.writeModule(out, &m, kinds(&m), &m)
		if err != nil {
			return err
		}
	}
	line := fmt.Sprintf("dump_syms: %s, %s", quantity.Count(modules, "module", "modules"), quantity.Bytes(bytes))
	if n := s.Others(); n > 0 {
		line += "; " + quantity.Count(n, "other file", "other files")
	}
	c.messages.Last("%s", line)
	return nil
}

// kinds returns the kinds of the files of a module.
func kinds(m *upkeep.Module) string {
	var all []string
	for _, f := range m.Files {
		all = append(all, f.Kind)
	}
	return strings.Join(all, " ")
}

// writeModule writes a line about a module: text with a remark at its end or, with --json, a value.
func (c *cli) writeModule(out io.Writer, m *upkeep.Module, remark string, value any) error {
	if c.JSON {
		enc := json.NewEncoder(&printable.JSONWriter{W: out})
		enc.SetEscapeHTML(false)
		return enc.Encode(value)
	}
	name := m.Name
	if name == "" {
		name = "-"
	}
	line := fmt.Sprintf("%s %13s  %s  %s", m.Date.Format(time.DateTime), quantity.Number(m.Bytes), m.ID, printable.String(name))
	if remark != "" {
		line += "  " + remark
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// prune removes the modules that the flags do not keep or, without --yes, says which these are.
func (c *cli) prune(ctx context.Context, s *upkeep.Store, out io.Writer) error {
	c.messages.Stage("listing the store", 0, 1)
	plan, err := s.Old(ctx, upkeep.Rule{Days: c.KeepDays, Newest: c.KeepNewest})
	c.messages.Erase()
	if err != nil {
		return err
	}
	defer func() {
		if plan.Nameless > 0 {
			command.Line(c.messages, "dump_syms: warning: %s: nothing says the name, so that --keep-newest keeps them", quantity.Count(plan.Nameless, "module", "modules"))
		}
	}()
	all := fmt.Sprintf("of %s, %s", quantity.Count(plan.Modules, "module", "modules"), quantity.Bytes(plan.Bytes))
	if !c.Yes {
		for i := range plan.Old {
			m := &plan.Old[i]
			err := c.writeModule(out, m, "", &upkeep.Removal{Module: *m, Outcome: "old"})
			if err != nil {
				return err
			}
		}
		c.messages.Last("dump_syms: %s %s, %s would be removed; --yes removes them", quantity.Number(len(plan.Old)), all, quantity.Bytes(plan.OldBytes))
		return nil
	}

	removed, stay, freed := 0, 0, int64(0)
	for r, err := range s.Remove(ctx, plan) {
		if err != nil {
			return fmt.Errorf("%w; %s of %s were removed", err, quantity.Number(removed), quantity.Count(len(plan.Old), "module", "modules"))
		}
		remark := ""
		if r.Outcome == upkeep.Removed {
			removed++
			freed += r.Bytes
		} else {
			stay++
			remark = "stays: a file was stored meanwhile"
		}
		err := c.writeModule(out, &r.Module, remark, &r)
		if err != nil {
			return err
		}
	}
	line := fmt.Sprintf("dump_syms: %s %s removed, %s", quantity.Number(removed), all, quantity.Bytes(freed))
	if stay > 0 {
		line += fmt.Sprintf("; %s stored again meanwhile", quantity.Count(stay, "module was", "modules were"))
	}
	c.messages.Last("%s", line)
	return nil
}

// verify checks the symbol files of the store.
func (c *cli) verify(ctx context.Context) (code int, err error) {
	opt := storecheck.Options{Files: c.Paths, Memory: int64(c.Memory)}
	opt.OS, opt.KeepAddress, opt.Jobs, opt.Progress = c.OS, c.Keep, c.Jobs, c.messages.Stage
	opt.Search, err = c.search(c.DebugDir)
	if err != nil {
		command.Line(c.messages, "dump_syms: warning: %v", err)
	}
	client, _ := c.remote() // the error is that of search
	if client != nil {
		opt.Executable = func(ctx context.Context, id []byte) (string, error) {
			return client.Find(ctx, id, debuginfod.Executable)
		}
	}
	all := &report.Store{At: remote.Shown(c.Store)}
	for r, err := range storecheck.Check(ctx, c.Store, opt) {
		if err != nil {
			c.messages.Erase()
			return command.Failed, fmt.Errorf("--store %w", err)
		}
		for _, w := range r.Warnings {
			command.Line(c.messages, "dump_syms: warning: %s", w)
		}
		all.Add(r.Result, r.Err)
	}
	c.messages.Erase()
	var text bytes.Buffer
	counts := all.Counts()
	err = report.WriteStore(&text, "text", command.Version(), all)
	if err == nil {
		_, err = c.stdout.Write(text.Bytes())
	}
	switch {
	case err != nil:
		return command.Failed, err
	case counts.Failed > 0:
		return command.Failed, fmt.Errorf("%s: %s of %s could not be checked", all.At, quantity.Number(counts.Failed), quantity.Count(counts.Files, "symbol file", "symbol files"))
	case counts.Bad > 0:
		return command.Bad, nil
	}
	return 0, nil
}
