package batch

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx/archive"
	"symkit/test/testfile"
)

// tree puts fixtures of testdata/elf and texts into a new directory, which
// becomes the working directory.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	fixtures, err := filepath.Abs("../../testdata/elf")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, content := range files {
		data := []byte(content)
		if fixture, ok := strings.CutPrefix(content, "fixture "); ok {
			if data, err = testfile.Read(filepath.Join(fixtures, fixture)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func names(inputs []input) (names []string) {
	for i := range inputs {
		names = append(names, inputs[i].Name())
	}
	return names
}

// TestFindImages: snaps, AppImages and compressed files of the kernel below a directory are packages.
func TestFindImages(t *testing.T) {
	const appImage = "\x7fELF\x02\x01\x01\x00AI\x02"
	tree(t, map[string]string{"d/app.AppImage": appImage, "d/app.snap": "hsqs", "d/first.AppImage": appImage[:10] + "\x01", "x.AppImage": appImage,
		"d/ext4.ko.gz": "\x1f\x8b\x08", "d/other.gz": "\x1f\x8b\x08", "d/x.ko": "text"})
	f := Finder{Recurse: true}
	for _, path := range []string{"d", "x.AppImage"} {
		err := f.Add(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
	}
	var packages []string
	for i := range f.inputs {
		if f.inputs[i].unread != nil {
			packages = append(packages, f.inputs[i].Path)
		}
	}
	if want := []string{"d/app.AppImage", "d/app.snap", "d/ext4.ko.gz", "x.AppImage"}; !slices.Equal(packages, want) || len(f.inputs) != 5 {
		t.Errorf("%q of %d inputs", packages, len(f.inputs))
	}
}

func TestFinder(t *testing.T) {
	tree(t, map[string]string{
		"app": "fixture cxx-x86_64-gcc12-O2-dw5.elf", "build/b/lib.so": "fixture cxx-x86_64-gcc12-O2-dw5.so",
		"build/a.elf": "fixture lang-x86_64-gcc12-O2-dw5.elf", "build/notes.txt": "no ELF", "build/empty": "", "build/short": "\x7fEL",
		"empty.a": "!<arch>\n", "thin.a": "!<thin>\n", "debug/x": "", "text": "no ELF",
	})
	zipped(t, "app.zip", "app", "build/a.elf", "text")
	if err := os.Symlink("a.elf", "build/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../build", "build/loop"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		finder Finder
		args   []string
		inputs []string
		dirs   []string
		failed map[string]error
	}{
		{"files", Finder{}, []string{"text", "app"}, []string{"text", "app"}, nil, nil},
		{"a directory", Finder{}, []string{"app", "debug"}, []string{"app"}, []string{"debug"}, nil},
		{"search", Finder{Recurse: true}, []string{"build", "debug"}, []string{"build/a.elf", "build/b/lib.so"}, nil, nil},
		{"a link that is named", Finder{Recurse: true}, []string{"build/loop", "build/link"},
			[]string{"build/link"}, nil, nil},
		{"archives", Finder{}, []string{"app.zip", "empty.a", "thin.a"}, []string{"app.zip!/app", "app.zip!/build/a.elf"}, nil,
			map[string]error{"empty.a": archive.ErrNoMember, "thin.a": archive.ErrNoMember}},
		{"a member", Finder{Member: "app"}, []string{"app.zip", "build/a.elf", "empty.a"}, []string{"app.zip!/app", "build/a.elf"}, nil,
			map[string]error{"empty.a": archive.ErrNoMember}},
		{"missing", Finder{Recurse: true}, []string{"none"}, nil, nil, map[string]error{"none": os.ErrNotExist}},
		{"a device", Finder{}, []string{os.DevNull}, []string{os.DevNull}, nil, nil},
	} {
		f := test.finder
		for _, arg := range test.args {
			if err := f.Add(context.Background(), arg); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(test.inputs, names(f.inputs)) + cmp.Diff(test.dirs, f.Dirs); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
		for _, failure := range f.failures.list {
			if want := test.failed[failure.name]; want == nil || !errors.Is(failure.err, want) || !strings.HasPrefix(failure.err.Error(), failure.name) {
				t.Errorf("%s: %v", test.name, failure)
			}
		}
		if len(f.failures.list) != len(test.failed) {
			t.Errorf("%s: %d failures, want %d", test.name, len(f.failures.list), len(test.failed))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (&Finder{Recurse: true}).Add(ctx, "build"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// zipped makes a zip file of files.
func zipped(t *testing.T, path string, files ...string) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(out)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}
