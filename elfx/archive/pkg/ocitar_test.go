package pkg

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/test/pkgtest"
)

// TestTarImages: an image in a tar file that lacks a layer, or has one that is not its digest, is an
// error, wherever in the file the manifests are. What can be read is read.
func TestTarImages(t *testing.T) {
	app, library := `usr/bin/app "app" 7`, `usr/lib/libapp.so "librarylib" 7004`
	image := pkgtest.Layout("none", pkgtest.Tar(files[0]), pkgtest.Tar(files[6]))
	layers := []string{image[0].Name, image[1].Name}
	manifest := slices.IndexFunc(image, func(f pkgtest.File) bool { return strings.Contains(string(f.Data), `"layers"`) })
	without := func(i int) []pkgtest.File { return slices.Delete(slices.Clone(image), i, i+1) }
	with := func(i int, data string) []pkgtest.File {
		changed := slices.Clone(image)
		changed[i].Data = []byte(data)
		return changed
	}
	docker := func(names ...string) []pkgtest.File {
		return []pkgtest.File{
			{Name: "one/layer.tar", Data: pkgtest.Tar(files[0])}, {Name: "two/layer.tar", Data: pkgtest.Tar(files[6])},
			{Name: "manifest.json", Data: []byte(`[{"Config":"c.json","Layers":["` + strings.Join(names, `","`) + `"]}]`)},
		}
	}

	one, two := layers[0]+"!/"+app, layers[1]+"!/"+library
	name := ": image " + image[manifest].Name + ": damaged package: "
	sum := func(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data)))[:12] + "…" }
	digests := func(data string) string {
		return ": image " + image[manifest].Name + ": " + layers[1] + ": damaged package: the digest of the layer is " + sum(data)
	}
	for what, test := range map[string]struct {
		files []pkgtest.File
		want  []string
	}{
		"whole":            {image, []string{one, two}},
		"a layer less":     {without(1), []string{one, name + "the layer sha256:" + layers[1][len("blobs/sha256/"):] + " is missing"}},
		"other bytes":      {with(1, "no tar file"), []string{one, digests("no tar file")}},
		"a layer is empty": {with(1, ""), []string{one, digests("")}},
		"another layer": {with(1, string(pkgtest.Tar(files[0]))), []string{one, layers[1] + "!/" + app,
			layers[1] + ": damaged package: the digest of the layer is " + layers[0][len("blobs/sha256/"):][:12] + "…"}},
		"a manifest is damaged": {with(manifest, `{"layers":[]}`), []string{one, two, ": " + image[manifest].Name + ": damaged package: the digest of the layer is " + sum(`{"layers":[]}`)}},
		"a manifest less":       {without(manifest), []string{one, two}}, // that of another machine
		"no index":              {without(len(image) - 2), []string{one, two, ": damaged package: index.json: file does not exist"}},
		"an index is cut":       {with(len(image)-2, `{"manifests":[`), []string{one, two, ": damaged package: index.json: unexpected end of JSON input"}},
		"no layout":             {without(len(image) - 1)[1:], []string{two}},
		"docker save":           {docker("one/layer.tar", "two/layer.tar"), []string{"one/layer.tar!/" + app, "two/layer.tar!/" + library}},
		"docker save, a layer less": {docker("one/layer.tar", "three/layer.tar"),
			[]string{"one/layer.tar!/" + app, "two/layer.tar!/" + library, ": image c.json: damaged package: the layer three/layer.tar is missing"}},
	} {
		reversed := slices.Clone(test.files)
		slices.Reverse(reversed)
		for order, list := range [][]pkgtest.File{test.files, reversed} {
			got, err := seen(pkgtest.Tar(list...))
			if order > 0 {
				slices.Sort(got)
				slices.Sort(test.want)
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s, order %d:\n%q, %v\n%q", what, order, got, err, test.want)
			}
		}
	}
}
