// Package pathmap rewrites the names of source files.
//
// It takes rules, given one by one or in a mapping file of Mozilla's dump_syms, and the
// name of a source file, and gives the name that is written. Only a rule with the digest
// of a source file reads the source file.
//
//	var m pathmap.Map
//	if err := m.AddPrefix("/build/app=https://code.example.org/app"); err != nil {
//		return err
//	}
//	name, err := m.Apply("/build/app/src/main.c")
package pathmap

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"symkit/internal/smallfile"
)

// Map rewrites the names of source files, for source servers and for builds whose
// directories should not show. The first rule that matches a name rewrites it:
// prefixes, the longest first, then patterns in the order in which they were added. The
// zero Map changes no name.
type Map struct {
	prefixes []prefix
	patterns []pattern
}

type prefix struct{ from, to string }

// pattern is a rule of Mozilla's dump_syms.
type pattern struct {
	re    *regexp.Regexp
	parts []part
	files map[string]bool // the only files that the rule is for, or nil
}

// part is a part of a template.
type part struct {
	kind  partKind
	text  string // partText
	group int    // partGroup
}

type partKind uint8

const (
	partText partKind = iota
	partGroup
	partDigest      // SHA-512 of the source file, lower case
	partDigestUpper // the same, upper case
)

// errRule is the error for a rule that cannot be used.
var errRule = errors.New("unusable path mapping")

// AddPrefix adds a rule FROM=TO: in a name that is FROM, or lies below FROM, TO replaces
// FROM.
func (m *Map) AddPrefix(rule string) error {
	from, to, ok := strings.Cut(rule, "=")
	if !ok || from == "" {
		return fmt.Errorf("%w: %q: want FROM=TO", errRule, rule)
	}

	m.prefixes = append(m.prefixes, prefix{from, to})
	slices.SortStableFunc(m.prefixes, func(a, b prefix) int { return cmp.Compare(len(b.from), len(a.from)) })
	return nil
}

// AddPattern adds a rule of Mozilla's dump_syms: a name that re matches becomes
// template, in which {N} is group N, {VAR} a variable, {digest} and {DIGEST}
// the SHA-512 of the file. If files are given, the rule is for these names only.
func (m *Map) AddPattern(re, template string, vars map[string]string, files ...string) error {
	compiled, err := regexp.Compile(re)
	if err != nil {
		return fmt.Errorf("%w: %w", errRule, err)
	}
	parts, err := parseTemplate(template, vars)
	if err != nil {
		return err
	}

	p := pattern{re: compiled, parts: parts}
	if len(files) > 0 {
		p.files = map[string]bool{}
	}
	for _, file := range files {
		p.files[file] = true
	}
	m.patterns = append(m.patterns, p)
	return nil
}

// parseTemplate cuts a template at its {…}.
func parseTemplate(template string, vars map[string]string) (parts []part, err error) {
	for rest := template; rest != ""; {
		before, inside, found := strings.Cut(rest, "{")
		name, after, closed := strings.Cut(inside, "}")
		if !found || !closed {
			return append(parts, part{text: rest}), nil
		}

		// digest and DIGEST cannot be the names of variables.
		parts = append(parts, part{text: before})
		value, isVar := vars[name]
		group, err := strconv.Atoi(name)
		switch {
		case name == "digest":
			parts = append(parts, part{kind: partDigest})
		case name == "DIGEST":
			parts = append(parts, part{kind: partDigestUpper})
		case isVar:
			parts = append(parts, part{text: value})
		case err == nil && group >= 0:
			parts = append(parts, part{kind: partGroup, group: group})
		default:
			return nil, fmt.Errorf("%w: {%s} in %q is no group, no variable and no digest", errRule, name, template)
		}
		rest = after
	}
	return parts, nil
}

// rule is an entry of a mapping file.
type rule struct {
	Source, Destination string
	Files               []string
}

// AddFile adds the rules of a mapping file of Mozilla's dump_syms: JSON with
// "variables" and "mappings". Rules with "files" come before those without;
// vars override the file's variables.
func (m *Map) AddFile(path string, vars map[string]string) error {
	data, err := smallfile.Read(path, smallfile.Most)
	if err != nil {
		return err
	}
	var file struct {
		Variables map[string]string
		Mappings  []rule
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("%s: %w: %w", path, errRule, err)
	}

	// The caller's variables replace those of the file.
	all := map[string]string{}
	maps.Copy(all, file.Variables)
	maps.Copy(all, vars)
	slices.SortStableFunc(file.Mappings, func(a, b rule) int {
		return cmp.Compare(min(len(b.Files), 1), min(len(a.Files), 1))
	})
	for _, rule := range file.Mappings {
		if err := m.AddPattern(rule.Source, rule.Destination, all, rule.Files...); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// Apply returns the new name of a source file. If a digest cannot be made, Apply returns
// the name unchanged and the error.
func (m *Map) Apply(name string) (string, error) {
	for _, p := range m.prefixes {
		rest, ok := strings.CutPrefix(name, p.from)
		if ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(p.from, "/")) {
			return p.to + rest, nil
		}
	}

	for i := range m.patterns {
		if out, ok, err := m.patterns[i].apply(name); ok || err != nil {
			return cmp.Or(out, name), err
		}
	}
	return name, nil
}

func (p *pattern) apply(name string) (out string, ok bool, err error) {
	if p.files != nil && !p.files[name] {
		return "", false, nil
	}
	at := p.re.FindStringSubmatchIndex(name)
	if at == nil {
		return "", false, nil
	}

	// A pattern with a group that took part in no match does not apply.
	var b strings.Builder
	for _, part := range p.parts {
		switch part.kind {
		case partText:
			b.WriteString(part.text)
		case partGroup:
			if 2*part.group >= len(at) || at[2*part.group] < 0 {
				return "", false, nil
			}
			b.WriteString(name[at[2*part.group]:at[2*part.group+1]])
		default:
			// The source file is on the machine that dumps, if anywhere.
			sum, err := digest(name)
			if err != nil {
				return "", false, err
			}
			if part.kind == partDigestUpper {
				sum = strings.ToUpper(sum)
			}
			b.WriteString(sum)
		}
	}
	return b.String(), true, nil
}

// digest returns the SHA-512 of a source file. Nothing else is read on the machine that
// dumps, and the digest only if a rule has it. The program names the source file, so it can be
// a device or a pipe that has no end.
func digest(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return "", fmt.Errorf("path mapping: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("path mapping: %w", err)
	}
	defer file.Close()

	// The file may grow while it is read.
	sum := sha512.New()
	_, err = io.Copy(sum, io.LimitReader(file, info.Size()))
	if err != nil {
		return "", fmt.Errorf("path mapping: %w", err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
