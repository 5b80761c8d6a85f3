// Package pathmap rewrites the names of source files.
package pathmap

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Map rewrites the names of source files, for source servers and for
// builds whose directories should not show. The first rule that applies wins:
// prefixes, the longest first, then patterns in the order they were added. The
// zero Map changes nothing.
type Map struct {
	prefixes []prefix
	patterns []pattern
}

type prefix struct{ from, to string }

// pattern is a rule of Mozilla's dump_syms.
type pattern struct {
	re    *regexp.Regexp
	parts []part
	files map[string]bool // the only files it is for, if any
}

// part is a piece of what a pattern rewrites a name to.
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

// ErrRule is what is wrong with a rule.
var ErrRule = errors.New("unusable path mapping")

// AddPrefix adds a rule FROM=TO: a name that is FROM, or lies below it, begins
// with TO instead.
func (m *Map) AddPrefix(rule string) error {
	from, to, ok := strings.Cut(rule, "=")
	if !ok || from == "" {
		return fmt.Errorf("%w: %q: want FROM=TO", ErrRule, rule)
	}
	m.prefixes = append(m.prefixes, prefix{from, to})
	slices.SortStableFunc(m.prefixes, func(a, b prefix) int { return cmp.Compare(len(b.from), len(a.from)) })
	return nil
}

// AddPattern adds a rule of Mozilla's dump_syms: a name that re matches becomes
// template, in which {N} is group N, {VAR} a variable, {digest} and {DIGEST}
// the SHA-512 of the file. With files, it is for these names only.
func (m *Map) AddPattern(re, template string, vars map[string]string, files ...string) error {
	compiled, err := regexp.Compile(re)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRule, err)
	}
	parts, err := parseTemplate(template, vars)
	if err != nil {
		return err
	}
	p := pattern{re: compiled, parts: parts}
	for _, file := range files {
		if p.files == nil {
			p.files = map[string]bool{}
		}
		p.files[file] = true
	}
	m.patterns = append(m.patterns, p)
	return nil
}

// parseTemplate cuts a template at its {…}.
func parseTemplate(template string, vars map[string]string) (parts []part, err error) {
	for rest := template; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		name, behind, closed := strings.Cut(after, "}")
		if !found || !closed {
			return append(parts, part{text: rest}), nil
		}
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
			return nil, fmt.Errorf("%w: {%s} in %q is no group, no variable and no digest", ErrRule, name, template)
		}
		rest = behind
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
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var file struct {
		Variables map[string]string
		Mappings  []rule
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrRule, err)
	}
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

// Apply returns the new name of a source file. The error is that of a digest that
// could not be made; the name stays as it is then.
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

// digest is the SHA-512 of a source file: the one thing that has to be looked
// up on the machine that dumps, and only if a rule asks for it.
func digest(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("path mapping: %w", err)
	}
	return fmt.Sprintf("%x", sha512.Sum512(data)), nil
}
