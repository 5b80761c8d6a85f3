package filename

import (
	"errors"
	"io/fs"
)

// WithoutPath returns the cause of a system error that names a path, for messages that
// begin with the path. Other errors are returned unchanged.
func WithoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
