package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var testDate = time.Date(2026, 11, 23, 12, 33, 20, 0, time.UTC)

// The licence of everything that is linked into the programs is known: a new module
// must not be noticed first when a release is made.
func TestLinkedLicences(t *testing.T) {
	src, err := newSource(t.Context(), filepath.Join("..", ".."), true)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := linkedModules(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}

	licences := map[string]string{}
	for _, m := range modules {
		licences[m.path] = m.licence
	}
	for path, want := range map[string]string{
		"std":                           "BSD-3-Clause",
		"github.com/alecthomas/kong":    "MIT",
		"github.com/mikelolasagasti/xz": "0BSD",
	} {
		if licences[path] != want {
			t.Errorf("the licence of %s is %q, want %q", path, licences[path], want)
		}
	}
}

// testTree has a program, a link and a document.
var testTree = []file{
	{path: "bin/prog", mode: 0o755, data: []byte("program")},
	{path: "bin/programme", mode: 0o755, link: "prog"},
	{path: "share/doc/README", mode: 0o644, data: []byte("text")},
}

func TestTarGz(t *testing.T) {
	data, err := tarGz("top/", testDate, testTree)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("the gzip header has %v, %q", z.ModTime, z.Name)
	}

	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(testDate) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s: %v, user %d %q", h.Name, h.ModTime, h.Uid, h.Uname)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name+" "+h.Linkname)
	}
	want := []string{"drwxr-xr-x top/ ", "drwxr-xr-x top/bin/ ", "-rwxr-xr-x top/bin/prog ", "Lrwxrwxrwx top/bin/programme prog",
		"drwxr-xr-x top/share/ ", "drwxr-xr-x top/share/doc/ ", "-rw-r--r-- top/share/doc/README "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestZip(t *testing.T) {
	data, err := zipped("top/", testDate, testTree[:1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 1 || z.File[0].Name != "top/bin/prog" || !z.File[0].Modified.Equal(testDate) || z.File[0].Mode() != 0o755 {
		t.Errorf("%+v", z.File)
	}
}

func TestLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links")
	for text, want := range map[string][]link{
		"# none\n":                        nil,
		"old_name stackwalk # Breakpad\n": {{"old_name", "stackwalk"}},
		"a dump_syms\n\nb symcheck":       {{"a", "dump_syms"}, {"b", "symcheck"}},
	} {
		err := os.WriteFile(path, []byte(text), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readLinks(path)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}

	for _, text := range []string{"alone\n", "a b c\n", "a no_program\n"} {
		err := os.WriteFile(path, []byte(text), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		_, err = readLinks(path)
		if err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestTree: on Windows, other names of a program are copies.
func TestTree(t *testing.T) {
	s := shared{links: []link{{"other", "stackwalk"}, {"lib/x/other", "symaddr"}}}
	files := map[string][]byte{"dump_syms": []byte("d"), "stackwalk": []byte("w"), "symaddr": []byte("a"), "symcheck": []byte("c"), "symserve": []byte("s")}
	var got []string
	for _, system := range []string{"linux", "windows"} {
		for _, f := range newTree(source{}, s, builtTarget{target: target{os: system}, files: files}) {
			got = append(got, f.path+" "+string(f.data)+f.link)
		}
	}
	want := []string{"bin/dump_syms d", "bin/other stackwalk", "bin/stackwalk w", "bin/symaddr a", "bin/symcheck c", "bin/symserve s", "lib/x/other ../../bin/symaddr",
		"bin/dump_syms.exe d", "bin/other.exe w", "bin/stackwalk.exe w", "bin/symaddr.exe a", "bin/symcheck.exe c", "bin/symserve.exe s", "lib/x/other.exe a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTargets: names are unique, and every system of the project's promise is there.
func TestTargets(t *testing.T) {
	names := map[string]bool{}
	for _, t := range targets {
		names[t.name()] = true
	}
	if len(names) != len(targets) {
		t.Errorf("%d names of %d targets", len(names), len(targets))
	}
	for name := range strings.FieldsSeq("linux-amd64 linux-arm64 linux-armv7 linux-386 linux-riscv64 linux-ppc64le linux-s390x " +
		"macos-amd64 macos-arm64 windows-amd64 windows-arm64 freebsd-amd64") {
		if !names[name] {
			t.Errorf("%s is missing", name)
		}
	}
	_, err := chooseTargets([]string{"plan9/amd64"})
	if err == nil {
		t.Error("a target that is not known is accepted")
	}
}

func TestLicences(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted, free of charge, to any\n person obtaining a copy of this":  "MIT",
		"may be used to endorse or promote products derived from this\nsoftware without specific": "BSD-3-Clause",
	} {
		got, err := identifyLicence([]licenceText{{"LICENSE", []byte(text)}, {"PATENTS", []byte("a grant")}})
		if err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	_, err := identifyLicence([]licenceText{{"LICENSE", []byte("All rights reserved.")}})
	if err == nil {
		t.Error("a licence that is not known is accepted")
	}
}

// TestDebianPath: files that Debian has elsewhere.
func TestDebianPath(t *testing.T) {
	for path, want := range map[string]string{
		"bin/dump_syms":                      "bin/dump_syms",
		"share/doc/symkit/LICENSE":           "share/doc/symkit/copyright",
		"share/zsh/site-functions/_symcheck": "share/zsh/vendor-completions/_symcheck",
	} {
		if got := debianPath(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
