package command

import (
	"strings"
	"testing"
)

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "512": 512, "4k": 4096, "512M": 512 << 20, "512MB": 512 << 20, "512MiB": 512 << 20, "4G": 4 << 30, "2tib": 2 << 40, "8B": 8,
	} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || int64(b) != want {
			t.Errorf("%s: %d, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "x", "G", "1.5G", "4GG", "9999999T", "1 G", "0x10"} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "such as 512M") {
			t.Errorf("%q: %d, %v", text, b, err)
		}
	}
}
