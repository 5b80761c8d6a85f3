package remote

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFetch: a file is copied under its own name and removed again; a path is its own
// copy; what is not there is an fs.ErrNotExist.
func TestFetch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/dir/a.dmp":
			w.Write([]byte("text"))
		case "/cut":
			w.Header().Set("Content-Length", "10")
			w.Write([]byte("text"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	t.Setenv("TMPDIR", t.TempDir())

	path, remove, err := Fetch(t.Context(), server.URL+"/dir/a.dmp?key")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if string(data) != "text" || err != nil || filepath.Base(path) != "a.dmp" {
		t.Errorf("%s: %q, %v", path, data, err)
	}
	remove()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}

	if path, remove, err := Fetch(t.Context(), "a/b"); path != "a/b" || err != nil {
		t.Error(path, err)
	} else {
		remove()
	}
	if _, _, err := Fetch(t.Context(), server.URL+"/none"); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), server.URL+"/none: the server answered 404") {
		t.Error(err)
	}
	if _, _, err := Fetch(t.Context(), server.URL+"/cut"); err == nil {
		t.Error("a file that is cut short")
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if !IsURL("s3://a") || IsURL("a") {
		t.Error("IsURL")
	}
}
