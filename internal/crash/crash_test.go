package crash

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCatch: a panic of any goroutine with Catch ends the process with Code, one message and a short
// trace that begins where the panic was.
func TestCatch(t *testing.T) {
	if os.Getenv("SYMKIT_TEST_CRASH") != "" {
		Exit("prog", func() { os.Stderr.WriteString("clean\n") })
		for range 8 {
			go func() {
				defer Catch()
				deep(200)
			}()
		}
		select {}
	}

	cmd := exec.Command(os.Args[0], "-test.run=^TestCatch$")
	cmd.Env = append(os.Environ(), "SYMKIT_TEST_CRASH=1")
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != Code || len(lines) != 2+maxFrames+1 ||
		lines[0] != "panic: runtime error: index out of range [0] with length 0" ||
		lines[1] != "prog: error: a defect of this program, exit code 70; please report it with the input (SECURITY.md)" ||
		!strings.HasPrefix(lines[2], "\tsymkit/internal/crash.deep crash_test.go:") || lines[len(lines)-1] != "clean" {
		t.Errorf("%v: %s", err, out)
	}
}

// deep panics at the end of n calls.
func deep(n int) int {
	if n == 0 {
		return []int{}[n]
	}
	return deep(n-1) + 1
}

// TestLibrary: without Exit a panic is Go's.
func TestLibrary(t *testing.T) {
	defer func() {
		if recover() != "own" {
			t.Error("the panic is not the caller's")
		}
	}()
	func() {
		defer Catch()
		panic("own")
	}()
}
