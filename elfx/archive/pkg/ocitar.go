package pkg

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// An OCI image layout, or what docker save writes, in a tar file: the layers are read in the order of
// the file, and the manifests, which may come before or after, say at its end which layers there
// should have been.

// maxInner bounds an index or a manifest in a tar file, in bytes.
const maxInner = 1 << 20

// dockerFile is the manifest that docker save writes.
const dockerFile = "manifest.json"

// imageFiles are the files of images in one tar file.
type imageFiles struct {
	layout    bool // there is the file of a layout
	documents map[string]parsed
	// blobs are the names of blobs and layers, with the error of those whose bytes are not of their digest
	// and that are not read as a layer.
	blobs  map[string]error
	docker []dockerImage
}

// parsed is an index or a manifest, or why it is none.
type parsed struct {
	document
	err error
}

// dockerImage is an image in the manifest of docker save.
type dockerImage struct {
	Config string   `json:"Config"`
	Layers []string `json:"Layers"`
}

// imageFile notes a file of an image. It reads documents, and blobs that file does not read.
func (w *walker) imageFile(images *imageFiles, name string, size int64, r *bufio.Reader) error {
	blob := isLayer(name)
	if !blob && name != layoutFile && name != indexFile && name != dockerFile {
		return nil
	}
	if images.blobs == nil {
		images.blobs, images.documents = map[string]error{}, map[string]parsed{}
	}
	images.layout = images.layout || name == layoutFile
	err := w.member(name)
	if err != nil {
		return err
	}

	head, _ := r.Peek(HeadSize) // of a short file: all of it
	start := bytes.TrimLeft(head, " \t\r\n")
	images.blobs[name] = nil
	switch {
	case size <= maxInner && bytes.HasPrefix(start, []byte("{")):
		return w.imageDocument(images, name, r)
	case size <= maxInner && name == dockerFile:
		return w.dockerDocument(images, r)
	case blob && !w.enters(name, head, r) && !bytes.HasPrefix(head, []byte(elfMagic)):
		_, verify := digested(name, r)
		images.blobs[name] = verify()
	}
	return nil
}

// imageLink notes a symbolic link, which docker save wrote for a layer of two images.
func (w *walker) imageLink(images *imageFiles, name string) error {
	if !isLayer(name) || images.blobs == nil {
		return nil
	}
	images.blobs[name] = nil
	return w.member(name)
}

// imageDocument reads an index or a manifest.
func (w *walker) imageDocument(images *imageFiles, name string, r *bufio.Reader) error {
	in, verify := digested(name, r)
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var d parsed
	d.err = cmp.Or(verify(), json.Unmarshal(data, &d.document))
	images.documents[name] = d
	return w.charge(uint64(len(d.Manifests) + len(d.Layers)))
}

// dockerDocument reads the manifest of docker save.
func (w *walker) dockerDocument(images *imageFiles, r *bufio.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var list []dockerImage
	err = json.Unmarshal(data, &list)
	if err != nil {
		return nil // another file of this name
	}
	images.docker = list
	names := 0
	for _, image := range list {
		names += 1 + len(image.Layers)
	}
	return w.charge(uint64(names))
}

// check calls damaged for each image that lacks a layer, or has one that is not its digest, and with the
// error of an index that cannot be read.
func (f *imageFiles) check(damaged func(err error)) {
	if !f.layout {
		f.checkDocker(damaged)
		return
	}
	l := layout{document: f.document, layer: f.layer}
	err := l.read(indexFile)
	if err != nil && !errors.Is(err, ErrPackage) {
		err = fmt.Errorf("%w: %w", ErrPackage, err)
	}
	if err != nil {
		damaged(err)
	}
	for _, err := range l.incomplete {
		damaged(err)
	}
}

// document returns an index or a manifest of the tar file.
func (f *imageFiles) document(name string) (document, error) {
	d, ok := f.documents[name]
	if !ok {
		return document{}, fs.ErrNotExist
	}
	return d.document, d.err
}

// layer returns an error if the tar file lacks a layer, or if the layer is not what its digest says.
func (f *imageFiles) layer(name string) error {
	err, ok := f.blobs[name]
	if !ok {
		return fs.ErrNotExist
	}
	return err
}

// checkDocker is check for what docker save wrote before it wrote layouts.
func (f *imageFiles) checkDocker(damaged func(err error)) {
	for _, image := range f.docker {
		for _, layer := range image.Layers {
			err := f.layer(cleaned(layer))
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%w: the layer %s is missing", ErrPackage, layer)
			}
			if err != nil {
				damaged(fmt.Errorf("image %s: %w", image.Config, err))
				break
			}
		}
	}
}
