package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAddresses: a dump at an address has the report of the local file, alone and among
// many, messages have the address, and no copy is left.
func TestAddresses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const name = "linux-mini.dmp"
	server := httptest.NewServer(http.FileServer(http.Dir("../../walk/minidump/testdata")))
	defer server.Close()
	symbols := t.TempDir()
	report := func(want int, args ...string) (out string) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"--no-elf", "--symbols", symbols, "--format=json"}, args...), &stdout, &stderr)
		if code != want || strings.Contains(stderr.String(), os.TempDir()) {
			t.Errorf("%s: %d: %s", args, code, stderr.String())
		}
		return stdout.String() + stderr.String()
	}

	var one, other bytes.Buffer
	local := filepath.Join("../../walk/minidump/testdata", name)
	code := run(t.Context(), []string{"--no-elf", "--symbols", symbols, "--format=json", local}, &one, &other)
	if got := report(code, server.URL+"/"+name); got != one.String()+other.String() || one.Len() == 0 {
		t.Errorf("%.500s, want %.500s %s", got, one.String(), other.String())
	}
	out := t.TempDir()
	report(code, "--out", out, server.URL+"/"+name)
	data, err := os.ReadFile(filepath.Join(out, name+".json"))
	if err != nil || !bytes.Equal(data, one.Bytes()) {
		t.Errorf("%v, %.200s", err, data)
	}
	if got := report(1, server.URL+"/none"); !strings.Contains(got, "error: "+server.URL+"/none: the server answered 404") {
		t.Error(got)
	}
	if got := report(1, server.URL+"/README.md"); !strings.Contains(got, "error: "+server.URL+"/README.md: neither a minidump") {
		t.Error(got)
	}

	left, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), "symkit-") {
			t.Errorf("%s is left", entry.Name())
		}
	}
}
