package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"symkit/test/elftest"
	"symkit/test/testfile"
)

// tool is a program, and how it is called for an input. An argument IN/NAME is a file of the input; without this file
// the program has nothing to do there.
type tool struct {
	name  string // in the table
	path  string
	own   bool // of this repository
	maker bool // makes the symbol files that others read
	asked bool // is to be measured
	// findings means that the exit code 2 is no failure: two symbol files differ, or a stack has no callers.
	findings bool
	lines    [][]string
	stdin    string
}

// Names of the files of an input.
const (
	imageFile   = "IN/" + moduleName
	archiveFile = "IN/archive.a"
	symbolsFile = "IN/out.sym"
	changedFile = "IN/changed.sym"
	onlyFile    = "IN/only.sym" // the same as symbolsFile, without an ELF file
	gsymFile    = "IN/out.gsym"
	coreFile    = "IN/core"
	placesFile  = "IN/places"
	crashFile   = "IN/crash.dmp"
	storeDir    = "IN/store"
)

// tools are all programs: first ours, then the peers of each. The first dump_syms makes the symbol file for others.
var tools = []tool{
	{name: "dump_syms", path: "bin/dump_syms", own: true, lines: [][]string{
		{"--inlines", "-o", symbolsFile, imageFile}, {"-s", "IN/made", archiveFile},
		{"--format=gsym", "-o", gsymFile, "IN/gsym.elf"}}},
	{name: "symcheck", path: "bin/symcheck", own: true, findings: true, lines: [][]string{
		{symbolsFile, imageFile}, {"diff", onlyFile, changedFile}, {"lint", onlyFile}, {"--store", storeDir}}},
	{name: "stackwalk", path: "bin/stackwalk", own: true, findings: true, lines: [][]string{{"--symbols", storeDir, crashFile}, {coreFile}}},
	{name: "symaddr", path: "bin/symaddr", own: true, lines: [][]string{{imageFile}, {onlyFile}, {gsymFile}}, stdin: placesFile},
	{name: "Mozilla", path: "peers/mozilla-dump_syms", lines: [][]string{{"--inlines", "-o", "IN/mozilla.sym", imageFile}}},
	{name: "rust-minidump", path: "peers/minidump-stackwalk", lines: [][]string{{"--symbols-path", storeDir, crashFile}}},
	{name: "LLVM", path: "llvm-symbolizer", lines: [][]string{{"--obj", imageFile}}, stdin: placesFile},
	{name: "elfutils", path: "eu-addr2line", lines: [][]string{{"-if", "-e", imageFile}}, stdin: placesFile},
	{name: "binutils", path: "addr2line", lines: [][]string{{"-if", "-e", imageFile}}, stdin: placesFile},
	{name: "gimli", path: "peers/gimli-addr2line", lines: [][]string{{"-if", "-e", imageFile}}, stdin: placesFile},
}

// installed returns the tools that are asked for and there, with their paths, and the maker of symbol files.
func (o *options) installed() (all []tool) {
	for i, t := range tools {
		path := t.path
		dir, name, ok := strings.Cut(t.path, "/")
		if ok {
			path = filepath.Join(map[string]string{"bin": o.bin, "peers": o.peers}[dir], name)
		}
		path, err := exec.LookPath(path)
		if err != nil {
			continue
		}
		t.path, _ = filepath.Abs(path)
		t.maker = i == 0
		t.asked = o.tools.MatchString(t.name)
		if t.maker || t.asked {
			all = append(all, t)
		}
	}
	return all
}

// padding is the number of bytes at the end of an ELF file for each record, which no program reads and no disk stores.
// Real files have such types, parameters and variables beside what is measured here. Without them the limits by the size
// of a file, which are for bombs, would end a run, and the collector of garbage would work against them.
const padding = 512

// write makes the input of n records in a directory.
func (s *shape) write(n int, dir string) error {
	in := s.make(n)
	files := map[string][]byte{}
	if in.image != nil {
		files[imageFile] = in.image
		if !in.object {
			in.crash = processOf(in.places, elftest.LoadBase, len(in.image))
		}
	}
	if in.symbols != nil {
		files[onlyFile], files[symbolsFile] = in.symbols, in.symbols
		in.crash = processOf(in.places, 0, functionSize*n)
	}
	if in.places != nil {
		var b bytes.Buffer
		for _, place := range in.places {
			fmt.Fprintf(&b, "%#x\n", place)
		}
		files[placesFile] = b.Bytes()
	}
	if in.changed != nil {
		files[changedFile] = in.changed
	}
	for name, data := range in.more {
		files["IN/"+name] = data
	}
	if in.core != nil {
		files[coreFile] = in.core
	}
	if in.split != nil {
		files[imageFile+".dwp"] = in.split
	}
	if in.archive != nil {
		files[archiveFile] = in.archive
	}
	if in.crash != nil {
		files[crashFile] = in.crash.Minidump()
		for path, text := range in.crash.symbols {
			files[filepath.Join(storeDir, path)] = []byte(text)
		}
	}
	for path, data := range files {
		path = filepath.Join(dir, strings.TrimPrefix(path, "IN/"))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err != nil {
			return err
		}
		err = os.WriteFile(path, data, 0o644)
		if err != nil {
			return err
		}
	}
	if in.image != nil {
		err := os.Truncate(filepath.Join(dir, moduleName), int64(len(in.image)+padding*n))
		if err != nil {
			return err
		}
	}
	if in.image == nil && in.symbols == nil {
		return nil
	}
	// The symbol file that dump_syms makes, or that is given, is also that of the store.
	_, path := moduleOf(moduleName, imageNumber, 0, 0)
	path = filepath.Join(dir, "store", path)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err != nil {
		return err
	}
	return os.Symlink(filepath.Join(dir, "out.sym"), path)
}

// arguments returns the arguments for an input in dir. ok is false if the input has no file for the tool.
func (t *tool) arguments(dir string) (args []string, ok bool) {
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, strings.TrimPrefix(name, "IN/")))
		return err == nil
	}
	if t.stdin != "" && !exists(t.stdin) {
		return nil, false
	}
	for _, line := range t.lines {
		args, ok = nil, true
		for i, arg := range line {
			rest, in := strings.CutPrefix(arg, "IN/")
			if in {
				written := i > 0 && strings.HasPrefix(line[i-1], "-") && len(line[i-1]) == 2
				ok = ok && (written || exists(rest))
				arg = filepath.Join(dir, rest)
			}
			args = append(args, arg)
		}
		if ok {
			return args, true
		}
	}
	return nil, false
}

// atMost is the processor time after which a program does not run once more with one input.
const atMost = 3.0

// cost runs a tool on the input in a directory once more, and notes the cost in all[k], if a smaller input did not take
// too long.
func (o *options) cost(ctx context.Context, t *tool, dir string, all series, k int) error {
	c := &all[k]
	args, ok := t.arguments(dir)
	if !t.asked && c.Runs > 0 || !ok || c.Late || k > 0 && all[k-1].Runs == 0 || float64(c.Runs)*c.Seconds > atMost {
		return nil
	}
	err := os.RemoveAll(filepath.Join(dir, "made")) // a store that has the modules already costs less
	if err != nil {
		return err
	}
	seconds, memory, err := o.run(ctx, t, args, dir)
	switch {
	case errors.Is(err, errLate):
		c.Late = true
		return nil
	case err != nil || memory == 0:
		return err
	}
	if c.Runs == 0 || seconds < c.Seconds {
		c.Seconds = seconds
	}
	if c.Runs == 0 || memory < c.Memory {
		c.Memory = memory
	}
	c.Runs++
	return nil
}

// stepsOf finds the number of instructions in the messages of valgrind.
var stepsOf = regexp.MustCompile(`I +refs: +([0-9,]+)`)

// count counts the instructions for the single record and for the inputs before the largest one, with which a program
// takes too long in valgrind.
func (o *options) count(ctx context.Context, t *tool, dir string, all series) error {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return nil
	}
	slow := *t
	slow.path = valgrind
	for k := range all[:len(all)-1] {
		c := &all[k]
		in := filepath.Join(dir, fmt.Sprint(c.Records))
		args, ok := t.arguments(in)
		if !ok || c.Runs == 0 || k > 0 && k < len(all)-1-largest {
			continue
		}
		args = append([]string{"--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", t.path}, args...)
		for range 4 { // valgrind ends early at times, by an assertion of its own
			cmd, err := o.command(ctx, &slow, args, in)
			if err != nil {
				return err
			}
			cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
			message, _ := cmd.CombinedOutput() // the exit code is that of the program
			found := stepsOf.FindSubmatch(message)
			if found != nil {
				c.Steps, err = strconv.ParseFloat(strings.ReplaceAll(string(found[1]), ",", ""), 64)
				if err != nil {
					return err
				}
				break
			}
		}
	}
	return ctx.Err()
}

// errLate is the error of a run that took as long as the limit.
var errLate = errors.New("took too long")

// command returns the command of a run.
func (o *options) command(ctx context.Context, t *tool, args []string, dir string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, t.path, args...)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	if t.stdin == "" {
		return cmd, nil
	}
	places, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(t.stdin, "IN/")))
	if err != nil {
		return nil, err
	}
	cmd.Stdin = bytes.NewReader(places)
	return cmd, nil
}

// run runs a tool once, and returns its processor time and peak of memory: 0 if the tool cannot read the input.
func (o *options) run(ctx context.Context, t *tool, args []string, dir string) (seconds, memory float64, err error) {
	// The limit is one of processor time, which other work on the machine does not use up.
	limited := *t
	limited.path = "/bin/sh"
	limit := fmt.Sprintf(`ulimit -t %d; exec "$@"`, int(o.limit.Seconds()))
	cmd, err := o.command(ctx, &limited, append([]string{"-c", limit, "sh", t.path}, args...), dir)
	if err != nil {
		return 0, 0, err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	// Linux counts the memory of this process as the peak of each child until exec.
	err = testfile.ForgetPeak()
	if err != nil {
		return 0, 0, err
	}
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	case cmd.ProcessState == nil:
		return 0, 0, err
	case cmd.ProcessState.ExitCode() < 0: // ended by the signal of the limit
		return 0, 0, errLate
	case err != nil && !(cmd.ProcessState.ExitCode() == 2 && t.findings):
		fmt.Fprintf(os.Stderr, "growth: %s %s: %v: %.300s\n", t.path, strings.Join(args, " "), err, stderr.Bytes())
		return 0, 0, nil
	}
	seconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return seconds, float64(testfile.PeakMemory(cmd.ProcessState)) / (1 << 20), nil
}
