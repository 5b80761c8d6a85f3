package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"symkit/test/programtest"
)

// TestPackedCores: a core file that is compressed, as systemd's are, has the report of the file.
func TestPackedCores(t *testing.T) {
	core := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core")
	dir := t.TempDir()
	report := func(path string, args ...string) string {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append(args, "--format=json", "--exe", "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf", path), &stdout, &stderr)
		if code != 0 {
			t.Errorf("%s: %d: %s", path, code, &stderr)
		}
		return stdout.String()
	}
	want := report(programtest.Write(t, filepath.Join(dir, "core"), core))
	if !strings.Contains(want, `"crash"`) {
		t.Fatal(want)
	}

	for name, packer := range map[string]func(io.Writer) (io.WriteCloser, error){
		"core.gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"core.zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"core.xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
		"core.lz4": func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil },
	} {
		var packed bytes.Buffer
		w, err := packer(&packed)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Write(core)
		if err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		path := programtest.Write(t, filepath.Join(dir, name), packed.Bytes())
		if got := report(path); got != want {
			t.Errorf("%s: %.300s", name, got)
		}
		if got := report(path, "--minidump", filepath.Join(dir, "dmp")); got != want {
			t.Errorf("%s, with a minidump: %.300s", name, got)
		}
	}

	// What is packed and no dump, and what is cut.
	for name, data := range map[string]string{"text.gz": "\x1f\x8b\x08text", "core.zst": "\x28\xb5\x2f\xfd"} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{programtest.Write(t, filepath.Join(dir, name), []byte(data))}, &stdout, &stderr)
		if code != 1 || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %d: %s", name, code, &stderr)
		}
	}

	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"diff", filepath.Join(dir, "core"), filepath.Join(dir, "dmp")}, &stdout, &stderr)
	if code != 1 || !strings.Contains(stderr.String(), "a crash dump, and no result; walk it first") {
		t.Errorf("diff: %d: %s", code, &stderr)
	}
}
