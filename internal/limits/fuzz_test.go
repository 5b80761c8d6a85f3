package limits

import (
	"slices"
	"testing"
)

// FuzzSet: what cannot be read is refused, and no limit becomes zero.
func FuzzSet(f *testing.F) {
	for _, text := range []string{"", "names=4G", " names=12 , threads=3K,", "names=99999999999999G", "names=-1", "a=b=c", "all=10%,names=200%"} {
		f.Add(text)
	}
	var before []Limit
	for _, l := range All {
		before = append(before, *l)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer func() {
			for i, l := range All {
				*l = before[i]
			}
		}()
		if err := set(text); err == nil && text != "" && !slices.ContainsFunc([]byte(text), func(c byte) bool { return c == '=' || c == ',' || c <= ' ' || c >= 0x80 }) {
			t.Fatalf("%q was read", text)
		}
		for _, l := range All {
			if l.Max(0) == 0 || l.Max(1<<40) < l.Max(0) || l.Int() <= 0 {
				t.Fatalf("%q: %s is %d", text, l.Name, l.Max(0))
			}
		}
	})
}
