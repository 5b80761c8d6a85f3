package minidump

import (
	"fmt"

	"symkit/located"
	"symkit/walk/internal/mdmp"
)

// ErrSignature: the file does not begin with MDMP.
var ErrSignature = mdmp.ErrSignature

// Dump is a decoded minidump. It aliases the bytes given to New.
type Dump struct {
	// Losses are the errors of parts that could not be read, at most a hundred of them; Lost
	// counts all.
	Losses []Loss
	Lost   int

	file *mdmp.Dump
}

// Loss is a damaged part of a dump.
type Loss struct {
	Stream string // the name of the stream's type
	Err    *located.Error
}

// Error returns the type of the stream, the place and the cause.
func (l Loss) Error() string { return fmt.Sprintf("%s: %v", l.Stream, l.Err) }

// Unwrap returns the located error.
func (l Loss) Unwrap() error { return l.Err }

// New decodes the minidump in data. The error is a *located.Error, its offset
// counted from the start of the file; it may be wrapped in the name of the
// stream.
func New(data []byte) (*Dump, error) {
	file, err := mdmp.Read(data)
	if err == nil {
		err = file.Required()
	}
	if err != nil {
		return nil, err
	}
	d := &Dump{file: file, Lost: file.Lost}
	for _, l := range file.Losses {
		d.Losses = append(d.Losses, Loss{l.Stream.String(), l.Err})
	}
	return d, nil
}

// HasMaps reports whether the dump has /proc/PID/maps.
func (d *Dump) HasMaps() bool { return len(d.file.Maps) > 0 }
