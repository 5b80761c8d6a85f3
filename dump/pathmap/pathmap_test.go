package pathmap

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestMapPrefix(t *testing.T) {
	var m Map
	for _, rule := range []string{"/build=/src", "/build/app=https://host/app", "/slash/=X:", "/gone="} {
		if err := m.AddPrefix(rule); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"/build/lib/a.c":   "/src/lib/a.c",
		"/build/app/a.c":   "https://host/app/a.c",
		"/build/app2/a.c":  "/src/app2/a.c",
		"/builder/a.c":     "/builder/a.c",
		"/build":           "/src",
		"/slash/a.c":       "X:a.c",
		"/gone/a.c":        "/a.c",
		"relative/build/a": "relative/build/a",
	} {
		if got, err := m.Apply(name); got != want || err != nil {
			t.Errorf("%s becomes %q, %v; want %q", name, got, err, want)
		}
	}
	for _, rule := range []string{"", "no equals sign", "=to"} {
		if err := m.AddPrefix(rule); !errors.Is(err, errRule) {
			t.Errorf("rule %q: %v", rule, err)
		}
	}
}

func TestMapPattern(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const empty = "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
	vars := map[string]string{"rev": "abcdef"}
	for _, tt := range []struct{ re, template, name, want string }{
		{"/foo/(.*)", "https://source/{rev}/{1}/last", "/foo/x/y.c", "https://source/abcdef/x/y.c/last"},
		{"/foo/(.*)", "{1}", "/bar/y.c", "/bar/y.c"},
		{"foo/(.*)", "s:{1}", "/any/foo/y.c", "s:y.c"}, // not anchored, and the whole name is replaced
		{"(a)|(b)", "{2}", "a", "a"},                   // a group that took no part
		{"x", "{7}", "x", "x"},
		{"x", "no } closed { brace", "x", "no } closed { brace"},
		{".*a.c", "{digest}/a.c", source, empty + "/a.c"},
	} {
		var m Map
		if err := m.AddPattern(tt.re, tt.template, vars); err != nil {
			t.Errorf("%q: %v", tt.template, err)
			continue
		}
		if got, err := m.Apply(tt.name); got != tt.want || err != nil {
			t.Errorf("%q → %q: %q becomes %q, %v; want %q", tt.re, tt.template, tt.name, got, err, tt.want)
		}
	}
	var m Map
	for _, bad := range [][2]string{{"(", "x"}, {"x", "{nothing}"}, {"x", "{-1}"}} {
		if err := m.AddPattern(bad[0], bad[1], vars); !errors.Is(err, errRule) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := m.AddPattern("gone", "{DIGEST}", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Apply("/gone.c"); got != "/gone.c" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a digest of a missing file: %q, %v", got, err)
	}
}

func TestMapFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapping.json")
	if err := os.WriteFile(path, []byte(`{"variables": {"rev": "1", "host": "h"}, "mappings": [
		{"source": "/src/(.*)", "destination": "{host}:{1}:{rev}", "files": []},
		{"source": "/src/(.*)", "destination": "generated:{1}", "files": ["/src/gen.c"]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var m Map
	if err := m.AddFile(path, map[string]string{"rev": "2"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"/src/a.c": "h:a.c:2", "/src/gen.c": "generated:gen.c"} {
		if got, _ := m.Apply(name); got != want {
			t.Errorf("%s becomes %q, want %q", name, got, want)
		}
	}
	if err := m.AddFile(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestDigestOfDevice: a program can name any file as its source.
func TestDigestOfDevice(t *testing.T) {
	var m Map
	if err := m.AddPattern(".*", "{digest}", nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/zero", t.TempDir()} {
		if got, err := m.Apply(path); err == nil || got != path {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
}
