package pkg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
	"symkit/test/pkgtest"
)

// content is a file that begins like an ELF file.
func content(text string) []byte { return []byte(elfMagic + text) }

var files = []pkgtest.File{
	{Name: "usr/bin/app", Data: content("app")},
	{Name: "usr/bin/also", Link: "usr/bin/app"},
	{Name: "usr/share/doc/app/README", Data: []byte("text")},
	{Name: "usr/lib/libapp.a", Data: []byte("!<arch>\n")},
	{Name: "usr/share/data.tar.gz", Data: pkgtest.Compress("gzip", pkgtest.Tar(pkgtest.File{Name: "x", Data: content("data")}))},
	{Name: "usr/lib/empty", Data: nil},
	{Name: "usr/lib/libapp.so", Data: content(strings.Repeat("library", 1000))},
}

// seen are the results of Walk, one a line.
func seen(data []byte) (lines []string, err error) { return seenWithin(data, limits.Limits{}) }

// seenWithin is seen with limits.
func seenWithin(data []byte, l limits.Limits) (lines []string, err error) {
	return walked(data, l, func(string) bool { return true })
}

// seenKeeping is seenWithin of a caller that keeps the further names of ELF files alone.
func seenKeeping(data []byte, l limits.Limits) (lines []string, err error) {
	return walked(data, l, func(target string) bool { return target != "README" })
}

// walked returns the results of Walk. keeps reports whether further names of a file are kept.
func walked(data []byte, l limits.Limits, keeps func(target string) bool) (lines []string, err error) {
	v := visitor(&lines)
	v.Limits = l
	link := v.Link
	v.Link = func(name, target string) bool { return keeps(target) && link(name, target) }
	err = Walk(bytes.NewReader(data), int64(len(data)), v)
	return lines, err
}

// visitor returns a Visitor that adds a line for each call.
func visitor(lines *[]string) Visitor {
	add := func(format string, args ...any) { *lines = append(*lines, fmt.Sprintf(format, args...)) }
	return Visitor{
		File: func(m Member, r io.Reader) error {
			got, err := io.ReadAll(r)
			if err == nil && int64(len(got)) != m.Size {
				err = io.ErrUnexpectedEOF
			}
			add("%s %.10q %d", m.Name, got[min(len(got), 4):], len(got))
			return err
		},
		Link: func(name, target string) bool {
			add("%s -> %s", name, target)
			return true
		},
		Damaged: func(name string, err error) { add("%s: %v", name, err) },
	}
}

// packages are the same files in all formats.
func packages() map[string][]byte {
	all := map[string][]byte{"apk": pkgtest.Apk(files...), "arch": pkgtest.Arch(files...)}
	for _, how := range pkgtest.Compressions {
		all["deb "+how] = pkgtest.Deb(how, files...)
		all["cpio of rpm "+how] = pkgtest.Compress(how, pkgtest.Cpio(files...)) // links as in RPM
		all["tar "+how] = pkgtest.Compress(how, pkgtest.Tar(files...))
		all["rpm "+how] = pkgtest.RPM(how, false, files...)
		all["stripped rpm "+how] = pkgtest.RPM(how, true, files...)
	}
	return all
}

// TestWalk: all formats yield the ELF files and their links, and nothing else.
func TestWalk(t *testing.T) {
	want := []string{`usr/bin/app "app" 7`, `usr/bin/also -> usr/bin/app`, `usr/lib/libapp.so "librarylib" 7004`}
	rpms := []string{`usr/bin/also "app" 7`, `usr/bin/app -> usr/bin/also`, want[2]} // the last name has the bytes
	for name, data := range packages() {
		got, err := seen(data)
		expect := want
		if strings.Contains(name, "rpm") {
			expect = rpms
		}
		if err != nil || !slices.Equal(got, expect) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		whole := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		if !Is(data[:min(len(data), HeadSize)], whole, limits.Limits{}) {
			t.Errorf("%s: Is is false", name)
		}
	}
}

// TestOrigin: the control data of each format names the source package.
func TestOrigin(t *testing.T) {
	with := append([]pkgtest.File{pkgtest.Source("lib-app")}, files...)
	signed := pkgtest.Source("linux-signed-amd64 (6.1.2)")
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"apk": {pkgtest.Apk(with...), "lib-app"}, "arch": {pkgtest.Arch(with...), "lib-app"}, "deb": {pkgtest.Deb("xz", with...), "lib-app"},
		"rpm": {pkgtest.RPM("zstd", false, with...), "lib-app"}, "of itself": {pkgtest.Deb("xz", files...), "test"},
		"signed": {pkgtest.Deb("none", signed), "linux"}, "tar": {pkgtest.Tar(files...), ""}, "tar.gz": {pkgtest.Compress("gzip", pkgtest.Tar(files...)), ""},
		"no package": {content("x"), ""}, "empty": {nil, ""},
	} {
		got, err := ReadOrigin(bytes.NewReader(test.data), limits.Limits{})
		if got.Source != test.want || err != nil || (got.Unpacked == 7<<10) != (test.want != "") {
			t.Errorf("%s: %v, %v, want %q", name, got, err, test.want)
		}
	}

	// A package that ends too soon is damaged, or has no name.
	for name, data := range packages() {
		for n := 0; n < min(len(data), 2000); n += 61 {
			got, err := ReadOrigin(bytes.NewReader(data[:n]), limits.Limits{})
			if got.Source != "" && got.Source != "test" || err != nil && !errors.Is(err, ErrPackage) {
				t.Errorf("%s: %d bytes: %v, %v", name, n, got, err)
			}
		}
	}
}

// TestBzip2 reads a file of the program tar, since no Go library writes bzip2:
// printf '\177ELFbzip2' > app; tar cjf app.tar.bz2 app
func TestBzip2(t *testing.T) {
	data, err := os.ReadFile("testdata/app.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	got, err := seen(data)
	if err != nil || !slices.Equal(got, []string{`app "bzip2" 9`}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNested: packages in layers in an image in a tar file are read, and no deeper.
func TestNested(t *testing.T) {
	deb := pkgtest.File{Name: "pool/a.deb", Data: pkgtest.Deb("xz", files[0])}
	image := pkgtest.Layout("gzip", pkgtest.Tar(deb, files[6]))
	got, err := seen(pkgtest.Compress("zstd", pkgtest.Tar(image...)))
	layer := image[0].Name
	want := []string{layer + `!/pool/a.deb!/usr/bin/app "app" 7`, layer + `!/usr/lib/libapp.so "librarylib" 7004`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}

	inner := pkgtest.Deb("none", files[0])
	for range 5 {
		inner = pkgtest.Deb("none", pkgtest.File{Name: "x.deb", Data: inner})
	}
	got, err = seen(inner)
	if err != nil || len(got) != 1 || !strings.HasSuffix(got[0], errNested.Error()) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDamage: every truncation of a package is an error, and what is no package is
// errNotPackage.
func TestDamage(t *testing.T) {
	for name, data := range packages() {
		if strings.HasPrefix(name, "tar none") || name == "apk" {
			continue // a cut at the end of a member cannot be seen
		}
		for cut := 1; cut < len(data); cut += 1 + len(data)/50 {
			lines, err := seen(data[:cut])
			known := errors.Is(err, ErrPackage) || errors.Is(err, errNotPackage) || errors.Is(err, located.ErrTruncated) || errors.Is(err, io.ErrUnexpectedEOF)
			if !known && len(lines) < 3 {
				t.Errorf("%s cut at %d: %q, %v", name, cut, lines, err)
			}
		}
	}

	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("text"), "ELF": content("app"), "zeros": make([]byte, 1024), "ar": []byte("!<arch>\n"),
		"gzip of text": pkgtest.Compress("gzip", []byte("text")), "zip": []byte("PK\x03\x04"),
	} {
		_, err := seen(data)
		if !errors.Is(err, errNotPackage) || Is(data, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, limits.Limits{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := seen([]byte("ADB.")); !errors.Is(err, errUnread) {
		t.Error(err)
	}
}

// TestInnerDamage: damage of a package inside a package costs the inner one alone.
func TestInnerDamage(t *testing.T) {
	inner := pkgtest.Deb("xz", files[0])
	got, err := seen(pkgtest.Tar(pkgtest.File{Name: "a.deb", Data: inner[:len(inner)-40]}, files[6]))
	if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "a.deb: damaged package") || !strings.HasPrefix(got[1], "usr/lib/libapp.so") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestBombs: what unpacks to more than the limit is refused before it is unpacked, and
// so is a window above the limit.
func TestBombs(t *testing.T) {
	small := limits.Limits{}.With(limitof.Package, 1<<20)
	zeros := pkgtest.File{Name: "zeros", Data: append(content(""), make([]byte, 2<<20)...)}
	for _, how := range []string{"gzip", "xz", "lzma", "zstd"} {
		for name, data := range map[string][]byte{
			"deb": pkgtest.Deb(how, zeros), "rpm": pkgtest.RPM(how, false, zeros), "tar": pkgtest.Compress(how, pkgtest.Tar(zeros)),
			"twice": pkgtest.Compress("gzip", pkgtest.Compress(how, pkgtest.Tar(zeros))),
			"image": pkgtest.Tar(pkgtest.Layout(how, pkgtest.Tar(zeros))...),
		} {
			if _, err := seenWithin(data, small); !errors.Is(err, limits.ErrExceeded) {
				t.Errorf("%s %s: %v", how, name, err)
			}
		}
	}

	// The writers of pkgtest use windows of 1 MiB; zstd's depend on the size.
	narrow := limits.Limits{}.With(limitof.PackageWindow, 64<<10)
	for _, how := range []string{"xz", "lzma", "zstd"} {
		_, err := seenWithin(pkgtest.Compress(how, pkgtest.Tar(zeros)), narrow)
		if err == nil {
			t.Errorf("%s: no error", how)
		}
		if how != "lzma" && !errors.Is(err, limits.ErrExceeded) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// TestStop: File can end the walk, also inside of an inner package.
func TestStop(t *testing.T) {
	other := errors.New("other")
	for _, end := range []error{ErrStop, other} {
		n := 0
		data := pkgtest.Tar(pkgtest.File{Name: "a.deb", Data: pkgtest.Deb("gzip", files...)}, files[6])
		err := Walk(bytes.NewReader(data), int64(len(data)), Visitor{File: func(Member, io.Reader) error {
			n++
			return end
		}})
		if n != 1 || err != nil && end == ErrStop || !errors.Is(err, other) && end == other {
			t.Errorf("%v: %d calls, %v", end, n, err)
		}
	}
}

// TestLayers: the layers of all images, each once; foreign digests lead nowhere.
func TestLayers(t *testing.T) {
	dir := fstest.MapFS{}
	image := pkgtest.Layout("none", pkgtest.Tar(files[0]), pkgtest.Tar(files[6]), pkgtest.Tar(files[0]))
	for _, f := range image {
		dir[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	got, incomplete, err := Layers(dir)
	if want := []string{image[0].Name, image[1].Name}; !IsLayout(dir) || err != nil || incomplete != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, %v", got, incomplete, err)
	}

	// An image that lacks a layer is an error, with its other layers; one whose layer is elsewhere is not.
	lost := dir[image[1].Name]
	delete(dir, image[1].Name)
	got, incomplete, err = Layers(dir)
	if err != nil || len(got) != 1 || len(incomplete) != 1 || !errors.Is(incomplete[0], ErrPackage) || !strings.HasSuffix(incomplete[0].Error(), " is missing") {
		t.Errorf("%q, %v, %v", got, incomplete, err)
	}
	dir[image[1].Name] = lost

	for _, bad := range []string{"../../../etc/passwd", "sha256:../../../../../../../../../../../../etc/passwd", "sha256:"} {
		dir["index.json"] = &fstest.MapFile{Data: []byte(`{"layers":[{"digest":"` + bad + `"}]}`)}
		_, _, err := Layers(dir)
		if !errors.Is(err, ErrPackage) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if IsLayout(fstest.MapFS{}) {
		t.Error("an empty directory is a layout")
	}
}

// TestOpenMember reads a real ELF file out of a package.
func TestOpenMember(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hello.deb")
	err = os.WriteFile(path, pkgtest.Deb("zstd", files[0], pkgtest.File{Name: "usr/bin/hello", Data: data}), 0o666)
	if err != nil {
		t.Fatal(err)
	}

	f, err := OpenMember(path, "usr/bin/hello", limits.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Path() != path+"!/usr/bin/hello" || f.Archive() != path || f.Size() != len(data) {
		t.Errorf("%s in %s of %d bytes", f.Path(), f.Archive(), f.Size())
	}

	names, err := Names(path, 5, limits.Limits{})
	if err != nil || !slices.Equal(names, []string{"usr/bin/app", "usr/bin/hello"}) || !IsFile(path, limits.Limits{}) {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := OpenMember(path, "usr/bin/none", limits.Limits{}); !errors.Is(err, errNoMember) {
		t.Error(err)
	}
	if _, err := OpenMember(path, "usr/bin/app", limits.Limits{}); err == nil || !strings.HasPrefix(err.Error(), path+"!/usr/bin/app: ") {
		t.Error(err)
	}
}

// TestCompressed: an ELF file that is compressed as a whole is a package of this file. In packages, those of the
// kernel are; other compressed files are data.
func TestCompressed(t *testing.T) {
	module := content("module")
	for _, how := range []string{"gzip", "xz", "lzma", "zstd"} {
		packed := pkgtest.Compress(how, module)
		var got []Member
		visit := Visitor{Name: "ext4.ko." + how, File: func(m Member, r io.Reader) error {
			data, err := io.ReadAll(r)
			if !bytes.Equal(data, module) {
				t.Errorf("%s: %q, %v", how, data, err)
			}
			got = append(got, m)
			return err
		}}
		err := Walk(bytes.NewReader(packed), int64(len(packed)), visit)
		if want := (Member{"ext4.ko", int64(len(module)), true}); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v", how, got, err)
		}
		again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
		if !Is(packed, again, limits.Limits{}) {
			t.Errorf("%s: no package", how)
		}

		lines, err := seen(pkgtest.Tar(pkgtest.File{Name: "a/ext4.ko." + how, Data: packed}, pkgtest.File{Name: "app." + how, Data: packed},
			pkgtest.File{Name: "boot/vmlinux-6.1." + how, Data: packed},
			pkgtest.File{Name: "b.ko." + how, Data: packed[:len(packed)-5]}, pkgtest.File{Name: "c.ko." + how, Data: pkgtest.Compress(how, []byte("text"))}))
		if err != nil || len(lines) != 3 || !strings.HasPrefix(lines[0], "a/ext4.ko ") || !strings.HasPrefix(lines[1], "boot/vmlinux-6.1 ") || !strings.HasPrefix(lines[2], "b.ko."+how+": damaged package") {
			t.Errorf("%s: %q, %v", how, lines, err)
		}
	}
}

// FuzzOrigin: no input makes ReadOrigin panic or read without end; every error is that of a
// damaged package or of a limit.
func FuzzOrigin(f *testing.F) {
	for _, data := range packages() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := ReadOrigin(bytes.NewReader(data), limits.Limits{})
		if err != nil && !errors.Is(err, ErrPackage) && !errors.Is(err, limits.ErrExceeded) {
			t.Fatal(err)
		}
	})
}

// FuzzWalk: no input makes Walk panic or read on without end. Names of members do not
// begin with a slash or dots, and no member has more bytes than its size.
func FuzzWalk(f *testing.F) {
	for _, data := range packages() {
		f.Add(data)
	}
	f.Add(pkgtest.Tar(pkgtest.Layout("gzip", pkgtest.Tar(files...))...))
	small := limits.Limits{}.With(limitof.Package, 1<<20).With(limitof.PackageWindow, 1<<20)
	f.Fuzz(func(t *testing.T, data []byte) {
		var sum uint64
		err := Walk(bytes.NewReader(data), int64(len(data)), Visitor{Limits: small, File: func(m Member, r io.Reader) error {
			n, err := io.Copy(io.Discard, r)
			sum += uint64(n)
			if n > m.Size || m.Name == "" || m.Name[0] == '/' || slices.Contains(strings.Split(m.Name, "/"), "..") {
				t.Fatalf("%q of %d bytes has %d", m.Name, m.Size, n)
			}
			return err
		}})
		if most := 3 * small.Max(limitof.Package, uint64(len(data))); sum > most {
			t.Fatalf("%d bytes of files in a package of %d: %v", sum, len(data), err)
		}
	})
}
