package command

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTerminalSize(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	t.Setenv("TERM", "xterm")
	if columns, ok := terminal(tty); columns != 80 || !ok {
		t.Errorf("a terminal of unknown size: %d, %v", columns, ok)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 132}); err != nil {
		t.Fatal(err)
	}
	if columns, ok := terminal(tty); columns != 132 || !ok {
		t.Errorf("a wide terminal: %d, %v", columns, ok)
	}
	if columns := helpColumns(tty); columns != 100 {
		t.Errorf("help in a wide terminal: %d columns", columns)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 57}); err != nil {
		t.Fatal(err)
	}
	if columns := helpColumns(tty); columns != 57 {
		t.Errorf("help in a narrow terminal: %d columns", columns)
	}
	t.Setenv("TERM", "dumb")
	if _, ok := terminal(tty); ok {
		t.Error("a dumb terminal can erase lines")
	}
}
