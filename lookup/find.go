package lookup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenModule opens the file of a module that a profile or a log names, with its companions: the file at its absolute
// path, below each of Options.Search.Sysroots first, or else the file or the debug file with its build id. Either may be
// empty. A file with another build id is not taken. The error is fs.ErrNotExist if there is no file.
func OpenModule(ctx context.Context, path string, buildID []byte, opt Options) (*File, error) {
	var fault error // of the first file that there is
	try := func(path string) *File {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		f, err := Open(ctx, path, opt)
		if err == nil {
			id := f.BuildID()
			if len(id) == 0 || len(buildID) == 0 || bytes.Equal(id, buildID) {
				return f
			}
			f.Close()
			err = fmt.Errorf("%s: has the build id %x, not %x", path, id, buildID)
		}
		fault = cmp.Or(fault, err)
		return nil
	}
	var places []string
	if path != "" {
		for _, root := range opt.Search.Sysroots {
			places = append(places, filepath.Join(root, path))
		}
		places = append(places, path)
	}
	places = append(places, opt.Search.BuildIDPaths(buildID, "")...)
	for _, place := range append(places, opt.Search.BuildIDPaths(buildID, ".debug")...) {
		f := try(place)
		if f != nil {
			return f, nil
		}
	}
	if opt.Search.Fetch != nil && len(buildID) > 0 {
		place, err := opt.Search.Fetch(ctx, buildID)
		if err == nil {
			f := try(place)
			if f != nil {
				return f, nil
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			fault = cmp.Or(fault, err)
		}
	}
	return nil, cmp.Or(fault, fmt.Errorf("%s: %w", cmp.Or(path, fmt.Sprintf("build id %x", buildID)), fs.ErrNotExist))
}
