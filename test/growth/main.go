// Command growth measures how the cost of the programs grows. It makes inputs of one shape in seven sizes, each
// twice as large as the one before, runs the programs and their peers on each, and prints the exponents of time and
// memory: 1 is a cost in proportion to the size, 2 a quadratic one. scripts/growth runs it; see docs/performance.md.
//
// Other work on the machine makes single runs slower, never faster: each program runs in several rounds over all sizes,
// and the least processor time of each size counts. Where the exponent of time is above 1.1 all the same, valgrind counts
// the instructions: if they are in proportion, the processor waits for memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	bin, peers string // directories of programs
	shapes     *regexp.Regexp
	tools      *regexp.Regexp
	doublings  int
	runs       int
	steps      bool
	results    string // a file
	limit      time.Duration
	verbose    bool
	keep       string
}

func main() {
	o := options{}
	flag.StringVar(&o.bin, "bin", "bin", "directory of the programs")
	flag.StringVar(&o.peers, "peers", "", "directory of programs that scripts/peers.sh installed")
	names := flag.String("shapes", ".", "only shapes whose names match this regular expression")
	tools := flag.String("tools", ".", "only programs whose names match this regular expression")
	flag.IntVar(&o.doublings, "doublings", 6, "sizes after the first one, each twice as large as the one before")
	flag.IntVar(&o.runs, "runs", 5, "rounds, of which the fastest run of each program and size counts; no more than take 3 seconds")
	flag.BoolVar(&o.steps, "steps", true, "count instructions with valgrind where the exponent of time is above 1.1")
	flag.StringVar(&o.results, "results", "", "file of results: shapes and programs in it are not measured again, and others are added")
	flag.DurationVar(&o.limit, "limit", 20*time.Second, "time that a run may take; larger inputs are not tried after it")
	flag.BoolVar(&o.verbose, "v", false, "print each time and memory")
	flag.StringVar(&o.keep, "keep", "", "directory for the inputs, which are kept")
	flag.Parse()
	o.shapes, o.tools = regexp.MustCompile(*names), regexp.MustCompile(*tools)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	above, err := o.measure(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
	if above > 0 {
		fmt.Fprintf(os.Stderr, "growth: %d exponents above %.1f\n", above, most)
		os.Exit(2)
	}
}

// most is the largest exponent that passes, for our programs.
const most = 1.1

// measure prints the table, and returns how many exponents of our programs are above most.
func (o *options) measure(ctx context.Context) (above int, err error) {
	dir := o.keep
	if dir == "" {
		dir, err = os.MkdirTemp("", "growth-")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	}
	tools := o.installed()
	known, err := readResults(o.results)
	if err != nil {
		return 0, err
	}
	header, line := "| shape |", "|:--|"
	for _, t := range tools {
		header, line = header+" "+t.name+" |", line+"--:|"
	}
	fmt.Println(header + "\n" + line)
	for i, s := range shapes {
		if !o.shapes.MatchString(s.name) {
			continue
		}
		err := o.shape(ctx, &s, tools, filepath.Join(dir, fmt.Sprint(i)), known)
		if err != nil {
			return above, fmt.Errorf("%s: %w", s.name, err)
		}
		err = known.write(o.results)
		if err != nil {
			return above, err
		}
		cells := []string{s.name}
		for j := range tools {
			series := known[s.name][tools[j].name]
			seconds, memory := series.exponents()
			cells = append(cells, series.cell(seconds, memory, tools[j].own))
			if tools[j].own && (seconds > most || memory > most) {
				above++
			}
		}
		fmt.Println("| " + strings.Join(cells, " | ") + " |")
	}
	return above, nil
}

// shape adds the costs of the tools that are not known yet for inputs of one shape.
func (o *options) shape(ctx context.Context, s *shape, tools []tool, dir string, known results) error {
	tools = slices.Clone(tools)
	for i := range tools {
		tools[i].asked = tools[i].asked && known[s.name][tools[i].name] == nil
	}
	tools = slices.DeleteFunc(tools, func(t tool) bool { return !t.maker && !t.asked })
	if !slices.ContainsFunc(tools, func(t tool) bool { return t.asked }) {
		return nil
	}
	// The symbol file of dump_syms is an input of others.
	if o.keep == "" {
		defer os.RemoveAll(dir)
	}
	sizes := []int{1}
	for i := range o.doublings + 1 {
		sizes = append(sizes, max(s.most>>(o.doublings-i), 2))
	}
	all := make([]series, len(tools))
	for i := range all {
		all[i] = make(series, len(sizes))
	}
	for round := range o.runs {
		for k, n := range sizes {
			in := filepath.Join(dir, fmt.Sprint(n))
			if round == 0 {
				err := s.write(n, in)
				if err != nil {
					return err
				}
			}
			for i := range tools {
				err := o.cost(ctx, &tools[i], in, all[i], k)
				if err != nil {
					return fmt.Errorf("%d records: %s: %w", n, tools[i].name, err)
				}
				all[i][k].Records = n
			}
		}
	}
	for i := range tools {
		t := &tools[i]
		if !t.asked {
			continue
		}
		if o.verbose {
			for _, c := range all[i] {
				if c.Runs == 0 {
					continue
				}
				fmt.Printf("%-28s %9d %-20s %8.3f s %8.1f MiB, %d runs\n", s.name, c.Records, t.name, c.Seconds, c.Memory, c.Runs)
			}
		}
		seconds, _ := all[i].exponents()
		if o.steps && t.own && seconds > most {
			err := o.count(ctx, t, dir, all[i])
			if err != nil {
				return err
			}
		}
		known.add(s.name, t.name, all[i])
	}
	return nil
}

// results are the costs that are known, by shape and program.
type results map[string]map[string]series

func (r results) add(shape, tool string, s series) {
	if r[shape] == nil {
		r[shape] = map[string]series{}
	}
	r[shape][tool] = s
}

// readResults reads a file of results; there need not be one.
func readResults(path string) (results, error) {
	r := results{}
	data, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(data, &r)
}

// write writes a file of results, if one is asked for.
func (r results) write(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
