package pathmap

import (
	"strings"
	"testing"
)

// FuzzPathMap: a mapping either is refused, or gives every name a new one, the
// same each time.
func FuzzPathMap(f *testing.F) {
	f.Add("^/build/(.*)$", "s3:{BUCKET}:{digest}/{1}:", "/build=/src", "/build/a.c")
	f.Add("x(y)?", "{2}{1}{0}{DIGEST", "=", "xz")
	f.Add("(", "{-1}", "a/=b", "a/b")
	f.Fuzz(func(t *testing.T, re, template, prefix, name string) {
		if strings.Contains(strings.ToLower(template), "{digest}") {
			return // it reads the file with that name
		}
		var m Map
		if m.AddPattern(re, template, map[string]string{"BUCKET": "b"}) != nil && len(m.patterns) > 0 || m.AddPrefix(prefix) != nil && len(m.prefixes) > 0 {
			t.Fatal("a refused rule is used")
		}
		a, err := m.Apply(name)
		if b, _ := m.Apply(name); err != nil || a != b {
			t.Fatalf("%q and %q, %v", a, b, err)
		}
		if len(m.patterns)+len(m.prefixes) == 0 && a != name {
			t.Fatalf("%q became %q without a rule", name, a)
		}
	})
}
