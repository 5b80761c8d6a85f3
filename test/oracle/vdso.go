//go:build oracle

package oracle

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// VDSO returns the kernel's vDSO, as it is mapped into this process.
func VDSO(t *testing.T) []byte {
	t.Helper()
	mappings, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}

	// The kernel maps the vDSO at another address in each process.
	var lo, hi int64
	for line := range strings.Lines(string(mappings)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			fmt.Sscanf(line, "%x-%x", &lo, &hi)
		}
	}

	// No file has the vDSO, so its bytes come from memory.
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()

	data, err := io.ReadAll(io.NewSectionReader(mem, lo, hi-lo))
	if err != nil || len(data) == 0 {
		t.Fatalf("vDSO at %#x–%#x: %d bytes, %v", lo, hi, len(data), err)
	}
	return data
}

// VDSOFile writes the vDSO to a file.
func VDSOFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "linux-vdso.so.1")
	if err := os.WriteFile(path, VDSO(t), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
