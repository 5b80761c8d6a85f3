package filename

import (
	"errors"
	"io/fs"
)

// Error is an error about the file at a path or an address, with which its text begins.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Cause returns the cause of an Error about the file at path, for messages that begin with the
// path. Other errors are returned unchanged.
func Cause(err error, path string) error {
	e, ok := err.(*Error)
	if ok && e.Path == path {
		return e.Err
	}
	return err
}

// WithoutPath returns the cause of a system error that names a path, for messages that
// begin with the path. Other errors are returned unchanged.
func WithoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
