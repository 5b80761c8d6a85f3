package minidump

import "symkit/walk/internal/mdmp"

// ErrSignature: the file does not begin with MDMP.
var ErrSignature = mdmp.ErrSignature

// Dump is a decoded minidump. It aliases the bytes given to New.
type Dump struct{ file *mdmp.Dump }

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
	return &Dump{file}, nil
}

// HasMaps reports whether the dump has /proc/PID/maps.
func (d *Dump) HasMaps() bool { return len(d.file.Maps) > 0 }
