// Command soak runs the programs on damaged files and bombs, each in a
// process of its own under limits, and reports each run that crashed, did not end,
// used too much memory, failed without the place of the damage, or wrote a symbol
// file that symcheck rejects. See docs/robustness.md; `make soak` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"symkit/test/mutant"
	"symkit/test/testfile"
)

// options are the flags.
type options struct {
	bin    string // directory of the programs
	data   string // root of the repository, for the seeds
	keep   string // directory for files on which a program failed
	count  int    // mutants in all
	lines  int    // mutants for each worker
	first  int    // number of the first mutant of each seed
	only   string // regular expression of the paths of the seeds to use
	jobs   int
	time   time.Duration // of CPU, per process
	memory int64         // peak RSS in bytes, per process, whatever the input
	bomb   string
	core   string // of which the symbol files are, unpacked
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "directory of the programs")
	flag.StringVar(&o.data, "data", ".", "root of the repository")
	flag.StringVar(&o.keep, "keep", "soak-failures", "directory for files on which a program failed")
	flag.IntVar(&o.count, "n", 100_000, "mutants in all")
	flag.IntVar(&o.lines, "workers", 5_000, "mutants that each worker gets, one a line")
	flag.IntVar(&o.first, "first", 0, "number of the first mutant of each seed")
	flag.StringVar(&o.only, "seed", "", "only mutants of the seeds whose paths match this regular expression, as in sframe/")
	flag.IntVar(&o.jobs, "j", runtime.NumCPU(), "processes at the same time")
	flag.DurationVar(&o.time, "time", 10*time.Second, "CPU time that a process may take")
	flag.Int64Var(&o.memory, "memory", 2<<30, "memory that a process may take, in bytes, whatever the size of its input")
	flag.StringVar(&o.bomb, "bomb", ".", "run the bombs whose names match this regular expression; - for none")
	flag.Parse()

	// Linux counts the memory of this process as the peak of each child until exec.
	debug.SetMemoryLimit(smallMemory / 2)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := o.soak(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	if failed > 0 {
		os.Exit(2)
	}
}

// bombKind is the kind of damage of bombs, anyName that of files whose names do
// not matter.
const bombKind, anyName = "bomb", "mutant"

// soak runs everything, prints the table, and returns the number of failures.
func (o *options) soak(ctx context.Context) (failed int, err error) {
	bomb, err := regexp.Compile(o.bomb)
	if err != nil {
		return 0, err
	}

	seeds, err := o.seeds()
	if err != nil {
		return 0, err
	}
	if err := o.unpackCore(); err != nil {
		return 0, err
	}
	defer os.Remove(o.core)
	if err := testfile.ForgetPeak(); err != nil {
		return 0, err
	}

	p, err := o.newPool(ctx)
	if err != nil {
		return 0, err
	}
	defer p.close()

	// Bombs run apart from mutants and one after the other, because the memory that they take in
	// this process would count as their children's.
	p.group.SetLimit(1)
	if o.bomb != "-" {
		p.bombs(bomb)
	}
	if err := p.group.Wait(); err != nil {
		return p.table.failures(), err
	}
	p.group.SetLimit(o.jobs)
	if err := testfile.ForgetPeak(); err != nil { // the largest bombs have been in memory
		return 0, err
	}

	p.mutants(seeds)
	err = p.group.Wait()
	if err == nil {
		err = p.serve(seeds)
	}
	p.table.print(os.Stdout)
	return p.table.failures(), err
}

// pool runs jobs, each in a directory of its own.
type pool struct {
	*options
	ctx   context.Context
	table *table
	group errgroup.Group
	all   []string    // the directories
	free  chan string // those that no job uses
}

// newPool makes a directory for each concurrent job.
func (o *options) newPool(ctx context.Context) (*pool, error) {
	p := &pool{options: o, ctx: ctx, table: newTable(), free: make(chan string, o.jobs)}
	p.group.SetLimit(o.jobs)
	for range o.jobs {
		dir, err := os.MkdirTemp("", "mutant-") // judgeError looks for the name
		if err != nil {
			p.close()
			return nil, err
		}
		p.all = append(p.all, dir)
		p.free <- dir
	}
	return p, nil
}

// close removes the directories.
func (p *pool) close() {
	for _, dir := range p.all {
		_ = os.RemoveAll(dir) // a directory that stays is among the temporary files
	}
}

// run runs a job when fewer than the allowed number are running. The file is made only then.
func (p *pool) run(j job, file func() (data, out []byte, kind string)) {
	p.group.Go(func() error {
		if p.ctx.Err() != nil {
			return p.ctx.Err()
		}

		// No two jobs write the same file.
		dir := <-p.free
		defer func() { p.free <- dir }()
		j.data, j.out, j.kind = file()
		if j.kind == bombKind { // some take more memory to make than they are long
			if err := testfile.ForgetPeak(); err != nil {
				return err
			}
		}
		return p.try(p.ctx, dir, j, p.table)
	})
}

// bombs runs the bombs whose names match.
func (p *pool) bombs(match *regexp.Regexp) {
	for _, b := range mutant.All["dwp"] {
		const program = "cxx-x86_64-gcc12-O2-dw5-split"
		beside, err := filepath.Abs(filepath.Join(p.data, "testdata/elf", program+".elf"))
		if err == nil && match.MatchString(b.Name) {
			p.run(job{name: "bomb: " + b.Name, as: program + ".dwp", beside: beside, steps: companionSteps}, func() ([]byte, []byte, string) { return b.Make(), nil, bombKind })
		}
	}
	for kind, steps := range map[string][]step{"elf": slices.Concat(tableSteps, writerSteps), "dump": dumpBombSteps, "sym": symSteps, "packed": packedSteps, "gsym": asked("IN", "")} {
		for _, b := range mutant.All[kind] {
			if match.MatchString(b.Name) {
				p.run(job{name: "bomb: " + b.Name, as: anyName, steps: steps}, func() ([]byte, []byte, string) { return b.Make(), nil, bombKind })
			}
		}
	}
	for _, b := range mutant.Walks {
		if match.MatchString(b.Name) {
			p.run(job{name: "bomb: " + b.Name, as: anyName, steps: walkSteps}, func() (dump, symbols []byte, kind string) {
				dump, symbols = b.Make()
				return dump, symbols, bombKind
			})
		}
	}
}

// mutants runs mutants of the seeds. Seeds take turns, so that each gets the same number of
// mutants.
func (p *pool) mutants(seeds []seed) {
	for i := range p.count {
		s := &seeds[i%len(seeds)]
		number := p.first + i/len(seeds)
		p.run(job{name: fmt.Sprintf("%s #%d", s.name, number), as: s.as, beside: s.beside, steps: s.steps}, func() ([]byte, []byte, string) {
			data, kind := s.mutant(number)
			return data, nil, kind
		})
	}
}

// unpackCore writes the core file that the symbol files belong to into a temporary file.
func (o *options) unpackCore() error {
	data, err := testfile.Read(filepath.Join(o.data, "testdata/elf/crash-x86_64-gcc12-O2-dw5.core"))
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", "soak-core")
	if err != nil {
		return err
	}
	o.core = f.Name()
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// seeds reads the files that mutants are made of.
func (o *options) seeds() (out []seed, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	for _, f := range seedFiles {
		if !only.MatchString(f.path) {
			continue
		}
		data, err := testfile.Read(filepath.Join(o.data, f.path))
		if err != nil {
			return nil, err
		}
		sd := seed{name: filepath.Base(f.path), data: data, layout: mutant.Of(data), as: anyName, steps: f.steps}

		// A companion keeps its name, because it is found by its name.
		if f.beside != "" {
			sd.as = sd.name
			sd.beside, err = filepath.Abs(filepath.Join(o.data, f.beside))
			if err != nil {
				return nil, err
			}
		}
		out = append(out, sd)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no seed matches %s", o.only)
	}
	return out, nil
}
