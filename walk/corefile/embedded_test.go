package corefile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx/companion"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// apkFiles is a directory of the fixtures of scripts/fixtures-apk.sh.
const apkFiles = "../../testdata/apk"

// apkCore opens the core of a process that mapped its libraries from an APK.
func apkCore(t *testing.T, files *sources.Files) *walk.Process {
	t.Helper()
	data, err := testfile.Read(filepath.Join(apkFiles, "apk.core"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := New("core", data, Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return c.Process
}

// TestEmbedded: the core lacks the headers of libraries that were mapped from inside an APK. The APK at its path below a
// sysroot, in a directory, or as the program has them.
func TestEmbedded(t *testing.T) {
	sysroot := t.TempDir()
	at := filepath.Join(sysroot, "tmp/symkit-apk")
	err := os.MkdirAll(at, 0o777)
	if err == nil {
		err = os.Link(filepath.Join(apkFiles, "base.apk"), filepath.Join(at, "base.apk"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]*sources.Files{
		"sysroot":   {Search: companion.Search{Sysroots: []string{sysroot}}},
		"directory": {Archives: []string{apkFiles}},
		"exe":       {Exe: filepath.Join(apkFiles, "base.apk")},
	} {
		p := apkCore(t, files)
		var got []string
		for _, m := range p.Modules {
			if m.Offset != 0 {
				file, _ := files.Binary(m)
				got = append(got, fmt.Sprintf("%s %s %#x %v", m.Path, m.Name, m.Offset, file != nil && bytes.Equal(file.BuildID(), m.BuildID)))
			}
		}
		const want = "/tmp/symkit-apk/base.apk!/lib/x86_64/libtwo.so libtwo.so 0xe000 true\n/tmp/symkit-apk/base.apk!/lib/x86_64/libone.so libone.so 0x1000 true"
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %s", name, strings.Join(got, "\n"))
		}
	}
}

// TestEmbeddedUnknown: without the APK, the libraries are modules of one name at two offsets.
func TestEmbeddedUnknown(t *testing.T) {
	p := apkCore(t, &sources.Files{Search: companion.Search{Sysroots: []string{t.TempDir()}}})
	var got []string
	for _, m := range p.Modules {
		if m.Offset != 0 {
			got = append(got, fmt.Sprintf("%s %#x %#x %x", m.Path, m.Offset, m.End-m.Base, m.BuildID))
		}
	}
	if want := "[/tmp/symkit-apk/base.apk 0xe000 0x11000  /tmp/symkit-apk/base.apk 0x1000 0x11000 ]"; fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
	if w := strings.Join(p.Warnings, "\n"); strings.Count(w, "is not at hand") != 2 {
		t.Error(w)
	}
}
