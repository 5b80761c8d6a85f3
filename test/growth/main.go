// Command growth measures how the cost of the programs grows. It makes inputs of one shape in seven sizes, each
// twice as large as the one before, runs the programs and their peers on each, and prints the exponents of time and
// memory: 1 is a cost in proportion to the size, 2 a quadratic one. scripts/growth runs it; see docs/performance.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
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
	flag.IntVar(&o.runs, "runs", 3, "runs of each program, of which the fastest counts; of one above a second, one")
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
	header, line := "| shape |", "|:--|"
	for _, t := range tools {
		header, line = header+" "+t.name+" |", line+"--:|"
	}
	fmt.Println(header + "\n" + line)
	for i, s := range shapes {
		if !o.shapes.MatchString(s.name) {
			continue
		}
		series, err := o.shape(ctx, &s, tools, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return above, fmt.Errorf("%s: %w", s.name, err)
		}
		cells := []string{s.name}
		for j := range tools {
			seconds, memory := series[j].exponents()
			cells = append(cells, series[j].cell(seconds, memory, tools[j].own))
			if tools[j].own && (seconds > most || memory > most) {
				above++
			}
		}
		fmt.Println("| " + strings.Join(cells, " | ") + " |")
	}
	return above, nil
}

// shape returns the costs of the tools for inputs of one shape.
func (o *options) shape(ctx context.Context, s *shape, tools []tool, dir string) ([]series, error) {
	all := make([]series, len(tools))
	sizes := []int{1}
	for i := range o.doublings + 1 {
		sizes = append(sizes, max(s.most>>(o.doublings-i), 2))
	}
	for _, n := range sizes {
		in := filepath.Join(dir, fmt.Sprint(n))
		err := s.write(n, in)
		if err != nil {
			return nil, err
		}
		for i := range tools {
			c, err := o.cost(ctx, &tools[i], in, all[i])
			if err != nil {
				return nil, fmt.Errorf("%d records: %s: %w", n, tools[i].name, err)
			}
			c.records = n
			all[i] = append(all[i], c)
			if o.verbose && c.ran {
				fmt.Printf("%-28s %9d %-20s %8.3f s %8.1f MiB\n", s.name, n, tools[i].name, c.seconds, c.memory)
			}
		}
		if o.keep == "" {
			err = os.RemoveAll(in)
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
