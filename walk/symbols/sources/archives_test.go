package sources

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
			return add(w, name, zip.Deflate, append(bytes.Clone(lib[:64]), make([]byte, 256<<20)...))
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
		start := time.Now()
		files := &Files{Archives: []string{put(t, "base.apk", h.data)}}
		m := &walk.Module{Path: "/d/base.apk!libtwo.so", Name: "libtwo.so", BuildID: id}
		file := files.Local(m)
		if (file != nil) != h.right || file != nil && !bytes.Equal(file.FileBytes(0, uint64(len(lib))), lib) {
			t.Errorf("%s: %v", what, file)
		}
		files.Close()
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", what, took)
		}
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
