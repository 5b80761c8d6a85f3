package pkg

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
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

// Layers returns the paths of the layers of all images in an OCI image layout, each once, in the order
// of the images. The layers of one image are a stack, but each counts, with the files that later
// layers replace or delete (whiteouts): other images share the layer, and containers ran what it has.
// incomplete has an error for each image that lacks a layer.
func Layers(dir fs.FS) (layers []string, incomplete []error, err error) {
	l := layout{
		document: func(name string) (d document, err error) { return d, decode(dir, name, &d) },
		layer: func(name string) error {
			_, err := fs.Stat(dir, name)
			return err
		},
	}
	err = l.read(indexFile)
	return l.layers, l.incomplete, err
}

// layout collects the layers of an image layout.
type layout struct {
	document func(name string) (document, error) // fs.ErrNotExist if there is none
	layer    func(name string) error             // nil if the layout has the layer

	seen   map[string]bool // documents
	listed map[string]bool // layers
	layers []string

	incomplete []error
}

// descriptor names a blob (descriptor.md).
type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
}

// document is an index or a manifest.
type document struct {
	Manifests []descriptor `json:"manifests"` // of an index
	Layers    []descriptor `json:"layers"`    // of a manifest
}

// read reads an index or a manifest, and the blobs that it refers to.
func (l *layout) read(name string) error {
	if l.seen == nil {
		l.seen, l.listed = map[string]bool{}, map[string]bool{}
	}
	if l.seen[name] || len(l.seen) == maxDocuments {
		return nil
	}
	l.seen[name] = true

	doc, err := l.document(name)
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
		err = l.layer(blob)
		switch {
		case err == nil && !l.listed[blob]:
			l.listed[blob] = true
			l.layers = append(l.layers, blob)
		case errors.Is(err, ErrPackage):
			l.incomplete = append(l.incomplete, fmt.Errorf("image %s: %s: %w", name, blob, err))
		case err != nil && !strings.Contains(layer.MediaType, "nondistributable") && !strings.Contains(layer.MediaType, "foreign"):
			l.incomplete = append(l.incomplete, fmt.Errorf("image %s: %w: the layer %s is missing", name, ErrPackage, layer.Digest))
			return nil // one error for an image
		}
	}
	return nil
}

func decode(dir fs.FS, name string, doc any) error {
	f, err := dir.Open(name)
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

// digestOf returns the digest that the name of a blob has, ALGORITHM/ENCODED, and a hash of the kind.
// The hash is nil for other names and for algorithms that are not known.
func digestOf(name string) (want string, h hash.Hash) {
	dir, want := path.Split(name)
	switch path.Base(dir) {
	case "sha256":
		h = sha256.New()
	case "sha512":
		h = sha512.New()
	}
	if path.Base(path.Dir(path.Dir(dir))) != "blobs" || h == nil || len(want) != 2*h.Size() {
		return "", nil
	}
	return want, h
}

// digested returns r, and a function that reads r to its end and returns an error unless the bytes have
// the digest that the name of the blob has.
func digested(name string, r io.Reader) (io.Reader, func() error) {
	want, h := digestOf(name)
	if h == nil {
		return r, func() error { return nil }
	}
	r = io.TeeReader(r, h)
	return r, func() error {
		_, err := io.Copy(io.Discard, r)
		if got := hex.EncodeToString(h.Sum(nil)); err == nil && got != want {
			err = fmt.Errorf("%w: the digest of the layer is %.12s…", ErrPackage, got)
		}
		return err
	}
}
