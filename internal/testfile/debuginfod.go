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

// Debuginfod runs elfutils' debuginfod over a directory on loopback until the
// test ends, and returns its URL once it has scanned the files there.
func Debuginfod(t *testing.T, dir string) (url string) {
	t.Helper()
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

// scanned tells by debuginfod's metrics whether it has been through its directory:
// nothing waits for a thread, and no thread is still at work.
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
