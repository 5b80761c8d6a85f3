//go:build windows

// Command hold opens a file as another program of Windows would and runs a command while
// the file is open, for scripts/wine.sh:
//
//	hold none|read|all FILE [COMMAND [ARG ...]]
//
// The first argument is what hold lets others do with the file: nothing, read it as beside
// a program that runs, or everything. The exit code is that of the command. Without a
// command hold prints "held" and keeps the file open for half a second.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/windows"
)

func main() {
	code, err := hold(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "hold: error: %v\n", err)
		os.Exit(3)
	}
	os.Exit(code)
}

func hold(args []string) (code int, err error) {
	if len(args) < 2 {
		return 0, errors.New("usage: hold none|read|all FILE [COMMAND [ARG ...]]")
	}
	share, ok := map[string]uint32{
		"none": 0,
		"read": windows.FILE_SHARE_READ,
		"all":  windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE,
	}[args[0]]
	if !ok {
		return 0, fmt.Errorf("%s: want none, read or all", args[0])
	}

	path, err := windows.UTF16PtrFromString(args[1])
	if err != nil {
		return 0, err
	}
	file, err := windows.CreateFile(path, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", args[1], err)
	}
	defer windows.CloseHandle(file)

	if len(args) == 2 {
		fmt.Println("held")
		time.Sleep(time.Second / 2)
		return 0, nil
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return cmd.ProcessState.ExitCode(), nil
	}
	return 0, err
}
