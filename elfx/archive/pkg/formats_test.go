package pkg

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"symkit/test/pkgtest"
)

// TestPadding: zero bytes after gzip data are padding, also between two streams; other bytes are
// damage.
func TestPadding(t *testing.T) {
	want := []string{`usr/bin/app "app" 7`}
	tar := pkgtest.Tar(files[0])
	whole, zeros := pkgtest.Compress("gzip", tar), make([]byte, 1000)
	halves := append(append(pkgtest.Compress("gzip", tar[:700]), zeros...), pkgtest.Compress("gzip", tar[700:])...)
	for name, data := range map[string][]byte{
		"none": whole, "one": append(slices.Clone(whole), 0), "many": append(slices.Clone(whole), zeros...), "between": append(halves, zeros...),
	} {
		got, err := seen(data)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, data := range map[string][]byte{"text": append(slices.Clone(whole), "text"...), "zeros and text": append(append(slices.Clone(whole), zeros...), "x"...)} {
		if _, err := seen(data); !errors.Is(err, ErrPackage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInitramfs: the archives of an initramfs, of which the last is compressed.
func TestInitramfs(t *testing.T) {
	microcode, main := pkgtest.Cpio(pkgtest.File{Name: "kernel/app", Data: content("micro")}), pkgtest.Cpio(files[0], files[6])
	want := []string{`kernel/app "micro" 9`, `usr/bin/app "app" 7`, `usr/lib/libapp.so "librarylib" 7004`}
	for _, how := range pkgtest.Compressions {
		padded := append(slices.Clone(microcode), make([]byte, 512-len(microcode)%512)...)
		data := append(padded, pkgtest.Compress(how, main)...)
		if how == "none" {
			data = append(data, make([]byte, 300)...)
		}
		got, err := seen(data)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", how, got, err)
		}
		if got, err := seen(data[:len(data)-310]); err == nil && len(got) == len(want) && how != "none" {
			t.Errorf("%s, cut: %q", how, got)
		}
	}
	if _, err := seen(append(slices.Clone(microcode), "text"...)); !errors.Is(err, ErrPackage) {
		t.Error(err)
	}
}

// TestUnread: formats that are known and not read are named.
func TestUnread(t *testing.T) {
	iso := make([]byte, 1<<16)
	copy(iso[0x8001:], "CD001")
	for want, data := range map[string][]byte{
		"7-Zip": []byte("7z\xbc\xaf\x27\x1c\x00\x04"), "lzip": []byte("LZIP\x01"), "squashfs": []byte("sqsh\x00"), "ISO image": iso,
		"old format": []byte("070707000"), "apk-tools 3": []byte("ADB."),
	} {
		_, err := seen(data)
		if !errors.Is(err, errUnread) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "unpack it with ") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := seen(bytes.Repeat([]byte("text"), 1<<14)); !errors.Is(err, errNotPackage) {
		t.Error(err)
	}
}

// TestDigest: a layer whose bytes are not those of its name is damaged, in a layout in a directory and in
// a tar file. Files that a later layer deletes are read.
func TestDigest(t *testing.T) {
	whiteout := pkgtest.File{Name: "usr/bin/.wh.app", Data: nil}
	image := pkgtest.Layout("gzip", pkgtest.Tar(files[0]), pkgtest.Tar(whiteout, files[6]))
	want := []string{image[0].Name + `!/usr/bin/app "app" 7`, image[1].Name + `!/usr/lib/libapp.so "librarylib" 7004`}
	got, err := seen(pkgtest.Tar(image...))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}

	first, second := image[0].Data, image[1].Data
	blob := func(data []byte) error {
		return Walk(bytes.NewReader(data), int64(len(data)), Visitor{Blob: "/images/x/" + image[0].Name, File: func(Member, io.Reader) error { return nil }})
	}
	if err := blob(first); err != nil {
		t.Error(err)
	}
	if err := blob(second); !errors.Is(err, ErrPackage) || !strings.Contains(err.Error(), "the digest of the layer is ") {
		t.Error(err)
	}
	image[0].Data = second
	got, err = seen(pkgtest.Tar(image...))
	if err != nil || len(got) != 3 || !strings.HasPrefix(got[1], image[0].Name+": damaged package: the digest of the layer is ") {
		t.Errorf("%q, %v", got, err)
	}
}
