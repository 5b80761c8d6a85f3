package squashfs

import (
	"errors"
	"path"
	"strings"
	"testing"

	"symkit/located"
)

// FuzzWalk: names stay in the image, no more is read than Options.Unpacked has counted
// for, and every error has a place in the image.
func FuzzWalk(f *testing.F) {
	for _, how := range []string{"gzip", "xz", "zstd", "lz4"} {
		f.Add(image(f, how))
	}
	f.Add(looped("sub"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := walked(data)
		if errors.Is(err, ErrUnread) || errors.Is(err, errLimit) {
			return
		}
		errs := []error{err}
		for _, err := range got.damaged {
			errs = append(errs, err)
		}
		for _, err := range errs {
			_, ok := errors.AsType[*located.Error](err)
			if err != nil && !ok {
				t.Errorf("an error without a place: %v", err)
			}
		}
		for _, name := range got.names {
			if "/"+name != path.Clean("/"+name) || strings.Contains(name, "\x00") || len(name) > maxPath {
				t.Errorf("name %q", name)
			}
		}

		// A fragment block is unpacked once for the files that share it.
		if got.read > got.unpacked*(1+len(got.names)) {
			t.Errorf("%d bytes read, %d unpacked for %d files", got.read, got.unpacked, len(got.names))
		}
	})
}
