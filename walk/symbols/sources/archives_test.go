package sources

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/walk"
)

// apk is the fixture of scripts/fixtures-apk.sh: two libraries, stored at these offsets.
const (
	apk       = "../../../testdata/apk/base.apk"
	oneOffset = 0x1000
	twoOffset = 0xe000
)

// library2 returns the bytes and the build id of the second library.
func library2(t testing.TB) (data, id []byte) {
	t.Helper()
	all, err := os.ReadFile(apk)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(all), int64(len(all)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.Open("lib/x86_64/libtwo.so")
	if err == nil {
		data, err = io.ReadAll(in)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.NewFile("libtwo.so", data)
	if err != nil {
		t.Fatal(err)
	}
	return data, bytes.Clone(f.BuildID())
}

// put writes a file into a directory of its own, and returns the directory.
func put(t testing.TB, name string, data []byte) string {
	t.Helper()
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, name), data, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// packed is a zip file that f writes.
func packed(t testing.TB, f func(w *zip.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	err := f(w)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// add adds a member, stored or deflated.
func add(w *zip.Writer, name string, method uint16, data []byte) error {
	to, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err == nil {
		_, err = to.Write(data)
	}
	return err
}

// TestSplitPath: the names that writers of dumps give to libraries inside APKs.
func TestSplitPath(t *testing.T) {
	for path, want := range map[string]string{
		"/data/app/x/base.apk":                        "/data/app/x/base.apk||false true",
		"/data/app/x/base.apk!/lib/arm64-v8a/libx.so": "/data/app/x/base.apk|lib/arm64-v8a/libx.so|false true",
		"/data/app/x/base.apk!libx.so":                "/data/app/x/base.apk|libx.so|false true",
		"/data/app/x/base.apk/libx.so":                "/data/app/x/base.apk|libx.so|true true",
		"/data/app/x/lib/arm64/libx.so":               "/data/app/x/lib/arm64/libx.so||false false",
		"libx.so":                                     "libx.so||false false",
		".apk!":                                       ".apk!||false false",
		"":                                            "||false false",
	} {
		in, ok := splitPath(path)
		if got := fmt.Sprintf("%s|%s|%v %v", in.archive, in.member, in.plain, ok); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestModuleNames: the library is found by its build id under each of these names, and by its offset, in an APK and in a
// bundle that compresses it under another path.
func TestModuleNames(t *testing.T) {
	data, id := library2(t)
	bundle := packed(t, func(w *zip.Writer) error { return add(w, "base/lib/x86_64/libtwo.so", zip.Deflate, data) })
	whole, err := os.ReadFile(apk)
	if err != nil {
		t.Fatal(err)
	}
	set := packed(t, func(w *zip.Writer) error { return add(w, "splits/base-x86_64.apk", zip.Store, whole) })
	pack := packed(t, func(w *zip.Writer) error { return add(w, "config.x86_64.apk", zip.Deflate, whole) })
	for _, dir := range []string{filepath.Dir(apk), put(t, "app.aab", bundle), put(t, "app.apks", set), put(t, "app.xapk", pack)} {
		for _, path := range []string{"/d/base.apk!/lib/x86_64/libtwo.so", "/d/base.apk!libtwo.so", "/d/base.apk/libtwo.so", "libtwo.so"} {
			files := &Files{Archives: []string{dir}}
			m := &walk.Module{Path: path, BuildID: id}
			m.Name = m.File()
			file := files.Local(m)
			if file == nil || !bytes.Equal(file.BuildID(), id) {
				t.Errorf("%s in %s: %v", path, dir, file)
			}
			other := *m
			other.BuildID = []byte{1, 2, 3}
			if file := files.Local(&other); file != nil {
				t.Errorf("%s: %s for another build id", path, file.Path())
			}
			files.Close()
		}
	}
	for offset, want := range map[uint64]string{oneOffset: "lib/x86_64/libone.so", twoOffset: "lib/x86_64/libtwo.so", twoOffset + 1: "", 0: ""} {
		files := &Files{Archives: []string{filepath.Dir(apk)}}
		m := &walk.Module{Path: "/d/base.apk", Offset: offset}
		m.Name = m.File()
		got := ""
		if file := files.Local(m); file != nil {
			_, got, _ = strings.Cut(file.Path(), elfx.Separator)
		}
		if got != want {
			t.Errorf("%#x: %q, want %q", offset, got, want)
		}
		files.Close()
	}
}

// hostile are zip files that lie. Each has the library under its right name in some way; right: it is found.
func hostile(t testing.TB) map[string]struct {
	data  []byte
	right bool
} {
	lib, _ := library2(t)
	const name = "lib/x86_64/libtwo.so"
	plain := func(w *zip.Writer) error { return add(w, name, zip.Store, lib) }
	whole := packed(t, plain)
	directory := bytes.Index(whole, []byte("PK\x01\x02"))
	changed := func(at int, v uint32) []byte {
		out := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(out[at:], v)
		return out
	}
	type one = struct {
		data  []byte
		right bool
	}
	return map[string]one{
		"right": {whole, true},
		"a bomb": {packed(t, func(w *zip.Writer) error {
			w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
			return add(w, name, zip.Deflate, append(bytes.Clone(lib[:64]), make([]byte, 64<<20)...))
		}), false},
		"a larger size":           {changed(directory+20, 1<<30), false},
		"a size of 4 GiB":         {changed(directory+20, 1<<32-2), false},
		"an offset past the end":  {changed(directory+42, 1<<31), false},
		"a smaller inflated size": {changed(directory+24, 8), true}, // a stored member has its compressed size
		"cut in the directory":    {whole[:len(whole)-30], false},
		"cut in the member":       {whole[:len(lib)/2], false},
		"no directory":            {whole[:directory], false},
		"70,000 members": {packed(t, func(w *zip.Writer) error { // the directory is that of zip64
			for i := range 70_000 {
				err := add(w, fmt.Sprintf("res/%d", i), zip.Store, nil)
				if err != nil {
					return err
				}
			}
			return plain(w)
		}), true},
		"a path that leaves": {packed(t, func(w *zip.Writer) error { return add(w, "../../../../etc/libtwo.so", zip.Store, lib) }), true},
		"an absolute path":   {packed(t, func(w *zip.Writer) error { return add(w, "/etc/libtwo.so", zip.Store, lib) }), true},
		"a path with NUL":    {packed(t, func(w *zip.Writer) error { return add(w, "lib/\x00/libtwo.so", zip.Store, lib) }), true},
		"twice": {packed(t, func(w *zip.Writer) error {
			err := add(w, name, zip.Store, []byte("\x7fELF and nothing else"))
			if err != nil {
				return err
			}
			return plain(w)
		}), true},
	}
}

// TestHostile: zip files that lie cost no more than their size, and never give another file than the module's. Names of
// members lead to no file of this machine.
func TestHostile(t *testing.T) {
	lib, id := library2(t)
	for what, h := range hostile(t) {
		files := &Files{Archives: []string{put(t, "base.apk", h.data)}}
		m := &walk.Module{Path: "/d/base.apk!libtwo.so", Name: "libtwo.so", BuildID: id}
		file := files.Local(m)
		if (file != nil) != h.right || file != nil && !bytes.Equal(file.FileBytes(0, uint64(len(lib))), lib) {
			t.Errorf("%s: %v", what, file)
		}
		files.Close()
	}
}

// TestDamagedArchive: why an archive was not read is among the places that were searched.
func TestDamagedArchive(t *testing.T) {
	_, id := library2(t)
	files := &Files{Archives: []string{put(t, "base.apk", []byte("PK\x03\x04 and no more"))}}
	file, probes := files.Binary(&walk.Module{Path: "/d/base.apk!libtwo.so", Name: "libtwo.so", BuildID: id})
	if file != nil || len(probes) == 0 || !strings.Contains(probes[len(probes)-1].Err.Error(), "damaged archive") {
		t.Errorf("%v, %v", file, probes)
	}
}

// FuzzStored: the file that an archive stores from an offset on has the bytes of the archive there; one that was found
// elsewhere is a member.
func FuzzStored(f *testing.F) {
	for _, h := range hostile(f) {
		if len(h.data) < 1<<18 {
			f.Add(h.data, uint64(50))
		}
	}
	path := filepath.Join(f.TempDir(), "base.apk")
	f.Fuzz(func(t *testing.T, data []byte, offset uint64) {
		err := os.WriteFile(path, data, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		files := &Files{Archives: []string{path}}
		defer files.Close()
		file, name := files.Stored("/d/base.apk", offset, func(*elfx.File) bool { return true })
		if file == nil {
			return
		}
		defer file.Close()
		for _, m := range files.archives.of(path, files.Limits) {
			start, stored := m.Start()
			if m.Name == name && stored && start == offset && m.Size == uint64(file.Size()) {
				if whole := file.FileBytes(0, uint64(file.Size())); !bytes.HasPrefix(data[offset:], whole) {
					t.Fatalf("%d bytes are not at %#x", len(whole), offset)
				}
				return
			}
		}
		if !strings.HasPrefix(file.Path(), path+elfx.Separator) || !strings.HasSuffix(file.Path(), name) {
			t.Fatalf("%s is no member %s", file.Path(), name)
		}
	})
}

// TestIdentify: Breakpad's writer lists the part of a library with the code alone where the library has gaps between its
// segments, as base.apk without a build id.
func TestIdentify(t *testing.T) {
	_, id := library2(t)
	const bias = 0x7f0000000000
	p := &walk.Process{OS: "Android", CPU: "x86_64"}
	for _, s := range []walk.Mapping{{Begin: 0, End: 0x1000, Read: true}, {Begin: 0x4000, End: 0x5000, Read: true, Execute: true},
		{Begin: 0x8000, End: 0x9000, Read: true}, {Begin: 0xf000, End: 0x11000, Read: true, Write: true}} {
		s.Begin, s.End = s.Begin+bias, s.End+bias
		p.Mappings = append(p.Mappings, s)
	}
	part := func(offset uint64) *walk.Module {
		return &walk.Module{Path: "/d/base.apk", Name: "base.apk", Base: bias + 0x4000, End: bias + 0x5000, Bias: bias + 0x4000, Offset: offset, Foreign: true}
	}
	for offset, right := range map[uint64]bool{twoOffset + 0x4000: true, twoOffset + 0x3000: false, twoOffset + 0x8000: false, 0x500000: false} {
		files := &Files{Archives: []string{filepath.Dir(apk)}}
		m := part(offset)
		p.Modules = []*walk.Module{m}
		files.Identify(p)
		got := bytes.Equal(m.BuildID, id) && m.Base == bias && m.Bias == bias && m.Offset == twoOffset && m.Name == "libtwo.so"
		if got != right || !right && m.BuildID != nil {
			t.Errorf("%#x: %+v", offset, m)
		}
		files.Close()
	}
}

// TestManyBuilds: of 300 builds of one app in a directory, the one with the build id is the file, and no other one is
// opened. Without any, one says why.
func TestManyBuilds(t *testing.T) {
	data, id := library2(t)
	at := bytes.Index(data, id)
	dir := t.TempDir()
	for i := range 300 {
		other := bytes.Clone(data)
		if i != 290 {
			binary.LittleEndian.PutUint32(other[at:], uint32(i))
		}
		build := packed(t, func(w *zip.Writer) error { return add(w, "lib/x86_64/libtwo.so", zip.Store, other) })
		err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%03d.apk", i)), build, 0o666)
		if err != nil {
			t.Fatal(err)
		}
	}
	files := &Files{Archives: []string{dir}}
	defer files.Close()
	// The other probe is that of the directory of build ids.
	file, probes := files.Binary(&walk.Module{Path: "/data/app/x/base.apk!libtwo.so", Name: "libtwo.so", BuildID: id})
	if file == nil || !strings.HasSuffix(file.Path(), "app-290.apk!/lib/x86_64/libtwo.so") || len(probes) != 2 {
		t.Errorf("%v", probes)
	}
	file, probes = files.Binary(&walk.Module{Path: "/data/app/x/base.apk!libtwo.so", Name: "libtwo.so", BuildID: []byte{1, 2, 3, 4}})
	if file != nil || len(probes) != 2 || !strings.Contains(probes[1].Err.Error(), "build id differs") {
		t.Errorf("%v", probes)
	}
}

// TestZipForms: an APK with a signing block, of the zip64 form, with data descriptors after stored members, with a comment,
// with members at odd offsets.
func TestZipForms(t *testing.T) {
	data, id := library2(t)
	for _, form := range []struct {
		name              string
		zip64, descriptor bool
		align             int
		block, comment    []byte
	}{
		{name: "plain", align: 4096},
		{name: "signed", align: 4096, block: signingBlock(4)},
		{name: "zip64", align: 4096, zip64: true},
		{name: "descriptor", align: 4096, descriptor: true},
		{name: "comment", align: 4096, comment: []byte("store=internal")},
		{name: "16 KiB", align: 1 << 14},
		{name: "odd", align: 17},
		{name: "all", align: 1 << 14, zip64: true, descriptor: true, block: signingBlock(1 << 16), comment: make([]byte, 1<<16-1)},
	} {
		apk, start := storedZip("lib/x86_64/libtwo.so", data, form.align, form.zip64, form.descriptor, form.block, form.comment)
		dir := put(t, "base.apk", apk)
		for _, m := range []*walk.Module{
			{Path: "/data/app/~~a==/b-c==/base.apk!libtwo.so", Name: "libtwo.so", BuildID: id},
			{Path: "/data/app/~~a==/b-c==/base.apk", Name: "base.apk", BuildID: id}, // no member has the name
			{Path: "/data/app/~~a==/b-c==/base.apk", Name: "base.apk", Offset: start},
		} {
			files := &Files{Archives: []string{dir}}
			file := files.Local(m)
			if file == nil || !bytes.Equal(file.BuildID(), id) {
				t.Errorf("%s, %s, offset %#x: not found", form.name, m.Path, m.Offset)
			}
			files.Close()
		}
	}
}

// signingBlock is an APK Signing Block with n bytes, which lies before the central directory.
func signingBlock(n int) []byte {
	pair := binary.LittleEndian.AppendUint64(nil, uint64(n+4))
	pair = append(binary.LittleEndian.AppendUint32(pair, 0x7109871a), make([]byte, n)...)
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(pair)+24))
	return append(append(append(bytes.Clone(size), pair...), size...), "APK Sig Block 42"...)
}

// storedZip writes a zip file with one stored member (APPNOTE 4.3), and returns where its bytes begin: at a multiple of
// align. before lies before the central directory.
func storedZip(name string, data []byte, align int, zip64, descriptor bool, before, comment []byte) (out []byte, start uint64) {
	le := binary.LittleEndian
	sum, size := crc32.ChecksumIEEE(data), uint32(len(data))
	flags, here, length := uint16(0), sum, size
	if descriptor {
		flags, here, length = 8, 0, 0
	}
	var extra []byte
	if zip64 {
		length = ^uint32(0)
		extra = le.AppendUint64(le.AppendUint64([]byte{1, 0, 16, 0}, uint64(size)), uint64(size))
	}
	const header = 30
	fill := (align - (header+len(name)+len(extra)+4)%align) % align
	extra = append(append(extra, 0x35, 0xd9, byte(fill), byte(fill>>8)), make([]byte, fill)...)
	out = le.AppendUint16(le.AppendUint16([]byte("PK\x03\x04"), 45), flags)
	out = append(out, 0, 0, 0, 0, 0x21, 0)
	out = le.AppendUint32(le.AppendUint32(le.AppendUint32(out, here), length), length)
	out = le.AppendUint16(le.AppendUint16(out, uint16(len(name))), uint16(len(extra)))
	out = append(append(out, name...), extra...)
	start = uint64(len(out))
	out = append(out, data...)
	if descriptor {
		out = le.AppendUint32(append(out, "PK\x07\x08"...), sum)
		if zip64 {
			out = le.AppendUint64(le.AppendUint64(out, uint64(size)), uint64(size))
		} else {
			out = le.AppendUint32(le.AppendUint32(out, size), size)
		}
	}
	out = append(out, before...)

	directory, offset, count := uint64(len(out)), uint32(0), uint16(1)
	extra = nil
	if zip64 {
		size, offset, count = ^uint32(0), ^uint32(0), ^uint16(0)
		extra = le.AppendUint64(le.AppendUint64(le.AppendUint64([]byte{1, 0, 24, 0}, uint64(len(data))), uint64(len(data))), 0)
	}
	out = le.AppendUint16(append(out, "PK\x01\x02\x2d\x00\x2d\x00"...), flags)
	out = append(out, 0, 0, 0, 0, 0x21, 0)
	out = le.AppendUint32(le.AppendUint32(le.AppendUint32(out, sum), size), size)
	out = le.AppendUint16(le.AppendUint16(out, uint16(len(name))), uint16(len(extra)))
	out = append(out, make([]byte, 10)...)
	out = append(append(le.AppendUint32(out, offset), name...), extra...)
	length64 := uint64(len(out)) - directory
	if zip64 {
		at := uint64(len(out))
		out = le.AppendUint64(append(out, "PK\x06\x06"...), 44)
		out = append(out, 45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		for _, v := range []uint64{1, 1, length64, directory} {
			out = le.AppendUint64(out, v)
		}
		out = le.AppendUint64(append(out, "PK\x06\x07\x00\x00\x00\x00"...), at)
		out = append(out, 1, 0, 0, 0)
		length64, directory = 1<<32-1, 1<<32-1
	}
	out = le.AppendUint16(le.AppendUint16(append(out, "PK\x05\x06\x00\x00\x00\x00"...), count), count)
	out = le.AppendUint32(le.AppendUint32(out, uint32(length64)), uint32(directory))
	return append(le.AppendUint16(out, uint16(len(comment))), comment...), start
}
