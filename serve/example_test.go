package serve_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"symkit/serve"
)

// A symbol server over a directory.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "symbols")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	place := filepath.Join(dir, "app", "9393B68C623AA7237971790E89F1DBA90")
	err = os.MkdirAll(place, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(place, "app.sym"), []byte("MODULE Linux x86_64 9393B68C623AA7237971790E89F1DBA90 app\n"), 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}

	server, err := serve.New(context.Background(), dir, serve.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	h := httptest.NewServer(server)
	defer h.Close()

	resp, err := http.Get(h.URL + "/app/9393B68C623AA7237971790E89F1DBA90/app.sym")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(resp.Status, "\n", string(text))
	// Output:
	// 200 OK
	// MODULE Linux x86_64 9393B68C623AA7237971790E89F1DBA90 app
}
