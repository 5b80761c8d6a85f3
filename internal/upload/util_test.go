package upload

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// serve runs a server and returns its URL.
func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	web := httptest.NewServer(handle)
	t.Cleanup(web.Close)
	return web.URL
}

// gunzipped returns the content of gzip data.
func gunzipped(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
