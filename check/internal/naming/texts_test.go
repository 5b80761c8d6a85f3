package naming

import (
	"fmt"
	"strings"
	"testing"
)

// TestTexts checks that each string has one number, also where hashes are equal.
func TestTexts(t *testing.T) {
	texts := newTexts()
	all := []string{"", strings.Repeat("long", textBlock)}
	for i := range 10_000 {
		all = append(all, fmt.Sprint(strings.Repeat("-", i%9), i))
	}
	for range 2 {
		for i, s := range all {
			hash := uint64(len(s)) << 32 // equal for many strings
			if n := texts.number(hash, []byte(s)); n != uint32(i) || string(texts.bytes(n)) != s {
				t.Fatalf("string %d has the number %d", i, n)
			}
		}
	}
}
