package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// linkedModule is a Go module that is linked into the programs, or Go's own library.
type linkedModule struct {
	path, version string
	sum           string // h1:..., of go.sum; empty for Go's own library
	licence       string // SPDX identifier
	texts         []licenceText
}

type licenceText struct {
	file string // below the module
	text []byte
}

// licenceFile matches the names of files that must come with the program.
var licenceFile = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|NOTICE|PATENTS)([.-].*)?$`)

// linkedModules returns the modules that are linked into the programs for any target,
// sorted by path; Go's own library is "std".
func linkedModules(ctx context.Context, src source) ([]linkedModule, error) {
	modules := map[string]*linkedModule{}
	err := addLicences(modules, "std", src.goVersion[len("go"):], "", src.goRoot, src.goRoot)
	if err != nil {
		return nil, err
	}

	// Packages differ from system to system, so the go command lists them for each.
	for _, system := range []string{"linux", "darwin", "windows", "freebsd"} {
		list, err := src.output(ctx, "env", "GOOS="+system, "GOARCH=amd64", "go", "list", "-deps", "-json=Dir,Module", "./cmd/...")
		if err != nil {
			return nil, err
		}
		for d := json.NewDecoder(strings.NewReader(list)); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir, Sum string
					Main                    bool
				}
			}
			err := d.Decode(&p)
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			err = addLicences(modules, p.Module.Path, p.Module.Version, p.Module.Sum, p.Module.Dir, p.Dir)
			if err != nil {
				return nil, err
			}
		}
	}

	var sorted []linkedModule
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		slices.SortFunc(m.texts, func(a, b licenceText) int { return strings.Compare(a.file, b.file) })
		if len(m.texts) == 0 {
			return nil, fmt.Errorf("%s %s: there is no licence in %s", path, m.version, path)
		}
		m.licence, err = identifyLicence(m.texts)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", path, m.version, err)
		}
		sorted = append(sorted, *m)
	}
	return sorted, nil
}

// addLicences adds the licence files of the directories from package to module.
func addLicences(modules map[string]*linkedModule, path, version, sum, root, dir string) error {
	m := modules[path]
	if m == nil {
		m = &linkedModule{path: path, version: version, sum: sum}
		modules[path] = m
	}

	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			known := slices.ContainsFunc(m.texts, func(t licenceText) bool { return t.file == name })
			if known || !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			m.texts = append(m.texts, licenceText{name, text})
		}
		if dir == root || len(dir) <= len(root) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// licenceMarks are sentences that only one licence has.
var licenceMarks = []struct{ id, sentence string }{
	{"0BSD", "for any purpose with or without fee is hereby granted. THE SOFTWARE IS PROVIDED"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-3-Clause", "be used to endorse or promote products derived from this software"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
}

// identifyLicence returns the SPDX expression of all texts together, except grants of
// patents and notices, which have no identifier.
func identifyLicence(texts []licenceText) (string, error) {
	var ids []string
	for _, t := range texts {
		plain := strings.Join(strings.Fields(string(t.text)), " ")
		found := 0
		for _, mark := range licenceMarks {
			if strings.Contains(plain, mark.sentence) {
				found++
				if !slices.Contains(ids, mark.id) {
					ids = append(ids, mark.id)
				}
			}
		}
		name := strings.ToUpper(filepath.Base(t.file))
		if found == 0 && !strings.HasPrefix(name, "PATENTS") && !strings.HasPrefix(name, "NOTICE") {
			return "", fmt.Errorf("%s is a licence that is not known: add it to licenceMarks if it can be accepted", t.file)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " AND "), nil
}

// licenceTexts returns one file with all texts.
func licenceTexts(modules []linkedModule) []byte {
	var b bytes.Buffer
	b.WriteString("The programs of symkit have parts of the following modules. symkit's own licence is in LICENSE.\n")
	for _, m := range modules {
		for _, t := range m.texts {
			name := m.path
			if name == "std" {
				name = "Go's standard library and runtime"
			}
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%[1]s\n\n", strings.Repeat("-", 80), name, m.version, t.file)
			b.Write(bytes.TrimSpace(t.text))
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
