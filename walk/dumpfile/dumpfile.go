// Package dumpfile opens crash dumps of any kind: core files, minidumps and microdumps, packed or not, at a path or
// an address, or from a stream.
//
//	d, err := dumpfile.Open(ctx, "crash.dmp", dumpfile.Options{Files: s.Files()})
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	result, err := d.Walk(ctx, s, walk.Options{})
//
// Packages corefile, minidump and microdump read one kind each.
package dumpfile

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"symkit/elfx"
	"symkit/elfx/archive/pkg"
	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/internal/quantity"
	"symkit/internal/remote"
	"symkit/limits"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/sources"
)

// Options say how a dump is opened.
type Options struct {
	// Files are those of the process's modules. They must not be nil.
	Files *sources.Files
	// DumpAlone takes the memory of a minidump or microdump from the dump alone, not from the modules' files.
	DumpAlone bool
	// Once reads a core file from the first byte to the last, and keeps the parts that a walk needs: Dump.Core.
	Once bool
	// Memory bounds what is kept of a dump that is read once, in bytes. 0: 128 MiB.
	Memory uint64
}

// defaultMemory is the value of Options.Memory.
const defaultMemory = 128 << 20

// Dump is an open crash dump.
type Dump struct {
	// Name is the path, address or name of the dump, without passwords.
	Name    string
	Process *walk.Process
	// Size is the number of bytes of the dump, unpacked if it is packed.
	Size uint64
	// Core is a core file that was read once, or nil.
	Core *corefile.Core

	path   string      // of a file that is mapped, or empty
	info   fs.FileInfo // of that file
	closes []func() error
}

// ErrLarge: a dump that is no core file, and that has to be read once, is larger than Options.Memory.
var ErrLarge = errors.New("larger")

// Open opens the dump at a path or an address. A packed dump is read once.
func Open(ctx context.Context, path string, opt Options) (*Dump, error) {
	local, remove, err := remote.Fetch(ctx, path)
	if err != nil {
		return nil, err
	}
	d := &Dump{Name: remote.Shown(path), closes: []func() error{func() error { remove(); return nil }}}
	if opt.Once || isPacked(local) {
		err = d.readFile(ctx, local, opt)
	} else {
		err = d.openFile(local, opt)
	}
	if local != path {
		d.path = "" // the copy of a packed or remote dump belongs to d alone: no other program changes it
	}
	if err != nil {
		d.Close()
		return nil, remote.Renamed(err, local, path)
	}
	return d, nil
}

// Read reads a dump from a stream. The name is that in errors.
func Read(ctx context.Context, in io.Reader, name string, opt Options) (*Dump, error) {
	d := &Dump{Name: name}
	err := d.unpack(ctx, bufio.NewReaderSize(in, pkg.HeadSize), opt)
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// openFile opens a file that is mapped.
func (d *Dump) openFile(path string, opt Options) error {
	file, err := mem.Open(path)
	if err != nil {
		return err
	}
	d.path, d.info, d.Size = path, file.Info(), uint64(file.Info().Size())
	data := file.Bytes()
	changed := mem.Guard(func() error {
		if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
			err = d.decode(data, opt)
		}
		return nil
	})
	if changed != nil {
		err = &filename.Error{Path: path, Err: changed}
	}
	if err != nil || d.Process != nil {
		d.closes = append(d.closes, file.Release)
		return err
	}

	// Package corefile maps the file itself; the mapping is kept until Close.
	file.Release()
	core, err := corefile.Open(path, corefile.Options{Files: opt.Files})
	if err != nil {
		return err
	}
	d.Process, d.closes = core.Process, append(d.closes, core.Close)
	return nil
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

// readFile reads a file once.
func (d *Dump) readFile(ctx context.Context, path string, opt Options) error {
	file, err := openRegular(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return d.unpack(ctx, bufio.NewReaderSize(file, pkg.HeadSize), opt)
}

// openRegular opens a regular file: opening a FIFO would block until a process writes to the FIFO.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &filename.Error{Path: path, Err: elfx.ErrNotRegular}
	}
	return os.Open(path)
}

// unpack reads a dump from a stream that may be compressed. What is unpacked is read once, as a core file from a
// pipe, so that no copy is made.
func (d *Dump) unpack(ctx context.Context, in *bufio.Reader, opt Options) error {
	head, _ := in.Peek(pkg.HeadSize) // a shorter stream is no dump
	head = bytes.Clone(head)
	out, err := pkg.Unpack(in, limits.Limits{})
	if err != nil {
		return d.neither(head)
	}
	if out == nil {
		return d.read(ctx, in, opt)
	}
	defer out.Close()
	return d.read(ctx, bufio.NewReader(out), opt)
}

// read reads a dump from a stream.
func (d *Dump) read(ctx context.Context, in *bufio.Reader, opt Options) error {
	memory := opt.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	head, err := in.Peek(16)
	if err != nil && err != io.EOF {
		return &filename.Error{Path: d.Name, Err: err}
	}
	if bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		core, err := corefile.Read(ctx, in, d.Name, corefile.Options{Files: opt.Files, Memory: memory})
		if err != nil {
			return err
		}
		d.Process, d.Core, d.Size, d.closes = core.Process, core, core.Size(), append(d.closes, core.Close)
		return nil
	}

	// Other dumps are read at any offset, so all of each is kept.
	data, err := io.ReadAll(io.LimitReader(in, int64(memory)+1))
	if err == nil && uint64(len(data)) > memory {
		err = fmt.Errorf("%w than %s", ErrLarge, quantity.Count(memory, "byte", "bytes"))
	}
	if err != nil {
		return &filename.Error{Path: d.Name, Err: err}
	}
	d.Size = uint64(len(data))
	return d.decode(data, opt)
}

// Walk walks the process. If the dump has changed since it was opened, the error is elfx.ErrChanged, whatever the walk
// found.
func (d *Dump) Walk(ctx context.Context, s walk.Supplier, opt walk.Options) (*walk.Result, error) {
	res, err := walk.Walk(ctx, d.Process, s, opt)
	if d.path != "" {
		changed := elfx.Unchanged(d.path, d.info)
		if changed != nil {
			return nil, changed
		}
	}
	if errors.Is(err, elfx.ErrChanged) {
		return nil, &filename.Error{Path: d.Name, Err: fmt.Errorf("a module's symbols: %w", err)}
	}
	return res, err
}

// Close releases the dump, which the process and results of walks alias.
func (d *Dump) Close() (err error) {
	for i := len(d.closes) - 1; i >= 0; i-- {
		err = errors.Join(err, d.closes[i]())
	}
	d.closes = nil
	return err
}
