package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"symkit/test/testfile"
)

// job is one file and the programs to run on it.
type job struct {
	name   string // of the mutant or bomb
	kind   string // of damage
	data   []byte
	as     string // name of the file
	beside string // path of a program that lies in the same directory, or ""
	out    []byte // the symbol file that is there at first, or nil
	steps  []step
}

// outcome is the result of one process.
type outcome struct {
	failure string // the rule that the process broke, or ""
	class   string // of the error that it reported, or ""
	code    int    // its exit code
	cpu     time.Duration
	memory  int64 // peak RSS in bytes
}

// try writes the file into dir and runs the steps on it. A file on which a program failed is
// kept.
func (o *options) try(ctx context.Context, dir string, j job, t *table) error {
	in, out, program := filepath.Join(dir, j.as), filepath.Join(dir, "out.sym"), filepath.Join(dir, filepath.Base(j.beside))
	files := map[string]string{"IN": in, "OUT": out, "GSYM": filepath.Join(dir, "out.gsym"), "PROGRAM": program, "CORE": o.core}
	if err := os.WriteFile(in, j.data, 0o644); err != nil {
		return err
	}
	defer os.Remove(in) // the next job finds an empty directory
	if j.beside != "" {
		if err := os.Symlink(j.beside, program); err != nil {
			return err
		}
		defer os.Remove(program)
	}

	// A symbol file of the job before would hide that dump_syms wrote none.
	for _, path := range []string{out, files["GSYM"]} {
		err := os.Remove(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if j.out != nil {
		if err := os.WriteFile(out, j.out, 0o644); err != nil {
			return err
		}
	}

	// A step can need the symbol file of the steps before it, or its absence.
	for _, s := range j.steps {
		needed, none := strings.CutPrefix(s.needs, "no ")
		if needed != "" && exists(files[needed]) == none {
			continue
		}
		res, err := o.run(ctx, s, files, inputSize(&s, files))
		if err != nil {
			return err
		}

		// Of steps with OUT or GSYM, only dump_syms writes the symbol file and needs none.
		for _, name := range []string{"OUT", "GSYM"} {
			if res.failure == "" && s.needs == "" && slices.Contains(s.args, name) {
				res.failure = complete(files[name], res.code)
			}
		}
		t.add(j, s, res)
		if res.failure != "" {
			if err := o.save(j); err != nil {
				return err
			}
		}
	}

	t.done(j)
	return nil
}

// exists reports whether a file is there.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// inputSize returns the bytes of all files that a step reads.
func inputSize(s *step, files map[string]string) (size int64) {
	of := func(name string) int64 {
		info, err := os.Stat(files[name])
		if err != nil {
			return 0 // the step writes the file
		}
		return info.Size()
	}
	args, lines := s.command()
	for _, arg := range args {
		switch {
		case arg == "PROGRAM":
			size += of("IN") // the program itself is sound and small
		case arg == "IN" || arg == s.needs:
			size += of(arg)
		}
	}
	if size == 0 && len(lines) > 0 {
		return max(of("IN"), of("GSYM")) // only a log names the file
	}
	return size
}

// complete checks that there is a symbol file exactly if the exit code of
// dump_syms is 0, and returns the failure or the empty string.
func complete(out string, code int) string {
	switch {
	case code == 0 && !exists(out):
		return "exit code 0, but no symbol file"
	case code != 0 && exists(out):
		return fmt.Sprintf("exit code %d, but there is a symbol file", code)
	}
	return ""
}

// save keeps the file of a failure.
func (o *options) save(j job) error {
	if err := os.MkdirAll(o.keep, 0o755); err != nil {
		return err
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' {
			return '-'
		}
		return r
	}, j.name)
	return os.WriteFile(filepath.Join(o.keep, name), j.data, 0o644)
}

// run runs one program on files of size bytes, and judges the process. files are the paths
// that stand for arguments such as IN.
func (o *options) run(ctx context.Context, s step, files map[string]string, size int64) (res outcome, err error) {
	// A process may wait for a processor: CPU time is limited, elapsed time only loosely.
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, 12*o.time)
	defer cancel()

	// Put paths in the places of IN, OUT, GSYM, PROGRAM and CORE.
	args, lines := s.command()
	args = slices.Clone(args)
	for i, a := range args {
		args[i] = cmp.Or(files[a], a)
	}
	names := strings.NewReplacer("IN+", files["IN"]+"+", "IN ", files["IN"]+" ", "GSYM", files["GSYM"], "PROGRAM", files["PROGRAM"])

	bin, err := filepath.Abs(filepath.Join(o.bin, s.file()))
	if err != nil {
		return res, err
	}

	// Debuginfod is off, so that a run depends on nothing but its file.
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Args[0] = s.program
	cmd.Stdin = strings.NewReader(names.Replace(strings.Join(lines, "\n")))
	cmd.Dir = o.data
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	var stderr bytes.Buffer
	stdout := &text{}

	// A program that ends with an error code is judged, too.
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return res, err // it could not be started
	}
	if parent.Err() != nil {
		return res, parent.Err() // it was killed with us
	}

	res.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	res.memory = testfile.PeakMemory(cmd.ProcessState)
	res.code = cmd.ProcessState.ExitCode()
	res.failure, res.class = o.judge(s, cmd.ProcessState, stderr.String(), res, size)
	res.failure = cmp.Or(res.failure, judgeText(s, res.code, stdout, stderr.String()))
	return res, nil
}

var (
	panicked = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+ \[|SIG[A-Z]+:)`)
	// located, placed and whole match the forms of errors that docs/design.md requires: the
	// file, then the place, or that it is about all of the file.
	located     = regexp.MustCompile(`^\w+: (error: )?.*mutant\S*: .+`)
	beforePlace = regexp.MustCompile(`^\w+: (error: )?.*?mutant\S*: `)
	placed      = regexp.MustCompile(`(\+0x[0-9a-f]+|:[0-9]+|line [0-9]+): `)
	whole       = regexp.MustCompile(`^(is an archive; |does not belong to \S+: |is another module than |no symbols: |no symbols to dump: |no threads: |the symbol file is empty|names of symbols: |\.debug_info: symcheck-strings |(files|names|output|report|symcheck-\w+) above the limit|.*not (an ELF|a core|a minidump)|unsupported machine|neither )`)
	numbers     = regexp.MustCompile(`(0x)?\b[0-9a-f]*[0-9][0-9a-f]*\b|"[^"]*"`)
)

// judge returns the rule that a process broke, if any, and the class of the error
// that it reported.
func (o *options) judge(s step, state *os.ProcessState, stderr string, res outcome, size int64) (failure, class string) {
	first, _, _ := strings.Cut(stderr, "\n")
	code := state.ExitCode()
	// A crash explains other broken rules, so it comes first.
	switch {
	case panicked.MatchString(stderr):
		return "crash: " + first, ""
	case res.cpu > o.time || code < 0 && res.cpu > o.time/2:
		return fmt.Sprintf("%.1f s of CPU time", res.cpu.Seconds()), ""
	case code < 0:
		return "ended by " + state.String(), ""
	case res.memory > min(o.memory, s.floor()+20*size):
		return fmt.Sprintf("%d MiB of memory for %d bytes", res.memory>>20, size), ""
	case !slices.Contains(s.codes, code):
		return fmt.Sprintf("exit code %d: %s", code, first), ""
	case code == 1:
		return o.judgeError(stderr)
	}
	return "", ""
}

// judgeError checks that the error that a process ended with has a place, and
// returns the class of the error.
func (o *options) judgeError(stderr string) (failure, class string) {
	// Warnings may come before the error, so the last line that begins as an error does
	// counts.
	i := strings.LastIndex("\n"+stderr, "\n"+errorPrefix(stderr))
	line, _, _ := strings.Cut(stderr[max(i, 0):], "\n")
	if !located.MatchString(line) {
		return "an error without a file: " + line, ""
	}

	// The place, or the mark of an error about the whole file, comes after the file's name.
	class = line[beforePlace.FindStringIndex(line)[1]:]
	if !placed.MatchString(class) && !whole.MatchString(class) {
		return "an error without a place: " + line, ""
	}
	return "", numbers.ReplaceAllString(class, "N")
}

// errorPrefix returns the beginning of the line with the error.
func errorPrefix(stderr string) string {
	program, _, _ := strings.Cut(stderr, ":")
	return program + ": error: "
}

// smallMemory is the memory that a program may use for an input of any size: the
// runtime, its own code and the smallest buffers.
const smallMemory = 64 << 20

// frameMemory is the memory that stackwalk may use in addition: the limit on frames does not
// depend on the size of a dump, since they can share its memory.
const frameMemory = 256 << 20

// floor returns the memory that the program may use for an input of any size.
func (s *step) floor() int64 {
	if s.program == "stackwalk" {
		return smallMemory + frameMemory
	}
	return smallMemory
}
