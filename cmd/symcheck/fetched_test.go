package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"symkit/test/testfile"
)

// TestAddresses: files at addresses are checked like local files, messages have the
// addresses, and no copy is left.
func TestAddresses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const name = "lang-x86_64-gcc12-O2-dw5.elf"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := map[string]string{"/" + name: "../../testdata/elf/" + name, "/own.sym": "../../check/testdata/own/" + name + ".sym"}[r.URL.Path]
		if r.URL.Path == "/bad.sym" {
			w.Write([]byte("\x7fELF"))
			return
		}
		data, err := testfile.Read(from)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer server.Close()

	sym, elf := server.URL+"/own.sym", server.URL+"/"+name
	for _, test := range []struct {
		args, want string
		code       int
	}{
		{sym + " " + elf, sym, 0},
		{"lint " + sym, sym, 0},
		{"diff " + sym + " " + sym, "", 0},
		{sym + " " + server.URL + "/none", "error: " + server.URL + "/none: the server answered 404", 1},
		{"lint " + server.URL + "/bad.sym", "error: " + server.URL + "/bad.sym: not a symbol file", 1},
	} {
		var out bytes.Buffer
		code := run(t.Context(), strings.Fields(test.args), &out, &out)
		if code != test.code || !strings.Contains(out.String(), test.want) || strings.Contains(out.String(), os.TempDir()) {
			t.Errorf("%s: %d: %s", test.args, code, out.String())
		}
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
