//go:build linux && !race

package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symkit/test/pkgtest"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestMembersPeak: half a million members that compress to almost nothing take no more memory
// than the size of the file allows: 64 MiB and 20 times the file. The packages took 1.9 GB.
func TestMembersPeak(t *testing.T) {
	if testing.Short() {
		t.Skip("memory is measured with the program as it is built")
	}
	const n = 500_000
	member := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	ar := bytes.NewBufferString("!<arch>\n")
	for range n / 5 { // more inflate to more than an archive in an archive may have
		fmt.Fprintf(ar, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", "a.o/", 0, 0, 0, 0o644, len(member))
		ar.Write(member)
	}
	tar := pkgtest.Tar(pkgtest.File{Name: "a", Data: member})
	entry := tar[len(tar)-2048 : len(tar)-1024] // before the two blocks of the end
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, err := z.Create("x.a")
	if err == nil {
		_, err = w.Write(ar.Bytes())
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	layer := pkgtest.Compress("zstd", bytes.Repeat(entry, n))

	program := programtest.Build(t, "dump_syms")
	for name, data := range map[string][]byte{
		"tar.zst":    layer,
		"image":      pkgtest.Tar(pkgtest.Layout("none", layer)...),
		"deb in tar": pkgtest.Tar(pkgtest.File{Name: "x.deb", Data: debOf(layer)}),
		"ar in zip":  zipped.Bytes(),
	} {
		path := filepath.Join(t.TempDir(), "x")
		programtest.Write(t, path, data)
		if err := testfile.ForgetPeak(); err != nil {
			t.Fatal(err) // the peak of this process would count
		}
		cmd := exec.Command(program, "-s", filepath.Join(t.TempDir(), "store"), path)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "SYMKIT_MEM=")
		out, err := cmd.CombinedOutput()
		peak := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
		if most := 64<<20 + 20*int64(len(data)); peak > most {
			t.Errorf("%s of %d bytes: %d MiB, want %d: %.300s", name, len(data), peak>>20, most>>20, out)
		}
		if err == nil || !strings.Contains(string(out), "members above the limit of ") {
			t.Errorf("%s: %v: %s", name, err, out[max(0, len(out)-300):])
		}
		t.Logf("%s of %d bytes: %d MiB", name, len(data), peak>>20)
	}
}

// debOf returns a Debian package with the given data.tar.zst.
func debOf(data []byte) []byte {
	out := []byte("!<arch>\n")
	for _, m := range []struct {
		name string
		data []byte
	}{{"debian-binary", []byte("2.0\n")}, {"data.tar.zst", data}} {
		out = fmt.Appendf(out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, 0, 0, 0, 0o644, len(m.data))
		out = append(out, m.data...)
		if len(m.data)%2 == 1 {
			out = append(out, '\n')
		}
	}
	return out
}
