package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"symkit/internal/crash"
	"symkit/internal/par"
)

// TestMainPanics: a panic of the program, or of a goroutine of its parallel loops, ends it with a
// code that no result has.
func TestMainPanics(t *testing.T) {
	switch os.Getenv("SYMKIT_TEST_PANIC") {
	case "main":
		Main("prog", func(context.Context, []string, io.Writer, io.Writer) int { panic("here") })
	case "loop":
		Main("prog", func(ctx context.Context, _ []string, _, _ io.Writer) int {
			_ = par.For(ctx, 4, 100, func(int) error { panic("here") })
			return 0
		})
	}
	for _, where := range []string{"main", "loop"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMainPanics$")
		cmd.Env = append(os.Environ(), "SYMKIT_TEST_PANIC="+where)
		out, err := cmd.CombinedOutput()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != crash.Code || !strings.HasPrefix(string(out), "panic: here\nprog: error: a defect of this program, exit code 70; ") {
			t.Errorf("%s: %v: %s", where, err, out)
		}
	}
}
