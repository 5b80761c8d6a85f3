package debuginfod_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
)

// Example opens a stripped program whose debug file only a server has.
func Example() {
	const program = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5-mini.elf"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("GET", r.URL.Path)
		http.ServeFile(w, r, "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5-stripped.debug")
	}))
	defer web.Close()
	cache, err := os.MkdirTemp("", "debuginfod")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(cache)

	// debuginfod.FromEnv makes a client of the variables that debuginfod-find reads.
	client := &debuginfod.Client{URLs: []string{web.URL}, Cache: cache, Timeout: debuginfod.DefaultTimeout}
	m, _, err := companion.Open(context.Background(), []string{program}, companion.Search{
		Fetch: func(ctx context.Context, id []byte) (string, error) {
			return client.Find(ctx, id, debuginfod.DebugInfo)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	info, err := m.Image.SectionData(".debug_info")
	fmt.Println(len(info) > 0, err)
	// Output:
	// GET /buildid/8cb693933a6223a77971790e89f1dba9597e3982/debuginfo
	// true <nil>
}
