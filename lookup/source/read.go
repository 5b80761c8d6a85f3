package source

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// errFormat: a file is no bundle of version 2.
var errFormat = errors.New("no bundle of source files in Sentry's format")

// maxManifest bounds the manifest of a bundle, in bytes.
const maxManifest = 32 << 20

// readBundle returns the texts of a bundle whose paths are wanted. The bundle is that of size bytes.
func readBundle(r io.ReaderAt, size int64, wanted func(path string) bool) (texts map[string][]byte, err error) {
	var magic [len(bundleMagic)]byte
	_, err = r.ReadAt(magic[:], 0)
	if err != nil || string(magic[:]) != bundleMagic {
		return nil, errFormat
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	if len(z.File) > maxBundleFiles+1 {
		return nil, ErrBundle
	}
	entries := map[string]*zip.File{}
	for _, f := range z.File {
		entries[f.Name] = f
	}
	text, err := unzip(entries["manifest.json"], maxManifest)
	if err != nil {
		return nil, err
	}
	var manifest struct{ Files map[string]bundleFile }
	err = json.Unmarshal(text, &manifest)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	texts = map[string][]byte{}
	for place, f := range manifest.Files {
		clean := path.Clean(f.Path)
		if f.Type != "source" || !wanted(clean) || entries[place] == nil {
			continue
		}
		text, err := unzip(entries[place], MaxText)
		if err != nil {
			return texts, err
		}
		texts[clean] = text
	}
	return texts, nil
}

// unzip returns the content of an entry of at most a number of bytes.
func unzip(f *zip.File, most int64) ([]byte, error) {
	if f == nil {
		return nil, errFormat
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = ErrBundle
	}
	return text, err
}

// bundleOf returns the path of the bundle that a store has beside a symbol file, in each layout of package dump/store; ""
// for a file that is no symbol file by its name.
func bundleOf(sym string) string {
	dir, base := filepath.Split(sym)
	for _, suffix := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, suffix)
	}
	stem, ok := strings.CutSuffix(base, ".sym")
	switch {
	case base == "breakpad":
		return dir + "sourcebundle"
	case ok:
		return dir + stem + ".src.zip"
	}
	return ""
}

// bundled adds the texts of the bundle at a path, if there is one.
func (f *Finder) bundled(at string, wanted map[string]bool, found map[string]Found) {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	file, err := os.Open(at)
	if err != nil {
		return
	}
	defer file.Close()
	// What could be read before damage counts.
	texts, _ := readBundle(file, info.Size(), func(p string) bool { return wanted[p] })
	for p, text := range texts {
		_, known := found[p]
		if !known && int64(len(text)) <= f.most {
			f.most -= int64(len(text))
			found[p] = Found{Text: text}
		}
	}
}
