package command

import (
	"bytes"
	"os"
	"testing"
)

func TestTerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, ok := terminal(null); ok {
		t.Error("the null device is a terminal")
	}
	if _, ok := terminal(&bytes.Buffer{}); ok {
		t.Error("a buffer is a terminal")
	}
	if columns := helpColumns(&bytes.Buffer{}); columns != 100 {
		t.Errorf("help in a buffer: %d columns", columns)
	}
}
