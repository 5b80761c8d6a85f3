//go:build unix

package testfile

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// FIFO makes a FIFO that no process has open and returns its path.
func FIFO(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// StalledServer returns the URL of an HTTP server that takes requests and sends
// nothing, and a channel that gets a value for each request.
func StalledServer(t *testing.T) (url string, asked <-chan struct{}) {
	t.Helper()
	return blockingServer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// EndlessServer returns the URL of an HTTP server whose bodies begin with head
// and never end, and a channel that gets a value for each request.
func EndlessServer(t *testing.T, head []byte) (url string, asked <-chan struct{}) {
	t.Helper()
	return blockingServer(t, func(w http.ResponseWriter, r *http.Request) {
		block := bytes.Repeat([]byte("FILE 1 a.c\n"), 64)
		_, err := w.Write(head)
		for err == nil && r.Context().Err() == nil {
			_, err = w.Write(block)
			time.Sleep(time.Millisecond) // spare the disk
		}
	})
}

// blockingServer returns the URL of an HTTP server whose handler may never return, and a
// channel that gets a value for each request.
func blockingServer(t *testing.T, handle http.HandlerFunc) (string, <-chan struct{}) {
	t.Helper()
	asked := make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		handle(w, r)
	}))

	// Close waits for requests, so their connections are closed first.
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL, asked
}

// hung is the time after a signal at which the test kills a process that still runs. A
// process must end within prompt in at least one of the attempts: on a busy machine a single
// process may have to wait for a processor.
const (
	hung     = 30 * time.Second
	prompt   = time.Second
	attempts = 4
)

// Interrupt starts the command that makeCmd returns, waits until ready has a value, and sends
// the signal once. If ready is nil, Interrupt waits for a moment, which it doubles as long as
// the signal comes before the process handles signals. The process must end by itself within
// a second, with exit code 1 and the word "interrupted" in an error.
func Interrupt(t *testing.T, signal os.Signal, ready <-chan struct{}, makeCmd func() *exec.Cmd) {
	t.Helper()
	slow := 0 // attempts that took longer than prompt
	for moment := 200 * time.Millisecond; ; {
		for len(ready) > 0 {
			<-ready // a value for an earlier process
		}

		cmd := makeCmd()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}

		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()

		// The signal has to come while the process is at work.
		if ready == nil {
			time.Sleep(moment)
		} else {
			select {
			case <-ready:
			case <-ended:
				t.Fatalf("%v ended before it was ready: %s", cmd.Args, &stderr)
			}
		}

		signalled := time.Now()
		if err := cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}

		// The test must not hang if the process ignores the signal.
		select {
		case <-ended:
		case <-time.After(hung):
			_ = cmd.Process.Kill()
			t.Fatalf("%v: goes on after %v", cmd.Args, signal)
		}
		took := time.Since(signalled)

		// A process that the signal killed did not handle signals yet.
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if status.Signaled() && moment < hung {
			moment *= 2
			continue
		}

		// One slow process can be the fault of the machine.
		if took > prompt {
			slow++
			if slow < attempts {
				continue
			}
			t.Errorf("%v: %v after %v, %d times", cmd.Args, took.Round(time.Millisecond), signal, slow)
		}

		// A process that handles the signal ends with an error of its own.
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%v: %v, %s", cmd.Args, cmd.ProcessState, &stderr)
		}
		return
	}
}
