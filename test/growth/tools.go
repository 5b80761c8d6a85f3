package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"symkit/test/testfile"
)

// tool is a program, and how it is called for an input. An argument IN/NAME is a file of the input; without this file
// the program has nothing to do there.
type tool struct {
	name  string // in the table
	path  string
	own   bool // of this repository
	lines [][]string
	stdin string
}

// Names of the files of an input.
const (
	imageFile   = "IN/" + moduleName
	archiveFile = "IN/archive.a"
	symbolsFile = "IN/out.sym"
	placesFile  = "IN/places"
	crashFile   = "IN/crash.dmp"
	storeDir    = "IN/store"
)

// tools are all programs: first ours, then the peers of each. The first dump_syms makes the symbol file for others.
var tools = []tool{
	{name: "dump_syms", path: "bin/dump_syms", own: true, lines: [][]string{
		{"--inlines", "-o", symbolsFile, imageFile}, {"-s", "IN/made", archiveFile}}},
	{name: "symcheck", path: "bin/symcheck", own: true, lines: [][]string{
		{symbolsFile, imageFile}, {"--store", storeDir}}},
	{name: "stackwalk", path: "bin/stackwalk", own: true, lines: [][]string{{"--symbols", storeDir, crashFile}}},
	{name: "symaddr", path: "bin/symaddr", own: true, lines: [][]string{{imageFile}}, stdin: placesFile},
	{name: "Mozilla", path: "peers/mozilla-dump_syms", lines: [][]string{{"--inlines", "-o", "IN/mozilla.sym", imageFile}}},
	{name: "rust-minidump", path: "peers/minidump-stackwalk", lines: [][]string{{"--symbols-path", storeDir, crashFile}}},
	{name: "LLVM", path: "llvm-symbolizer", lines: [][]string{{"--obj", imageFile}}, stdin: placesFile},
	{name: "elfutils", path: "eu-addr2line", lines: [][]string{{"-if", "-e", imageFile}}, stdin: placesFile},
	{name: "binutils", path: "addr2line", lines: [][]string{{"-if", "-e", imageFile}}, stdin: placesFile},
	{name: "gimli", path: "peers/gimli-addr2line", lines: [][]string{{"-if", "-e", imageFile}}, stdin: placesFile},
}

// installed returns the tools that are asked for and there, with their paths.
func (o *options) installed() (all []tool) {
	for _, t := range tools {
		path := t.path
		dir, name, ok := strings.Cut(t.path, "/")
		if ok {
			path = filepath.Join(map[string]string{"bin": o.bin, "peers": o.peers}[dir], name)
		}
		path, err := exec.LookPath(path)
		if err != nil || !o.tools.MatchString(t.name) {
			continue
		}
		t.path, _ = filepath.Abs(path)
		all = append(all, t)
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
		in.crash = processOfImage(&in)
		var b bytes.Buffer
		for _, place := range in.places {
			fmt.Fprintf(&b, "%#x\n", place)
		}
		files[placesFile] = b.Bytes()
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
	if in.image == nil {
		return nil
	}
	err := os.Truncate(filepath.Join(dir, moduleName), int64(len(in.image)+padding*n))
	if err != nil {
		return err
	}
	// The symbol file that dump_syms makes is also that of the store.
	_, path := moduleOf(moduleName, imageNumber, 0, 0)
	path = filepath.Join(dir, "store", path)
	err = os.MkdirAll(filepath.Dir(path), 0o755)
	if err != nil {
		return err
	}
	return os.Symlink(filepath.Join(dir, "out.sym"), path)
}

// arguments returns the arguments for an input in dir. ok is false if the input has no file for the tool.
func (t *tool) arguments(dir string) (args []string, ok bool) {
	for _, line := range t.lines {
		args, ok = nil, true
		for i, arg := range line {
			rest, in := strings.CutPrefix(arg, "IN/")
			if in {
				arg = filepath.Join(dir, rest)
				_, err := os.Stat(arg)
				written := i > 0 && strings.HasPrefix(line[i-1], "-") && len(line[i-1]) == 2
				ok = ok && (err == nil || written)
			}
			args = append(args, arg)
		}
		if ok {
			return args, true
		}
	}
	return nil, false
}

// cost runs a tool on the input in a directory. earlier are its costs for smaller inputs.
func (o *options) cost(ctx context.Context, t *tool, dir string, earlier series) (c cost, err error) {
	args, ok := t.arguments(dir)
	if !ok || len(earlier) > 0 && (earlier[len(earlier)-1].late || !earlier[len(earlier)-1].ran) {
		return c, nil
	}
	for range o.runs {
		next, err := o.run(ctx, t, args, dir)
		if err != nil {
			return c, err
		}
		if !next.ran {
			return next, nil
		}
		if !c.ran || next.seconds < c.seconds {
			c.seconds = next.seconds
		}
		if !c.ran || next.memory < c.memory {
			c.memory = next.memory
		}
		c.ran = true
		if c.seconds > 1 {
			break
		}
	}
	return c, nil
}

// run runs a tool once.
func (o *options) run(ctx context.Context, t *tool, args []string, dir string) (c cost, err error) {
	// The limit is one of processor time, which other work on the machine does not use up.
	limit := fmt.Sprintf(`ulimit -t %d; exec "$@"`, int(o.limit.Seconds()))
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", limit, "sh", t.path}, args...)...)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if t.stdin != "" {
		f, err := os.Open(filepath.Join(dir, strings.TrimPrefix(t.stdin, "IN/")))
		if errors.Is(err, fs.ErrNotExist) {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		defer f.Close()
		cmd.Stdin = f
	}

	// Linux counts the memory of this process as the peak of each child until exec.
	err = testfile.ForgetPeak()
	if err != nil {
		return c, err
	}
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return c, ctx.Err()
	case cmd.ProcessState.ExitCode() < 0: // ended by the signal of the limit
		return cost{late: true}, nil
	case err != nil:
		fmt.Fprintf(os.Stderr, "growth: %s %s: %v: %.300s\n", t.path, strings.Join(args, " "), err, stderr.Bytes())
		return c, nil
	}
	c.seconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	c.memory = float64(testfile.PeakMemory(cmd.ProcessState)) / (1 << 20)
	c.ran = true
	return c, nil
}
