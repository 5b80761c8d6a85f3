package pkg

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sync"
)

// The files of an OCI image layout (OCI image specification, image-layout.md).
const (
	layoutFile = "oci-layout"
	indexFile  = "index.json"
	// maxDocument bounds an index or a manifest, in bytes, as registries do.
	maxDocument = 4 << 20
	// maxDocuments bounds the indexes and manifests of one layout.
	maxDocuments = 10000
)

// digest is the form of digests (descriptor.md); only these are part of a path. The
// expression is compiled by the first call, for the time that a program takes to start.
var digest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]+):([a-zA-Z0-9=_-]{32,128})$`)
})

// IsLayout reports whether a directory is an OCI image layout.
func IsLayout(dir fs.FS) bool {
	info, err := fs.Stat(dir, layoutFile)
	return err == nil && info.Mode().IsRegular()
}

// Layers returns the paths of the layers of all images in an OCI image layout, each
// once, in the order of the images. Layers that the layout does not contain are left
// out.
func Layers(dir fs.FS) ([]string, error) {
	l := layout{dir: dir}
	err := l.read(indexFile)
	return l.layers, err
}

// layout collects the layers of an image layout.
type layout struct {
	dir    fs.FS
	seen   []string // documents
	layers []string
}

// descriptor names a blob (descriptor.md).
type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
}

// read reads an index or a manifest, and the blobs that it refers to.
func (l *layout) read(name string) error {
	if slices.Contains(l.seen, name) || len(l.seen) == maxDocuments {
		return nil
	}
	l.seen = append(l.seen, name)

	var doc struct {
		Manifests []descriptor `json:"manifests"` // of an index
		Layers    []descriptor `json:"layers"`    // of a manifest
	}
	err := l.decode(name, &doc)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}

	for _, m := range doc.Manifests {
		blob, err := blobPath(m.Digest)
		if err == nil {
			err = l.read(blob)
		}
		// The images of other machines are often left out of a layout.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, layer := range doc.Layers {
		blob, err := blobPath(layer.Digest)
		if err != nil {
			return err
		}
		_, err = fs.Stat(l.dir, blob)
		if err == nil && !slices.Contains(l.layers, blob) {
			l.layers = append(l.layers, blob)
		}
	}
	return nil
}

func (l *layout) decode(name string, doc any) error {
	f, err := l.dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDocument))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, doc)
}

// blobPath returns the path of the blob with a digest.
func blobPath(text string) (string, error) {
	m := digest().FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%w: %q is no digest", ErrPackage, text)
	}
	return path.Join("blobs", m[1], m[2]), nil
}
