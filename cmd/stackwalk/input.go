package main

import (
	"bytes"
	"fmt"

	"symkit/elfx"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/minidump"
)

// open reads a minidump or a core file, whichever its first bytes say. The
// process aliases the file until it is closed.
func open(path string, files *walk.Files) (*walk.Process, func() error, error) {
	data, unmap, err := elfx.Map(path)
	if err != nil {
		return nil, nil, err
	}
	var p *walk.Process
	changed := elfx.Guard(func() error {
		if !bytes.HasPrefix(data, []byte("MDMP")) && !bytes.HasPrefix(data, []byte("PMDM")) {
			return nil
		}
		d, derr := minidump.New(data)
		if derr != nil {
			err = fmt.Errorf("%s: %w", path, derr)
			return nil
		}
		p = d.Process()
		if len(d.Linux.Maps) == 0 && (p.OS == "Linux" || p.OS == "Android") {
			files.LoadAddresses(p)
		}
		return nil
	})
	switch {
	case changed != nil:
		err = fmt.Errorf("%s: %w", path, changed)
	case p != nil:
		return p, unmap, nil
	}
	unmap()
	if err != nil {
		return nil, nil, err
	}
	core, err := corefile.Open(path, files)
	if err != nil {
		return nil, nil, err
	}
	return core.Process, core.Close, nil
}
