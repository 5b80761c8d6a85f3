package command

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestUnreadable: the message has the path once, and the system's text without a full stop,
// which Windows' texts have.
func TestUnreadable(t *testing.T) {
	const path = "missing.elf"
	_, opened := os.Open(path)
	for _, flag := range []string{"", "--exe"} {
		err := Unreadable(flag, path, opened, "a file")
		text := err.Error()
		if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(text, strings.TrimSpace(flag+" "+path)+": ") || !strings.HasSuffix(text, "; give a file") {
			t.Errorf("%q: %v", flag, err)
		}
		if strings.Count(text, path) != 1 || strings.Contains(text, ".;") {
			t.Errorf("%q: %v", flag, err)
		}
	}

	other := errors.New("no ELF file")
	if err := Unreadable("", path, other, "a file"); err != other {
		t.Error(err)
	}
}
