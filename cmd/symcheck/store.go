package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"symkit/check/report"
	"symkit/check/storecheck"
	"symkit/elfx/debuginfod"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/quantity"
	"symkit/internal/remote"
	"symkit/internal/smallfile"
	"symkit/lookup"
)

// storeFlags are the flags of a check of a whole store.
type storeFlags struct {
	Store   string        `placeholder:"STORE" help:"Check all symbol files of a store: a directory, s3://BUCKET/PREFIX, or with --modules https://HOST. They are compared with ELF files of the store, with those given (files and directories), and with those of --sysroot, --debug-dir and DEBUGINFOD_URLS."`
	Modules string        `placeholder:"FILE" help:"With --store, check the modules that FILE lists: NAME ID, NAME/ID, a path, or a line of a manifest of dump_syms. - is standard input."`
	Memory  command.Bytes `placeholder:"SIZE" help:"With --store, use about SIZE of memory, as in 512M or 4G. Default: 2G."`
}

// wantModules describes the file of --modules, for errors.
const wantModules = "a list of modules, one per line"

// validateStore checks what the tags cannot express.
func (c *replayCmd) validateStore() error {
	switch {
	case c.Store == "" && c.Modules != "":
		return errors.New("--modules needs --store")
	case c.Store == "" && c.Memory != 0:
		return errors.New("--memory needs --store")
	case c.Store != "" && c.ID != "":
		return errors.New("--store and --id exclude each other")
	case c.Store != "":
		if c.Sym != "" {
			c.Files = append([]string{c.Sym}, c.Files...) // no file is a symbol file
		}
		return command.Output("--store", c.Store, command.Schemes...)
	case c.Sym == "":
		return command.MissingArgument("<file.sym> <elf> ...")
	}
	return nil
}

// checkStore is Run for a store.
func (c *replayCmd) checkStore(e *env, out *output) error {
	err := atomicfile.Clobbers("", e.stdout, c.Files...)
	if err != nil {
		return err
	}
	opt, err := c.storeOptions(e, out)
	if err != nil {
		return err
	}

	all := &report.Store{At: remote.Shown(c.Store)}
	for r, err := range storecheck.Check(e.ctx, c.Store, opt) {
		if errors.Is(err, storecheck.ErrList) {
			return fmt.Errorf("%w with --modules, as NAME ID lines or a manifest of dump_syms", err)
		}
		if err != nil {
			e.stderr.Erase()
			return err
		}
		for _, w := range r.Warnings {
			command.Line(e.stderr, "symcheck: warning: %s", w)
		}
		if r.Err == nil {
			r.Unmet = out.requirements.Unmet(r.Report)
		}
		// The page shows the first files with findings.
		if r.Err == nil && r.Bad() && len(all.Results) < report.StoreDetails {
			err := out.addSources(e.ctx, &r.Result, nil, lookup.Relative, side{[]string{report.OfSymbols, report.OfELF}, []string{r.File, r.Against}})
			if err != nil {
				return err
			}
		}
		all.Add(r.Result, r.Err)
	}
	e.stderr.Erase()

	counts := all.Counts()
	e.bad = counts.Bad > 0
	err = report.WriteStore(e.stdout, out.Format, command.Version(), all)
	switch {
	case err != nil:
		return err
	case counts.Files == 0:
		return fmt.Errorf("%s: no symbol file in the store", all.At)
	case counts.Failed > 0:
		return fmt.Errorf("%s: %s of %s could not be checked", all.At, quantity.Number(counts.Failed), quantity.Count(counts.Files, "symbol file", "symbol files"))
	}
	return nil
}

// storeOptions translates the flags.
func (c *replayCmd) storeOptions(e *env, out *output) (opt storecheck.Options, err error) {
	opt.Options.Options = out.options()
	opt.Map = false // a page has the maps of single files alone
	opt.Names, opt.OS, opt.KeepAddress, opt.Jobs = c.Name, c.OS, c.Keep, c.Jobs
	opt.Progress, opt.Files, opt.Memory, opt.Timeout = e.stderr.Stage, c.Files, int64(c.Memory), c.Timeout
	opt.Search, err = c.Search()
	if err != nil {
		return opt, err
	}
	if c.Modules != "" {
		text, err := readModules(c.Modules)
		if err != nil {
			return opt, command.Unreadable("--modules", c.Modules, err, wantModules)
		}
		opt.Paths, err = storecheck.Modules(text)
		if err != nil {
			return opt, fmt.Errorf("--modules %s: %w", c.Modules, err)
		}
	}

	client, err := e.stderr.Servers(true)
	if client != nil {
		opt.Search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return client.Find(ctx, id, debuginfod.DebugInfo)
		}
		opt.Executable = func(ctx context.Context, id []byte) (string, error) {
			return client.Find(ctx, id, debuginfod.Executable)
		}
	}
	return opt, err
}

// readModules reads the list of --modules.
func readModules(path string) ([]byte, error) {
	if path != "-" {
		return smallfile.Read(path, smallfile.Most)
	}
	info, err := os.Stdin.Stat()
	if err != nil {
		return nil, err
	}
	return smallfile.All(os.Stdin, info, smallfile.Most)
}
