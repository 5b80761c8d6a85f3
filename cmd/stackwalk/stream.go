package main

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"

	"symkit/elfx/archive/pkg"
	"symkit/internal/command"
	"symkit/internal/quantity"
	"symkit/limits"
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
	if !j.streamed() && !isPacked(j.path) {
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
	return j.unpack(ctx, bufio.NewReaderSize(in, pkg.HeadSize), name)
}

// isPacked reports whether a file is compressed, as systemd's cores are.
func isPacked(path string) bool {
	file, err := openRegular(path)
	if err != nil {
		return false // the error is that of opening the dump
	}
	defer file.Close()
	in, err := pkg.Unpack(bufio.NewReaderSize(file, pkg.HeadSize), limits.Limits{})
	if in != nil {
		in.Close()
	}
	return in != nil || err != nil
}

// unpack reads a dump from a stream that may be compressed. What is unpacked is read once, as a
// core file from a pipe, so that no copy is made.
func (j *job) unpack(ctx context.Context, in *bufio.Reader, name string) (*walk.Process, func() error, error) {
	head, _ := in.Peek(pkg.HeadSize) // a shorter stream is no dump
	head = bytes.Clone(head)
	out, err := pkg.Unpack(in, limits.Limits{})
	if err != nil {
		return nil, nil, neither(name, head)
	}
	if out == nil {
		return j.read(ctx, in, name)
	}
	defer out.Close()
	return j.read(ctx, bufio.NewReader(out), name)
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
		return nil, nil, fmt.Errorf("%s: larger than %s; if it is a minidump, allow more with --memory", name, quantity.Count(memory, "byte", "bytes"))
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
