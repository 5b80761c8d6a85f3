package intake

import (
	"context"
	"errors"
	"io"
	"strings"

	"symkit/elfx"
	"symkit/internal/spool"
	"symkit/serve/internal/depot"
)

// OpenELF opens an ELF file by its build id. A program that has its debug information inside is its own debug file.
func (s *Intake) OpenELF(ctx context.Context, id, kind string) (io.ReadSeekCloser, depot.File, error) {
	for _, place := range depot.BuildIDPlaces(id, kind) {
		content, file, err := s.Depot.Open(ctx, place)
		if !depot.Missing(err) {
			return content, file, err
		}
	}
	content, file, err := s.openNoted(ctx, id, kind)
	if !depot.Missing(err) || kind != "debuginfo" {
		return content, file, err
	}
	content, file, err = s.OpenELF(ctx, id, "executable")
	if err != nil {
		return nil, file, err
	}
	has, err := s.hasDebugInfo(file, content)
	if err == nil && !has {
		err = depot.ErrMissing
	}
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, file, errors.Join(err, content.Close())
	}
	return content, file, nil
}

// openNoted opens the ELF file that a note names for a build id: an upload has stored it by the name of its module.
func (s *Intake) openNoted(ctx context.Context, id, kind string) (io.ReadSeekCloser, depot.File, error) {
	key, err := depot.ReadNote(ctx, s.Depot, depot.ELFKey(id, kind))
	if err != nil {
		return nil, depot.File{}, err
	}
	content, file, err := s.Depot.Open(ctx, key)
	if err == nil && file.Encoding == "" && strings.HasSuffix(key, ".gz") {
		file.Encoding = "gzip" // it was sent packed
	}
	return content, file, err
}

// hasDebugInfo reports whether an ELF file has debug information.
func (s *Intake) hasDebugInfo(file depot.File, content io.ReadSeeker) (has bool, err error) {
	id := file.Key + "\x00" + file.Tag
	has, known := s.debug.get(id)
	if known {
		return has, nil
	}

	path := s.Depot.Path(file)
	if path == "" {
		copied, err := spool.NewFile(s.Depot.Spool(), s.MaxFile)
		if err != nil {
			return false, err
		}
		defer copied.Close()
		err = depot.Copy(copied, content, file.Encoding)
		if err != nil {
			return false, err
		}
		path = copied.Path()
	}
	f, err := elfx.Open(path)
	if err == nil {
		has = f.Section(".debug_info") != nil
		f.Close()
	}
	s.debug.set(id, has)
	return has, nil
}
