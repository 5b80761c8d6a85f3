package dumpfile

import (
	"bytes"
	"fmt"

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/microdump"
	"symkit/walk/minidump"
	"symkit/walk/symbols/sources"
	"symkit/walk/tombstone"
)

// KindError is the error about a file that is no crash dump.
type KindError struct{ Kind elfx.Kind }

func (e *KindError) Error() string {
	const text = "neither a minidump nor an ELF core file"
	switch e.Kind {
	case elfx.Kind{}:
		return text
	case elfx.SymbolFile:
		return text + ": it is " + e.Kind.Name
	}
	return text + ": it is " + e.Kind.String()
}

// neither returns the error for a file that begins with data and is no crash dump.
func (d *Dump) neither(data []byte) error {
	kind := elfx.KindOf(data)
	if bytes.HasPrefix(data, []byte("MODULE ")) {
		kind = elfx.SymbolFile
	}
	return &filename.Error{Path: d.Name, Err: &KindError{kind}}
}

// decode reads a dump that is in memory and is not a core file.
func (d *Dump) decode(data []byte, opt Options) (err error) {
	switch {
	case microdump.Is(data):
		d.Process, err = micro(d.Name, data)
	case bytes.HasPrefix(data, []byte("MDMP")), bytes.HasPrefix(data, []byte("PMDM")):
		d.Process, err = mini(data, opt.Files)
	case tombstone.Is(data):
		d.Process, err = stone(d.Name, data, opt.Files)
	default:
		return d.neither(data)
	}
	if err != nil {
		return &filename.Error{Path: d.Name, Err: err}
	}
	if !opt.DumpAlone {
		opt.Files.AddCode(d.Process)
	}
	return nil
}

// micro returns the process of the first microdump in a log.
func micro(name string, log []byte) (*walk.Process, error) {
	dumps, err := microdump.Decode(log)
	if err != nil {
		return nil, err
	}
	p := dumps[0].Process()
	n := len(dumps)
	if n > 1 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: the first of %s microdumps is shown; cut the log at their first lines to show the others", name, quantity.Number(n)))
	}
	return p, nil
}

// stone returns the process of the first tombstone in a log.
func stone(name string, data []byte, files *sources.Files) (*walk.Process, error) {
	stones, err := tombstone.Decode(data)
	if err != nil {
		return nil, err
	}
	p := stones[0].Process()
	files.Bases(p)
	n := len(stones)
	if n > 1 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: the first of %s tombstones is shown; cut the log at their first lines to show the others", name, quantity.Number(n)))
	}
	return p, nil
}

// mini returns the process of a minidump.
func mini(data []byte, files *sources.Files) (*walk.Process, error) {
	d, err := minidump.New(data)
	if err != nil {
		return nil, err
	}
	p := d.Process()
	if p.OS != "Linux" && p.OS != "Android" {
		return p, nil
	}
	files.Headers(p)
	files.Identify(p)

	// Without /proc/PID/maps, the load addresses of modules need the modules' files.
	if !d.HasMaps() {
		files.LoadAddresses(p)
	}
	return p, nil
}
