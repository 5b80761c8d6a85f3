package main

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"symkit/serve"
	"symkit/test/programtest"
)

// TestSymserve: dump_syms fills symserve's store by each protocol that both know, and leaves alone what is there.
func TestSymserve(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-gcc12-O2-dw5.so", "lang-aarch64pac-gcc12-O2-dw5.elf"} {
		programtest.Write(t, filepath.Join(dir, "in", name), programtest.Fixture(t, name))
	}
	const token = "sesam0123456789abcdef"
	programtest.Write(t, filepath.Join(dir, "tokens"), []byte("ci upload "+token+"\n"))
	programtest.Write(t, filepath.Join(dir, "token"), []byte(token+"\n"))
	dump := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, &stdout, &stderr)
		if code != 0 {
			t.Fatalf("dump_syms %q: exit code %d, %s", args, code, &stderr)
		}
		return stderr.String()
	}
	dump("-s", filepath.Join(dir, "want"), "-R", filepath.Join(dir, "in"))
	want, err := readTree(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}

	for name, address := range map[string]string{
		"tecken v2": "tecken+URL/upload/v2/", "tecken v1": "tecken+URL/upload/", "tecken": "tecken+URL", "breakpad": "breakpad+URL/",
	} {
		store := filepath.Join(dir, name)
		err := os.Mkdir(store, 0o777)
		if err != nil {
			t.Fatal(err)
		}
		server, err := serve.New(t.Context(), store, serve.Options{Tokens: filepath.Join(dir, "tokens"), Spool: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(server)
		address := strings.Replace(address, "URL", web.URL, 1)
		for _, inputs := range [][]string{{"-R", filepath.Join(dir, "in")}, {filepath.Join(dir, "want")}} {
			said := dump(append([]string{"--token-file", filepath.Join(dir, "token"), "-s", address}, inputs...)...)
			expected := "3 modules, 3 written;"
			if inputs[0] != "-R" {
				expected = "3 modules, 0 written, 3 there before;"
			}
			if !strings.Contains(said, expected) {
				t.Errorf("%s: %s", name, said)
			}
		}
		web.Close()
		err = server.Close()
		if err != nil {
			t.Error(err)
		}
		got, err := unpackedTree(store)
		diff := cmp.Diff(want, got)
		if diff != "" || err != nil {
			t.Errorf("%s: %v, %s", name, err, diff)
		}
	}
}

// unpackedTree returns the symbol files below a directory by their paths, without gzip.
func unpackedTree(dir string) (map[string]string, error) {
	all, err := readTree(dir)
	texts := map[string]string{}
	for name, data := range all {
		switch plain := strings.TrimSuffix(name, ".gz"); {
		case !strings.HasSuffix(plain, ".sym"):
		case plain == name:
			texts[name] = data
		default:
			z, err := gzip.NewReader(strings.NewReader(data))
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(z)
			if err != nil {
				return nil, err
			}
			texts[plain] = string(text)
		}
	}
	return texts, err
}
