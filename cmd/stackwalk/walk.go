package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/internal/atomicfile"
	"symkit/internal/bounds"
	"symkit/internal/command"
	"symkit/internal/download"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/quantity"
	"symkit/internal/remote"
	"symkit/internal/standin"
	"symkit/walk"
	"symkit/walk/dumpfile"
	"symkit/walk/peers"
	"symkit/walk/report"
	"symkit/walk/symbols"
	"symkit/walk/symbols/sources"
)

// walk walks the dumps of the command line and writes the reports. With --worker the dumps
// come from standard input; with --out several dumps share the sources of symbols; otherwise
// there is one dump.
func (c *cli) walk(ctx context.Context) (code int, err error) {
	// A wrong path in the command line is reported before any work.
	if err := cmp.Or(command.Directories("--debug-dir", c.DebugDir), command.Directories("--sysroot", c.Sysroot)); err != nil {
		return command.Failed, err
	}
	if c.Exe != "" {
		info, err := os.Stat(c.Exe)
		if err == nil && !info.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: c.Exe, Err: elfx.ErrNotRegular}
		}
		if err != nil {
			return command.Failed, command.Unreadable("--exe", c.Exe, err, "the ELF file of the program that crashed")
		}
	}

	c.signer, err = c.newSigner()
	if err != nil {
		return command.Failed, err
	}

	if c.Worker {
		return c.serve(ctx)
	}
	if c.Out != "" {
		return c.batch(ctx)
	}

	// The report must not replace one of the inputs.
	if err := atomicfile.Clobbers(c.Output, c.stdout, c.inputs()...); err != nil {
		return command.Failed, err
	}

	syms, err := c.sources(ctx, 0)
	if err != nil {
		return command.Failed, err
	}
	defer syms.Close()
	j := c.job(c.Dumps[0], syms, c.stderr)
	j.options.Progress, j.options.Jobs = func(m *walk.Module) { c.stderr.Loading("symbols", m.Name) }, c.Jobs

	// The names of generated code differ between processes, so they are read for one dump.
	j.options.Generated, err = c.generated()
	defer j.options.Generated.Close()
	if err != nil {
		return command.Failed, err
	}
	return j.run(ctx, func(res *walk.Result) error {
		c.stderr.Erase()
		for _, o := range c.reports(ctx, c.Dumps[0]) {
			err := j.write(ctx, o, res)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// generated reads the names of generated code. The names are nil without --perf-map.
func (c *cli) generated() (g *walk.Generated, err error) {
	for _, path := range c.PerfMap {
		if g == nil {
			g = &walk.Generated{}
		}
		err := g.AddFile(path)
		if err != nil {
			return g, command.Unreadable("--perf-map", path, err, "a perf map (lines of START SIZE NAME) or a jitdump file")
		}
	}
	return g, nil
}

// inputs returns the files that the command line names to be read.
func (c *cli) inputs() []string {
	return append(slices.Concat(c.Dumps, c.Symbols), c.Exe, c.Annotations)
}

// modules returns the files that may have been read for the modules of a dump.
func (c *cli) modules(res *walk.Result) (paths []string) {
	for _, m := range res.Modules {
		paths = append(paths, m.Module.Path)
		for _, root := range c.Sysroot {
			paths = append(paths, filepath.Join(root, m.Module.Path))
		}
		if m.Symbols != nil {
			paths = append(paths, strings.Split(m.Symbols.From, " and ")...)
		}
	}
	return paths
}

// job is one dump to walk.
type job struct {
	c       *cli
	path    string
	syms    *symbols.Sources
	files   *sources.Files
	options walk.Options
	stderr  io.Writer
	dump    *dumpfile.Dump // while run runs
}

// job returns the job of walking a dump on one processor.
func (c *cli) job(path string, syms *symbols.Sources, stderr io.Writer) *job {
	opt := walk.Options{MaxFrames: c.Frames, Jobs: 1, Prefetch: syms.Online(), NoScan: c.NoScan,
		Registers: (c.Format == "text" || c.Format == "html") && !c.Brief, Contents: c.Contents}
	if c.other != nil {
		opt.Registers, opt.Pointers = c.other.Registers, c.other.Pointers
	}
	return &job{c: c, path: path, syms: syms, files: syms.Files(), options: opt, stderr: stderr}
}

// aboutDump is an error whose text names the dump.
type aboutDump struct{ error }

func (e aboutDump) Unwrap() error { return e.error }

// run walks the dump, writes the result, and reports warnings.
func (j *job) run(ctx context.Context, write func(*walk.Result) error) (code int, err error) {
	j.dump, err = j.open(ctx)
	if err != nil {
		return command.Failed, aboutDump{err}
	}
	defer j.dump.Close()

	j.options.Threads, err = j.threads(j.dump.Process)
	if err != nil {
		return command.Failed, aboutDump{err}
	}
	res, err := j.dump.Walk(ctx, j.syms, j.options)
	if errors.Is(err, elfx.ErrChanged) {
		err = aboutDump{err}
	}
	if err == nil {
		err = j.writeMinidump(ctx, res)
	}
	if err != nil {
		return command.Failed, err
	}

	// The result aliases the mapped dump, so a truncation can fault while the report is
	// written.
	err = mem.Guard(func() error { j.c.signer.sign(res); return write(res) })
	if err != nil {
		return command.Failed, err
	}

	// A run that found no caller in any stack has an exit code of its own.
	j.report(res)
	if !slices.ContainsFunc(res.Stacks, func(s walk.Stack) bool { return len(s.Frames) > 1 || s.Complete || j.options.MaxFrames == 1 }) {
		return command.Bad, nil
	}
	return 0, nil
}

// threads returns the indices of the threads to walk, or nil for all.
func (j *job) threads(p *walk.Process) (out []int, err error) {
	c := j.c
	if c.Crashing {
		if p.Crashed < 0 {
			return nil, fmt.Errorf("%s: no thread crashed", j.dump.Name)
		}
		return []int{p.Crashed}, nil
	}

	for _, id := range c.Thread {
		i := slices.IndexFunc(p.Threads, func(t walk.Thread) bool { return t.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("%s: no thread has the number %d; leave out --thread to see the numbers of all %s", j.dump.Name, id, quantity.Number(len(p.Threads)))
		}
		out = append(out, i)
	}
	return out, nil
}

// write writes the stacks of a dump to standard output or, whole or not at all, to
// a file.
func (j *job) write(ctx context.Context, o standin.Output, res *walk.Result) error {
	// The output may not replace a file that was read for the walk.
	c := j.c
	err := atomicfile.Clobbers(o.Path, c.stdout, slices.Concat(c.inputs(), c.modules(res))...)
	if err != nil {
		return err
	}
	return atomicfile.WriteOr(ctx, o.Path, c.stdout, func(out io.Writer) error { return o.Print(j.bounded(ctx, out), res) })
}

// bounded returns a writer to w that bounds the size of the report on the dump.
func (j *job) bounded(ctx context.Context, w io.Writer) io.Writer {
	return bounds.NewWriter(ctx, w, limitof.Report, j.dump.Name, j.dump.Size)
}

// writeMinidump writes the kept parts of a core file to the file of --minidump, if the flag is given.
func (j *job) writeMinidump(ctx context.Context, res *walk.Result) error {
	path := j.c.Minidump
	if path == "" {
		return nil
	}
	err := atomicfile.Clobbers(path, j.c.stdout, j.c.inputs()...)
	if err != nil {
		return err
	}
	err = atomicfile.Write(ctx, path, func(out io.Writer) error { return j.dump.WriteMinidump(out, res) })
	if err != nil {
		return fmt.Errorf("--minidump %s: %w", path, err)
	}
	return nil
}

// printer returns the function that writes the report on a dump in the format of the
// command line.
func (c *cli) printer(ctx context.Context, dump string) func(io.Writer, *walk.Result) error {
	return func(out io.Writer, res *walk.Result) error {
		w := bufio.NewWriterSize(out, 1<<16)
		var err error
		switch c.Format {
		case "json":
			err = report.JSON(w, res)
		case "machine":
			err = peers.Machine(w, res)
		case "html":
			opt := report.PageOptions{Generator: "stackwalk " + command.Version(), SourceLink: c.Source, Dump: remote.Name(dump)}
			opt.Sources, err = c.sourceFiles(ctx, res)
			err = errors.Join(err, report.HTML(w, res, opt))
		default:
			err = report.Text(w, res, report.TextOptions{Brief: c.Brief, Contents: c.Contents})
		}
		return errors.Join(err, w.Flush())
	}
}

// report writes the warnings about the dump and its modules to standard error.
func (j *job) report(res *walk.Result) {
	w, c := bufio.NewWriter(j.stderr), j.c
	defer w.Flush()
	for _, warning := range res.Process.Warnings {
		command.Line(w, "stackwalk: warning: %s", warning)
	}

	var strangers []string
	if c.Out == "" { // of many dumps another one may have their modules
		strangers = c.strangers(res)
	}
	for _, path := range strangers {
		command.Line(w, "stackwalk: warning: %s: not used: the dump has no module of its name and id; -v lists the modules", path)
	}
	told, rejected := map[string]bool{}, map[string]bool{}
	main := &walk.ModuleSymbols{}
	for i := range res.Modules {
		known := &res.Modules[i]
		m := known.Module
		if m == res.Process.Main {
			main = known
		}
		for _, p := range c.unused(known, m == res.Process.Main) {
			if p.Path == c.Exe && isOther(p.Err) && j.exeBelongs(res) {
				continue
			}
			rejected[p.Path] = true
			servers := download.ServerErrors(p.Err)
			for _, e := range servers {
				// A server that is dead is so for all modules, and for all dumps of a batch.
				line := fmt.Sprintf("stackwalk: warning: %s: %v", e.Server, e.Err)
				if _, before := c.toldServers.LoadOrStore(line, true); !before || c.Out == "" {
					once(w, told, line)
				}
			}
			if len(servers) > 0 {
				continue
			}
			told[m.Path] = true
			reason := filename.Cause(p.Err, p.Path)
			if slices.Contains(c.Symbols, p.Path) && !errors.Is(p.Err, sources.ErrOtherBuild) && !errors.Is(p.Err, sources.ErrNoSymbols) {
				once(w, told, fmt.Sprintf("stackwalk: warning: %s: not used: %v", p.Path, reason))
				continue
			}
			command.Line(w, "stackwalk: warning: %s: not used for %s: %v", p.Path, m.Path, reason)
		}
		if n := known.BadLines; n > 0 {
			command.Line(w, "stackwalk: warning: %s: %s of its symbols make no sense", known.Symbols.From, quantity.Count(n, "line", "lines"))
		}
		if c.Verbose {
			describe(w, known)
		}
	}

	j.helpless(w, res, rejected)

	// Without the symbols of the program itself a report is of little use.
	if !main.Missing() || c.other != nil || c.Out != "" || told[main.Module.Path] || len(strangers) > 0 {
		return
	}
	command.Line(w, "stackwalk: warning: %s: the program has no symbols: %s", cmp.Or(main.Module.Path, main.Module.Name), c.advice(res.Process))
}

// advice says how to give symbols of the program.
func (c *cli) advice(p *walk.Process) string {
	const where = "-v shows where they were looked for"
	if c.NoELF || p.OS != "Linux" && p.OS != "Android" {
		return "give a symbol store or file with --symbols; " + where
	}
	return "give its file with --exe, the root of its file system with --sysroot, or symbols with --symbols; " + where
}

// once writes a line unless it was written before.
func once(w io.Writer, told map[string]bool, line string) {
	if !told[line] {
		told[line] = true
		command.Line(w, "%s", line)
	}
}

// unused returns the files that were found for m but are damaged or of another build,
// and the servers that did not answer. A symbol file that --symbols names belongs to one
// module, as the file of --exe does, so neither is reported for the others. A file of
// another module that a store or a server has in the place of m's is reported.
func (c *cli) unused(m *walk.ModuleSymbols, main bool) (out []companion.Probe) {
	if m.Symbols == nil {
		return nil
	}

	for _, p := range m.Symbols.Tried {
		switch {
		case !p.Rejected(), errors.Is(p.Err, debuginfod.ErrNotFound):
		case errors.Is(p.Err, sources.ErrOtherModule) && slices.Contains(c.Symbols, p.Path):
		case p.Path == c.Exe && !main:
		default:
			out = append(out, p)
		}
	}
	return out
}

// describe reports where the symbols of a module were looked for.
func describe(w io.Writer, s *walk.ModuleSymbols) {
	m, syms, id := s.Module, s.Symbols, s.Module.DebugID
	if id == "" {
		id = "id unknown"
	}
	if syms == nil {
		command.Line(w, "stackwalk: %s (%s): in no stack", m.Path, id)
		return
	}

	for _, p := range syms.Tried {
		command.Line(w, "stackwalk: %s (%s): %s: %v", m.Path, id, p.Path, p.Err)
	}
	if s.Loaded {
		command.Line(w, "stackwalk: %s (%s): symbols from %s", m.Path, id, syms.From)
	} else {
		command.Line(w, "stackwalk: %s (%s): no symbols", m.Path, id)
	}
}
