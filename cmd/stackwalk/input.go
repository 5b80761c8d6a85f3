package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/internal/command"
	"symkit/internal/mem"
	"symkit/internal/quantity"
	"symkit/internal/wire"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/microdump"
	"symkit/walk/minidump"
	"symkit/walk/symbols/sources"
)

// open opens a minidump or a core file; the first bytes of the file decide which. The
// process aliases the file until the returned function closes it.
func open(path string, files *sources.Files, code bool) (*walk.Process, func() error, error) {
	file, err := mem.Open(path)
	if err != nil {
		return nil, nil, command.Unreadable("", path, err, wantDump)
	}

	data := file.Bytes()
	var p *walk.Process
	// A core file is left to package corefile, which opens it itself.
	changed := mem.Guard(func() error {
		if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
			p, err = decode(path, data, files, code)
		}
		return nil
	})

	switch {
	case changed != nil:
		err = fmt.Errorf("%s: %w", path, changed)
	case p != nil:
		return p, file.Release, nil
	}

	file.Release()
	if err != nil {
		return nil, nil, err
	}

	// corefile maps the file itself; the mapping is kept until Close.
	core, err := corefile.Open(path, corefile.Options{Files: files})
	if err != nil {
		return nil, nil, coreError(err)
	}
	return core.Process, core.Close, nil
}

// coreError adds advice to the error of a core file.
func coreError(err error) error {
	if errors.Is(err, corefile.ErrNotCore) {
		return fmt.Errorf("%w: it is a program or library; give the crash dump, and this file with --exe", err)
	}
	return incomplete(err)
}

// incomplete adds advice to the error of a truncated dump.
func incomplete(err error) error {
	if errors.Is(err, wire.ErrTruncated) {
		return fmt.Errorf("%w: the dump is not complete; copy it again", err)
	}
	return err
}

// micro returns the process of the first microdump in a log.
func micro(path string, log []byte) (*walk.Process, error) {
	dumps, err := microdump.Decode(log)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := dumps[0].Process()
	if n := len(dumps); n > 1 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: the first of %s microdumps is shown; cut the log at their first lines to show the others", path, quantity.Number(n)))
	}
	return p, nil
}

// decode reads a dump that is in memory and is not a core file. name is its name in errors. With
// code, the process has the code of the modules' files.
func decode(name string, data []byte, files *sources.Files, code bool) (p *walk.Process, err error) {
	switch {
	case microdump.Is(data):
		p, err = micro(name, data)
	case bytes.HasPrefix(data, []byte("MDMP")), bytes.HasPrefix(data, []byte("PMDM")):
		p, err = mini(name, data, files)
	default:
		err = neither(name, data)
	}
	if err == nil && code {
		files.AddCode(p)
	}
	return p, err
}

// mini returns the process of a minidump.
func mini(name string, data []byte, files *sources.Files) (*walk.Process, error) {
	d, err := minidump.New(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, incomplete(err))
	}
	p := d.Process()
	if p.OS == "Linux" || p.OS == "Android" {
		files.Headers(p)
	}

	// Without /proc/PID/maps, the load addresses of modules need the modules' files.
	if !d.HasMaps() && (p.OS == "Linux" || p.OS == "Android") {
		files.LoadAddresses(p)
	}
	return p, nil
}

// wantDump is the input that errors about other files ask for.
const wantDump = "the path of a minidump or core file"

// neither returns the error for a file that is no crash dump.
func neither(path string, data []byte) error {
	const what = "neither a minidump nor an ELF core file"
	switch kind := elfx.KindOf(data); {
	case bytes.HasPrefix(data, []byte("MODULE ")):
		return fmt.Errorf("%s: %s: it is a Breakpad symbol file; give the crash dump, and this file with --symbols", path, what)
	case kind.Reader != "":
		return fmt.Errorf("%s: %s: it is %v", path, what, kind)
	case kind.Name != "":
		return fmt.Errorf("%s: %s: it is %v; give %s", path, what, kind, wantDump)
	}
	return fmt.Errorf("%s: %s; give %s", path, what, wantDump)
}
