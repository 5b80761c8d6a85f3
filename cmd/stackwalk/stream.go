package main

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"

	"symkit/internal/command"
	"symkit/walk"
	"symkit/walk/corefile"
)

// standardInput is the path of standard input on the command line; standardInputName is its
// name in messages.
const standardInput, standardInputName = "-", "standard input"

// defaultMemory is the value of --memory, in bytes.
const defaultMemory = 128 << 20

// streamed reports whether the dump is read once, from the first byte to the last: standard
// input, and a file of which a minidump is written.
func (j *job) streamed() bool { return j.path == standardInput || j.c.Minidump != "" }

// open opens the dump.
func (j *job) open(ctx context.Context) (*walk.Process, func() error, error) {
	if !j.streamed() {
		return open(j.path, j.files, !j.c.dumpOnly)
	}

	in, name := j.c.stdin, standardInputName
	if in == nil {
		in = os.Stdin
	}
	if j.path != standardInput {
		file, err := openRegular(j.path)
		if err != nil {
			return nil, nil, command.Unreadable("", j.path, err, wantDump)
		}
		defer file.Close()
		in, name = file, j.path
	}
	return j.read(ctx, bufio.NewReader(in), name)
}

// read reads a dump from a stream.
func (j *job) read(ctx context.Context, in *bufio.Reader, name string) (*walk.Process, func() error, error) {
	memory := uint64(j.c.Memory)
	if memory == 0 {
		memory = defaultMemory
	}
	head, err := in.Peek(16)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}

	switch {
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		core, err := corefile.Read(ctx, in, name, corefile.Options{Files: j.files, Memory: memory})
		if err != nil {
			return nil, nil, coreError(err)
		}
		j.size = core.Size()
		j.core = core
		return core.Process, core.Close, nil
	case j.c.Minidump != "":
		return nil, nil, fmt.Errorf("%s: not an ELF core file, the only input of --minidump; leave out --minidump, or give a core file", name)
	case len(head) == 0:
		return nil, nil, neither(name, nil)
	}

	// Other dumps are read at any offset, so all of each is kept.
	data, err := io.ReadAll(io.LimitReader(in, int64(memory)+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	case uint64(len(data)) > memory:
		return nil, nil, fmt.Errorf("%s: larger than %d bytes; if it is a minidump, allow more with --memory", name, memory)
	}
	j.size = uint64(len(data))
	p, err := decode(name, data, j.files, !j.c.dumpOnly)
	return p, func() error { return nil }, err
}

// openRegular opens a regular file: opening a FIFO would block until a process writes to the FIFO.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.Open(path)
}
