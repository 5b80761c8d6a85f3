package depot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Missing reports whether an error says that a file does not exist.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// ErrMissing is the error for a file that the depot does not have.
var ErrMissing = fmt.Errorf("not in the store: %w", fs.ErrNotExist)

// MaxRaces is how often something is done again because another process has stored a file meanwhile.
const MaxRaces = 16

// maxNote bounds a note in bytes: one about an upload of 1,024 files has a few hundred thousand.
const maxNote = 8 << 20

// ReadNote returns the text of a small file.
func ReadNote(ctx context.Context, d Depot, key string) (string, error) {
	r, _, err := d.Open(ctx, key)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxNote))
	return string(text), err
}

// PutNote makes a small file, in the place of the one that there is.
func PutNote(ctx context.Context, d Depot, key, text string) error {
	for range MaxRaces {
		blob := &Blob{ReaderAt: strings.NewReader(text), Length: int64(len(text)), Type: "text/plain; charset=utf-8"}
		old, err := d.Stat(ctx, key)
		switch {
		case Missing(err):
			err = d.Put(ctx, key, blob, nil)
		case err == nil:
			err = d.Put(ctx, key, blob, &old)
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}
