package elfx

import (
	"testing"
)

// mustFile parses a file that has to be good.
func mustFile(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := NewFile("test.elf", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
