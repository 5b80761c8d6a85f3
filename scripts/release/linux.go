package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

const (
	summary     = "Breakpad symbol files from ELF, and stacks of crashes"
	description = summary + `
dump_syms writes the Breakpad symbol file of an ELF program or library,
symcheck verifies symbol files, stackwalk walks the stacks of minidumps and
core files. The programs need no other package.`
)

// linuxPackages writes the Debian and RPM packages of a target into dir. The packages have
// no scripts, since installation and removal need none.
func linuxPackages(dir string, src source, t target, tree []file) error {
	if t.deb == "" {
		return nil
	}

	// nfpm reads files only.
	tree, err := compressManuals(tree)
	if err != nil {
		return err
	}
	stage, err := os.MkdirTemp("", "symkit-package-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	err = writeTree(stage, tree)
	if err != nil {
		return err
	}

	for _, format := range []string{"deb", "rpm"} {
		name, data, err := linuxPackage(format, src, t, stage, tree)
		if err != nil {
			return err
		}
		err = os.WriteFile(filepath.Join(dir, name), data, 0o666)
		if err != nil {
			return err
		}
	}
	return nil
}

// linuxPackage returns the name and the bytes of a package.
func linuxPackage(format string, src source, t target, stage string, tree []file) (name string, data []byte, err error) {
	// A pseudo-version is older than the release that follows it. Neither format can
	// have hyphens in a version.
	number, pre, _ := strings.Cut(src.number(), "-")
	pre, _, _ = strings.Cut(pre, "+")
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "symkit", Platform: "linux", Version: number, VersionSchema: "none",
		Prerelease: strings.ReplaceAll(pre, "-", "."), Release: "1",
		Section: "devel", Priority: "optional",
		Maintainer: "The symkit authors <symkit@localhost>", Vendor: "symkit", License: "BSD-3-Clause",
		Description: description, MTime: src.date, DisableGlobbing: true,
	})
	info.Arch = t.deb
	info.Deb.Arch, info.RPM.Arch = t.deb, t.rpm
	info.Deb.Compression, info.RPM.Compression = "gzip:9", "gzip:9"
	info.RPM.BuildHost, info.RPM.Summary = "localhost", summary
	if format == "rpm" {
		info.Arch = t.rpm
	}
	info.Contents = packageContents(src, stage, format, tree)

	packager, err := nfpm.Get(format)
	if err != nil {
		return "", nil, err
	}
	err = nfpm.PrepareForPackager(info, format)
	if err != nil {
		return "", nil, err
	}
	// GitHub's releases have no names with a tilde, and SHA256SUMS must have the names.
	name = strings.ReplaceAll(packager.ConventionalFileName(info), "~", ".")
	var b bytes.Buffer
	err = packager.Package(info, &b)
	return name, b.Bytes(), err
}

// packageContents returns the files of tree below /usr, with the names that the format
// wants for some.
func packageContents(src source, stage, format string, tree []file) files.Contents {
	var contents files.Contents
	dirs := map[string]bool{}
	for _, f := range tree {
		c := &files.Content{Source: filepath.Join(stage, filepath.FromSlash(f.path)), Destination: "/usr/" + f.path,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: src.date}}
		if f.link != "" {
			c.Source, c.Type = f.link, files.TypeSymlink
		}
		if format == "deb" {
			c.Destination = "/usr/" + debianPath(f.path)
		}
		contents = append(contents, c)

		// Directories of the package's own go with the package.
		for _, own := range []string{"lib/cmake/symkit", "lib/symkit", "lib/symkit/bin", "share/doc/symkit", "share/doc/symkit/docs", "share/doc/symkit/docs/images"} {
			if filepath.Dir(f.path) == own && !dirs[own] {
				dirs[own] = true
				contents = append(contents, &files.Content{Destination: "/usr/" + own, Type: files.TypeDir,
					FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: src.date}})
			}
		}
	}
	return contents
}

// debianPath returns where Debian has a file of the tree: its zsh looks for the completions of
// packages in vendor-completions.
func debianPath(path string) string {
	if path == "share/doc/symkit/LICENSE" {
		return "share/doc/symkit/copyright"
	}
	return strings.Replace(path, "share/zsh/site-functions/", "share/zsh/vendor-completions/", 1)
}

// writeTree writes the files of tree below dir; links are left out.
func writeTree(dir string, tree []file) error {
	for _, f := range tree {
		if f.link != "" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, f.data, f.mode))
		if err != nil {
			return err
		}
	}
	return nil
}
