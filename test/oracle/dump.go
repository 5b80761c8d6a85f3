//go:build oracle

package oracle

import (
	"bytes"
	"testing"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
)

// Dump returns the symbol file of a module, made as cmd/dump_syms makes it.
func Dump(t *testing.T, in *Input, opt dump.Options) []byte {
	t.Helper()
	img := OpenImage(t, in)
	defer img.Close()

	// Companions such as .dwo files lie beside the fixture.
	others := companion.Find(t.Context(), img, companion.Search{})
	defer others.Close()
	opt.Companions = others
	text, _ := DumpImage(t, img, opt)
	return text
}

// DumpImage returns the symbol file of an image. Damage in the image fails the test.
func DumpImage(t *testing.T, img *elfx.Image, opt dump.Options) ([]byte, *dump.Stats) {
	t.Helper()
	m, err := dump.Dump(t.Context(), img, opt)
	if err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}

	// Damage in a fixture or in a Debian package is a mistake of the reader.
	for _, err := range m.Stats.Losses {
		t.Errorf("%s: damage in a sound file: %v", img.Main.Path(), err)
	}
	return out.Bytes(), &m.Stats
}

// OpenImage opens the files of a module. If the debug information is in a file of its own,
// both files are joined.
func OpenImage(t *testing.T, in *Input) *elfx.Image {
	t.Helper()
	main := OpenELF(t, in.Main)
	if in.Debug == "" {
		return &elfx.Image{Main: main}
	}

	img, err := elfx.Join(main, OpenELF(t, in.Debug))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// OpenELF opens a file.
func OpenELF(t *testing.T, path string) *elfx.File {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
