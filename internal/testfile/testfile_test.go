package testfile

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"
)

func TestRead(t *testing.T) {
	const elf = "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core"
	named, err := Read(elf + ".xz")
	if err != nil {
		t.Fatal(err)
	}
	unnamed, err := Read(elf)
	if err != nil || !bytes.Equal(named, unnamed) || !bytes.HasPrefix(named, []byte("\x7fELF")) {
		t.Errorf("%d and %d bytes, %v; want the same ELF file", len(named), len(unnamed), err)
	}
	if _, err := Read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
