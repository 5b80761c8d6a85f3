package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"symkit/internal/usage"
)

// file is a file of an installation.
type file struct {
	path string // below the prefix, as bin/dump_syms
	mode fs.FileMode
	data []byte
	link string // what a symbolic link has; data is empty then
}

// shared has the files that all targets share.
type shared struct {
	files   []file
	modules []linkedModule
	links   []link
}

// link is another name of a program: packaging/links. A name with a directory is below the prefix, others are in bin.
type link struct{ name, program string }

// path returns the path of the link below the prefix, and what the link has.
func (l link) path() (path, target string) {
	if !strings.Contains(l.name, "/") {
		return "bin/" + l.name, l.program
	}
	return l.name, strings.Repeat("../", strings.Count(l.name, "/")) + "bin/" + l.program
}

// newShared makes manual pages, completions and licences, and reads the documents and
// the files of packaging/.
func newShared(ctx context.Context, src source, work string) (s shared, err error) {
	usages, err := readUsages(ctx, src, filepath.Join(work, "host"))
	if err != nil {
		return s, err
	}
	for _, p := range usages {
		for path, text := range usage.Files(usage.Source{Version: src.number(), Date: src.date}, p) {
			s.add(path, text)
		}
	}

	s.modules, err = linkedModules(ctx, src)
	if err != nil {
		return s, err
	}
	s.add("share/doc/symkit/THIRD-PARTY-LICENSES.txt", licenceTexts(s.modules))

	// Documents refer to each other and to images, so docs/ stays a directory.
	names := []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md"}
	for _, pattern := range []string{"docs/*.md", "docs/images/*.png"} {
		found, err := fs.Glob(os.DirFS(src.root), pattern)
		if err != nil {
			return s, err
		}
		names = append(names, found...)
	}
	copies := map[string]string{}
	for _, name := range names {
		copies[name] = "share/doc/symkit/" + name
	}
	copies["packaging/cmake/symkit-config.cmake"] = "lib/cmake/symkit/symkit-config.cmake"
	copies["packaging/systemd/symserve.service"] = "lib/systemd/system/symserve.service"

	for from, to := range copies {
		text, err := os.ReadFile(filepath.Join(src.root, filepath.FromSlash(from)))
		if err != nil {
			return s, err
		}
		s.add(to, text)
	}
	s.add("lib/cmake/symkit/symkit-config-version.cmake", cmakeVersion(src))

	s.links, err = readLinks(filepath.Join(src.root, "packaging", "links"))
	if err != nil {
		return s, err
	}
	s.sort()
	return s, nil
}

func (s *shared) add(path string, data []byte) {
	s.files = append(s.files, file{path: path, mode: 0o644, data: data})
}

func (s *shared) sort() {
	slices.SortFunc(s.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
}

// readLinks reads lines of a name and the program that it is another name of.
func readLinks(path string) (links []link, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 || !slices.Contains(programs, fields[1]) {
			return nil, fmt.Errorf("%s: %q: want a name and one of %s", path, line, strings.Join(programs, ", "))
		}
		links = append(links, link{fields[0], fields[1]})
	}
	return links, lines.Err()
}

// newTree returns the files of an installation for one target, sorted by path. Windows
// has no links that everybody may make: other names are copies there.
func newTree(src source, s shared, b builtTarget) []file {
	tree := slices.Clone(s.files)
	for _, name := range programs {
		tree = append(tree, file{path: "bin/" + name + b.target.exe(), mode: 0o755, data: b.files[name]})
	}
	for _, l := range s.links {
		path, target := l.path()
		f := file{path: path + b.target.exe(), mode: 0o755, link: target}
		if b.target.os == "windows" {
			f.link, f.data = "", b.files[l.program]
		}
		tree = append(tree, f)
	}
	slices.SortFunc(tree, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return tree
}

// cmakeVersion returns the file with which CMake decides whether a version is good enough:
// the programs keep their flags within a major version.
func cmakeVersion(src source) []byte {
	number, _, _ := strings.Cut(src.number(), "-")
	number, _, _ = strings.Cut(number, "+")
	major, _, _ := strings.Cut(number, ".")
	return fmt.Appendf(nil, `# Is this version of symkit good enough for find_package(symkit VERSION)?
set(PACKAGE_VERSION "%s")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION OR NOT "%s" STREQUAL PACKAGE_FIND_VERSION_MAJOR)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
# find_package(symkit) without a version takes any.
if(NOT PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
`, number, major)
}

// compressManuals returns tree with compressed manual pages, as packages of Linux have
// them.
func compressManuals(tree []file) ([]file, error) {
	tree = slices.Clone(tree)
	for i, f := range tree {
		if path.Ext(f.path) != ".1" {
			continue
		}
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		tree[i].path, tree[i].data = f.path+".gz", b.Bytes()
	}
	return tree, nil
}
