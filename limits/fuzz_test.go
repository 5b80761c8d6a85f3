package limits

import (
	"slices"
	"testing"
)

// FuzzParse: what cannot be read is refused, and no limit becomes zero.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "names=4G", " names=12 , threads=3K,", "names=99999999999999G", "names=-1", "a=b=c", "all=10%,names=200%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err == nil && text != "" && !slices.ContainsFunc([]byte(text), func(c byte) bool { return c == '=' || c == ',' || c <= ' ' || c >= 0x80 }) {
			t.Fatalf("%q was read", text)
		}
		for _, x := range names() {
			if l.Max(x, 0) == 0 || l.Max(x, 1<<40) < l.Max(x, 0) || l.Int(x) <= 0 {
				t.Fatalf("%q: %s is %d", text, x, l.Max(x, 0))
			}
		}
	})
}
