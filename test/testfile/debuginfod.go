//go:build oracle

package testfile

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Debuginfod runs elfutils' debuginfod over a directory, on loopback and until the test
// ends. It returns the server's URL after the server has scanned the files of the directory.
func Debuginfod(t *testing.T, dir string) (url string) {
	t.Helper()
	// The kernel chooses a port that is free.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command("debuginfod", "-p", fmt.Sprint(port), "-d", ":memory:", "-F", dir)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})

	// The server answers before it has scanned the directory.
	url = fmt.Sprintf("http://127.0.0.1:%d", port)
	for range 200 {
		time.Sleep(50 * time.Millisecond)
		r, err := http.Get(url + "/metrics")
		if err != nil {
			continue
		}
		var text bytes.Buffer
		_, _ = text.ReadFrom(r.Body)
		r.Body.Close()
		if scanned(text.String()) {
			return url
		}
	}

	t.Fatalf("debuginfod is not ready\n%s", log.Bytes())
	return ""
}

// scanned reports whether debuginfod's metrics show that it has scanned its directory:
// nothing waits for a thread, and no thread is at work.
func scanned(metrics string) bool {
	for _, line := range []string{
		`thread_work_total{role="traverse"} 1`, `thread_busy{role="traverse"} 0`,
		`thread_work_pending{role="scan"} 0`, `thread_busy{role="scan"} 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			return false
		}
	}
	return true
}
