// Package pkgtest writes packages of all formats that package pkg reads, for tests.
package pkgtest

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// File is a file of a package. With Link the file is a hard link to an earlier file.
type File struct {
	Name string
	Data []byte
	Link string
}

// Source returns an entry that becomes no file of the package: its data is the name of the
// source package, which is written into the control data.
func Source(name string) File { return File{Name: sourceName, Data: []byte(name)} }

const sourceName = "@source"

// source removes the file of Source from files and returns its data, or "test".
func source(files []File) (name string, rest []File) {
	name = "test"
	for _, f := range files {
		if f.Name == sourceName {
			name = string(f.Data)
		} else {
			rest = append(rest, f)
		}
	}
	return name, rest
}

// Compressions are the names that Compress accepts.
var Compressions = []string{"none", "gzip", "xz", "lzma", "zstd", "lz4"}

// Compress compresses data.
func Compress(how string, data []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch how {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "xz":
		w = must(xz.WriterConfig{DictCap: 1 << 20}.NewWriter(&out))
	case "lzma":
		w = must(lzma.WriterConfig{DictCap: 1 << 20}.NewWriter(&out))
	case "lz4":
		w = lz4.NewWriter(&out)
	case "zstd":
		w = must(zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest)))
	default:
		return data
	}
	must(w.Write(data))
	check(w.Close())
	return out.Bytes()
}

// Tar writes a tar file with directories and a symbolic link besides the files.
func Tar(files ...File) []byte { return tarball(true, files) }

func tarball(closed bool, files []File) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if closed {
		check(w.WriteHeader(&tar.Header{Name: "./usr/", Typeflag: tar.TypeDir, Mode: 0o755}))
		check(w.WriteHeader(&tar.Header{Name: "./usr/link", Linkname: "/etc", Typeflag: tar.TypeSymlink, Mode: 0o777}))
	}
	for _, f := range files {
		h := &tar.Header{Name: "./" + f.Name, Size: int64(len(f.Data)), Mode: 0o755, Typeflag: tar.TypeReg}
		if f.Link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, "./"+f.Link, 0
		}
		check(w.WriteHeader(h))
		must(w.Write(f.Data))
	}
	check(w.Flush())
	if closed {
		check(w.Close())
	}
	return out.Bytes()
}

// Deb writes a Debian package whose data.tar is compressed.
func Deb(how string, files ...File) []byte {
	from, files := source(files)
	suffix := map[string]string{"gzip": ".gz", "xz": ".xz", "lzma": ".lzma", "zstd": ".zst"}[how]
	out := []byte("!<arch>\n")
	for _, m := range []struct {
		name string
		data []byte
	}{
		{"debian-binary", []byte("2.0\n")},
		{"control.tar.gz", Compress("gzip", Tar(File{Name: "control", Data: []byte("Package: test\nInstalled-Size: 7\nSource: " + from + "\n")}))},
		{"data.tar" + suffix, Compress(how, Tar(files...))},
	} {
		out = fmt.Appendf(out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, 0, 0, 0, 0o644, len(m.data))
		out = append(out, m.data...)
		if len(m.data)%2 == 1 {
			out = append(out, '\n')
		}
	}
	return out
}

// Apk writes a package of Alpine: three gzip members whose tar files have no end but the
// last.
func Apk(files ...File) []byte {
	from, files := source(files)
	out := Compress("gzip", tarball(false, []File{{Name: ".SIGN.RSA.test.rsa.pub", Data: []byte("signature")}}))
	out = append(out, Compress("gzip", tarball(false, []File{{Name: ".PKGINFO", Data: []byte("pkgname = test\nsize = 7168\norigin = " + from + "\n")}}))...)
	return append(out, Compress("gzip", Tar(files...))...)
}

// Arch writes a package of Arch Linux.
func Arch(files ...File) []byte {
	from, files := source(files)
	info := File{Name: ".PKGINFO", Data: []byte("pkgname = test\nsize = 7168\npkgbase = " + from + "\n")}
	return Compress("zstd", Tar(append([]File{info}, files...)...))
}

// RPM writes an RPM package. A stripped one has the cpio headers of packages with files
// above 4 GiB.
func RPM(how string, stripped bool, files ...File) []byte {
	from, files := source(files)
	out := append([]byte("\xed\xab\xee\xdb\x03\x00"), make([]byte, 90)...)
	signature := rpmHeader("", nil)
	out = append(out, signature...)
	out = append(out, make([]byte, -len(signature)&7)...)
	out = append(out, rpmHeader(from, files)...)
	return append(out, Compress(how, cpio(stripped, files))...)
}

// inodes numbers files, the same number for all names of one.
func inodes(files []File) (list []uint32, last []bool) {
	byName := map[string]uint32{}
	for i, f := range files {
		n := uint32(i + 1)
		if f.Link != "" {
			n = byName[f.Link]
		}
		byName[f.Name] = n
		list = append(list, n)
	}
	for i, n := range list {
		is := true
		for _, later := range list[i+1:] {
			is = is && later != n
		}
		last = append(last, is)
	}
	return list, last
}

// content returns the bytes that a file or the target of its link has.
func content(files []File, f File) []byte {
	for _, other := range files {
		if f.Link != "" && other.Name == f.Link {
			return other.Data
		}
	}
	return f.Data
}

// rpmHeader returns a header; that of the signature has no source.
func rpmHeader(source string, files []File) []byte {
	var index, data []byte
	entry := func(tag, kind, count int, values []byte) {
		for _, v := range []int{tag, kind, len(data), count} {
			index = binary.BigEndian.AppendUint32(index, uint32(v))
		}
		data = append(data, values...)
	}

	// An entry that is not read, and then those of the files.
	entry(1000, 6, 1, []byte("test\x00\x00\x00\x00"))
	if source != "" {
		entry(1009, 4, 1, binary.BigEndian.AppendUint64(nil, 7<<42)) // with padding
		data := []byte(source + "-1.0-2.el9.src.rpm\x00")
		entry(1044, 6, 1, append(data, make([]byte, -len(data)&7)...)) // what follows is aligned
	}
	if len(files) > 0 {
		nodes, _ := inodes(files)
		var sizes, modes, inode, dirs, bases, dirNames, targets []byte
		for i, f := range files {
			sizes = binary.BigEndian.AppendUint32(sizes, uint32(len(content(files, f))))
			modes = binary.BigEndian.AppendUint16(modes, 0o100755)
			inode = binary.BigEndian.AppendUint32(inode, nodes[i])
			dirs = binary.BigEndian.AppendUint32(dirs, uint32(i))
			bases = append(bases, path.Base(f.Name)+"\x00"...)
			dirNames = append(dirNames, "/"+path.Dir(f.Name)+"/\x00"...)
			targets = append(targets, 0)
		}
		entry(1028, 4, len(files), sizes)
		entry(1030, 3, len(files), modes)
		entry(1036, 8, len(files), targets)
		entry(1096, 4, len(files), inode)
		entry(1116, 4, len(files), dirs)
		entry(1117, 8, len(files), bases)
		entry(1118, 8, len(files), dirNames)
	}

	out := []byte("\x8e\xad\xe8\x01\x00\x00\x00\x00")
	out = binary.BigEndian.AppendUint32(out, uint32(len(index)/16))
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	return append(append(out, index...), data...)
}

// Cpio writes a cpio archive of the new format, as in an initramfs.
func Cpio(files ...File) []byte { return cpio(false, files) }

func cpio(stripped bool, files []File) (out []byte) {
	nodes, last := inodes(files)
	pad := func() { out = append(out, make([]byte, -len(out)&3)...) }
	for i, f := range files {
		data := content(files, f)
		if !last[i] {
			data = nil
		}
		if stripped {
			out = fmt.Appendf(out, "07070X%08x", i)
		} else {
			links := strings.Count(fmt.Sprint(nodes), fmt.Sprint(nodes[i]))
			name := "./" + f.Name + "\x00"
			out = fmt.Appendf(out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", nodes[i], 0o100755, 0, 0, links, 0,
				len(data), 0, 0, 0, 0, len(name), 0)
			out = append(out, name...)
		}
		pad()
		out = append(out, data...)
		pad()
	}
	const end = "TRAILER!!!\x00"
	out = fmt.Appendf(out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s", 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, len(end), 0, end)
	pad()
	return out
}

// Layout returns the files of an OCI image layout with one image of the given layers,
// which are tar files.
func Layout(how string, layers ...[]byte) []File {
	var files []File
	blob := func(data []byte) string {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		files = append(files, File{Name: "blobs/sha256/" + sum, Data: data})
		return fmt.Sprintf(`{"digest":"sha256:%s","size":%d}`, sum, len(data))
	}

	var list []string
	for _, layer := range layers {
		list = append(list, blob(Compress(how, layer)))
	}
	manifest := blob(fmt.Appendf(nil, `{"schemaVersion":2,"config":%s,"layers":[%s]}`, blob([]byte("{}")), strings.Join(list, ",")))
	index := fmt.Appendf(nil, `{"schemaVersion":2,"manifests":[%s]}`, manifest)
	return append(files, File{Name: "index.json", Data: index},
		File{Name: "oci-layout", Data: []byte(`{"imageLayoutVersion":"1.0.0"}`)})
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err) // writing into memory does not fail
	}
}
