package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	err := os.WriteFile(path, []byte("12345"), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path, 5); string(data) != "12345" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	for path, most := range map[string]int64{path: 4, filepath.Dir(path): 10, path + "none": 10} {
		e, ok := errors.AsType[*fs.PathError](func() error { _, err := Read(path, most); return err }())
		if !ok || e.Path != path {
			t.Errorf("%s: %v", path, e)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if data, err := Read("/dev/null", 1); len(data) != 0 || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Read("/dev/zero", 1<<40); !errors.Is(err, ErrDevice) {
		t.Error(err)
	}
}
