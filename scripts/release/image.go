package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// writeImage writes the container image, an index of one image for each target of
// Linux, as an OCI image layout in a tar file (OCI Image Format Specification 1.1,
// "Image Layout").
func writeImage(dir string, src source, s shared, builds []builtTarget) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	images := 0
	for _, b := range builds {
		if b.target.platform == "" {
			continue
		}
		img, err := newImage(src, s, b)
		if err != nil {
			return err
		}
		images++
		arch, variant, _ := strings.Cut(b.target.platform, "/")
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch, Variant: variant}}})
	}
	if images == 0 {
		return nil
	}

	// The layout has one entry, with the name that tools show: the index.
	work, err := os.MkdirTemp("", "symkit-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	path, err := layout.Write(work, empty.Index)
	if err != nil {
		return err
	}
	err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": src.number()}))
	if err != nil {
		return err
	}

	tree, err := readTree(work)
	if err != nil {
		return err
	}
	data, err := tarred("", src.date, tree)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "symkit-"+src.number()+"-oci.tar"), data, 0o666)
}

// newImage returns the image of one target: the programs, certificates, licences and
// nothing else.
func newImage(src source, s shared, b builtTarget) (v1.Image, error) {
	tree := []file{
		{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: rootCertificates()},
	}
	for _, f := range newTree(src, s, b) {
		name := filepath.Base(f.path)
		if strings.HasPrefix(f.path, "bin/") || name == "LICENSE" || name == "THIRD-PARTY-LICENSES.txt" {
			f.path = "usr/" + f.path
			tree = append(tree, f)
		}
	}
	slices.SortFunc(tree, func(a, b file) int { return strings.Compare(a.path, b.path) })

	data, err := tarred("", src.date, tree)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}

	arch, variant, _ := strings.Cut(b.target.platform, "/")
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(base, &v1.ConfigFile{
		OS: "linux", Architecture: arch, Variant: variant, Created: v1.Time{Time: src.date},
		Config: v1.Config{
			Env: []string{"PATH=/usr/bin", "HOME=/tmp", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			Cmd: []string{"dump_syms", "--help"},
			Labels: map[string]string{"org.opencontainers.image.title": "symkit", "org.opencontainers.image.version": src.number(),
				"org.opencontainers.image.revision": src.commit, "org.opencontainers.image.licenses": "BSD-3-Clause"},
		},
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: src.date}, CreatedBy: "symkit release"}})
}

// rootCertificates returns the root certificates of Mozilla's list, as PEM, in the
// order of the list. It leaves out those that only some certificates may descend from,
// since a PEM file cannot express that.
func rootCertificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // bytes.Buffer takes everything
		}
	}
	return b.Bytes()
}

// readTree returns the files below a directory, sorted by path.
func readTree(dir string) (tree []file, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		tree = append(tree, file{path: filepath.ToSlash(name), mode: 0o644, data: data})
		return err
	})
	slices.SortFunc(tree, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return tree, err
}
