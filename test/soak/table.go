package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// table collects the results of the processes.
type table struct {
	mu      sync.Mutex
	files   int
	kinds   map[string]int            // of damage
	classes map[string]map[string]int // by program: errors
	runs    map[string]*figures       // by program
	served  []string                  // rows of the workers
	failed  []string
}

// figures are the figures of one program.
type figures struct {
	runs, errors int
	cpu          time.Duration // of all
	slowest      time.Duration
	slowestFile  string
	largest      int64 // peak RSS in bytes
	largestFile  string
	failures     int
}

func newTable() *table {
	return &table{kinds: map[string]int{}, classes: map[string]map[string]int{}, runs: map[string]*figures{}}
}

// add counts one process.
func (t *table) add(j job, s step, res outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.runs[s.program]
	if f == nil {
		f = &figures{}
		t.runs[s.program] = f
		t.classes[s.program] = map[string]int{}
	}

	f.runs++
	f.cpu += res.cpu

	// The extremes are kept with the names of their files.
	if res.cpu > f.slowest {
		f.slowest, f.slowestFile = res.cpu, j.name
	}
	if res.memory > f.largest {
		f.largest, f.largestFile = res.memory, j.name
	}
	if res.class != "" {
		f.errors++
		t.classes[s.program][res.class]++
	}
	if res.failure != "" {
		f.failures++
		t.failed = append(t.failed, fmt.Sprintf("%s: %s %q: %s", j.name, s.program, slices.Compact(slices.Clone(s.args)), res.failure))
	}
}

// done counts one file.
func (t *table) done(j job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files++
	t.kinds[j.kind]++
}

// serve counts one worker, which gave answers of the statuses in counts.
func (t *table) serve(name string, counts map[string]int, res outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, status := range byCount(counts) {
		t.served = append(t.served, fmt.Sprintf("| %s\t| %s\t| %d\t| %.1f s\t| %d MiB |", name, status, counts[status], res.cpu.Seconds(), res.memory>>20))
	}
	if res.failure != "" {
		t.failed = append(t.failed, fmt.Sprintf("%s --worker, after the answers %v: %s", name, counts, res.failure))
	}
}

// failures returns the number of processes that broke a rule.
func (t *table) failures() int { return len(t.failed) }

// print writes the tables in Markdown, then the failures.
func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(tw, "%d files\n\n", t.files)
	fmt.Fprintln(tw, "| program\t| runs\t| errors\t| failures\t| CPU, mean\t| slowest\t| largest |")
	fmt.Fprintln(tw, "|---\t|---\t|---\t|---\t|---\t|---\t|--- |")

	// Programs come in the order of their names.
	for _, name := range slices.Sorted(maps.Keys(t.runs)) {
		f := t.runs[name]
		fmt.Fprintf(tw, "| %s\t| %d\t| %d\t| %d\t| %.1f ms\t| %.2f s (%s)\t| %d MiB (%s) |\n", name, f.runs, f.errors, f.failures,
			f.cpu.Seconds()*1000/float64(f.runs), f.slowest.Seconds(), f.slowestFile, f.largest>>20, f.largestFile)
	}

	fmt.Fprintln(tw, "\n| damage\t| files |\n|---\t|--- |")
	for _, kind := range byCount(t.kinds) {
		fmt.Fprintf(tw, "| %s\t| %d |\n", kind, t.kinds[kind])
	}

	// The classes of errors show the programs' messages about damage.
	for _, name := range slices.Sorted(maps.Keys(t.runs)) {
		fmt.Fprintf(tw, "\n| error of %s\t| files |\n|---\t|--- |\n", name)
		for _, class := range byCount(t.classes[name]) {
			fmt.Fprintf(tw, "| %s\t| %d |\n", class, t.classes[name][class])
		}
	}

	fmt.Fprintln(tw, "\n| worker\t| status\t| answers\t| CPU of all\t| memory |\n|---\t|---\t|---\t|---\t|--- |")
	for _, row := range t.served {
		fmt.Fprintln(tw, row)
	}

	tw.Flush()
	// Failures come last, in an order that does not depend on the processes.
	slices.Sort(t.failed)
	for _, f := range t.failed {
		fmt.Fprintln(w, "FAILED", f)
	}
}

// byCount returns the keys, the most frequent first.
func byCount(m map[string]int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
}
