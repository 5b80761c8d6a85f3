//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"symkit/elfx"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// fixtureFile puts a fixture into a directory and returns its path.
func fixtureFile(t *testing.T, name string) string {
	t.Helper()
	return programtest.Write(t, filepath.Join(t.TempDir(), name), programtest.Fixture(t, name))
}

// TestSignalled: the first signal ends the program wherever it waits: in open(2)
// of a FIFO, in write(2) to a pipe that is full, for a server.
func TestSignalled(t *testing.T) {
	app := fixtureFile(t, "go-x86_64-gc.elf")
	stripped := fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5-stripped.elf")
	stalled, stalledAsked := testfile.StalledServer(t)
	endless, endlessAsked := testfile.EndlessServer(t, []byte(elfMagic))
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, test := range []struct {
			name   string
			args   []string
			server string
			ready  <-chan struct{}
			full   bool // standard output is a full pipe without a reader
		}{
			{name: "output", args: []string{"-o", testfile.FIFO(t), app}},
			{name: "manifest", args: []string{"-s", t.TempDir(), "--manifest", testfile.FIFO(t), app}},
			{name: "list", args: []string{"-s", t.TempDir(), "--files-from", testfile.FIFO(t)}},
			{name: "mapping", args: []string{"--mapping-file", testfile.FIFO(t), app}},
			{name: "full pipe", args: []string{app}, full: true},
			{name: "stalled server", args: []string{stripped}, server: stalled, ready: stalledAsked},
			{name: "endless body", args: []string{stripped}, server: endless, ready: endlessAsked},
			{name: "stalled server, batch", args: []string{"-s", t.TempDir(), stripped}, server: stalled, ready: stalledAsked},
		} {
			t.Run(test.name+" "+signal.String(), func(t *testing.T) {
				cache := t.TempDir()
				testfile.Interrupt(t, signal, test.ready, func() *exec.Cmd {
					cmd := exec.Command("dump_syms", test.args...)
					cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS="+test.server, "DEBUGINFOD_CACHE_PATH="+cache)
					if test.full {
						r, w, err := os.Pipe()
						if err != nil {
							t.Fatal(err)
						}
						t.Cleanup(func() { r.Close(); w.Close() })
						cmd.Stdout = w
					}
					return cmd
				})
				programtest.NoFiles(t, cache)
			})
		}
	}
}

// TestSignalledTwice: the second signal does not wait for the work to end.
func TestSignalledTwice(t *testing.T) {
	app := fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	cmd := exec.Command("dump_syms", "--mapping-file", testfile.FIFO(t), app)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_ = cmd.Process.Signal(syscall.SIGTERM) // the process may have ended
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a blocked program ended with success")
	}
}

const elfMagic = "\x7fELF\x02\x01\x01"

// TestOutputIsInput: an output that is one of the files read, by any name, is
// refused, and the file stays.
func TestOutputIsInput(t *testing.T) {
	stripped := fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5-stripped.elf")
	debug := fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5-stripped.debug")
	dir := t.TempDir()
	link, hard := filepath.Join(dir, "link"), filepath.Join(dir, "hard")
	if err := os.Symlink(stripped, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(stripped, hard); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(dir, "rules.json")
	list := filepath.Join(dir, "list")
	for path, text := range map[string]string{rules: "{}", list: stripped + "\n"} {
		programtest.Write(t, path, []byte(text))
	}
	before, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := t.TempDir()
	for _, args := range [][]string{
		{"-o", stripped, stripped}, {"-o", link, stripped}, {"-o", hard, stripped}, {"-o", stripped, hard, debug}, {"-o", debug, stripped, debug},
		{"-o", rules, "--mapping-file", rules, stripped},
		{"-s", store, "--manifest", link, stripped}, {"-s", store, "--manifest", hard, stripped}, {"-s", store, "--manifest", list, "--files-from", list},
		{"-s", store, "--manifest", stripped, "--files-from", list},
	} {
		cmd := exec.Command("dump_syms", args...)
		out, _ := cmd.CombinedOutput()
		tested.Failed(t, cmd.ProcessState.ExitCode(), string(out), store, "is the same file as the input")
	}
	appended, err := os.OpenFile(hard, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer appended.Close()
	cmd := exec.Command("dump_syms", stripped)
	cmd.Stdout = appended
	if err := cmd.Run(); err == nil {
		t.Error("the symbols of a program are appended to it")
	}
	after, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s has changed", path)
		}
	}
	for _, path := range []string{stripped, debug} {
		if f, err := elfx.Open(path); err != nil {
			t.Error(err)
		} else {
			f.Close()
		}
	}
}

// TestClosedOutput: a standard output that is closed is an error when something
// is to be written to it.
func TestClosedOutput(t *testing.T) {
	app := fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	programtest.Shell(t, map[string]int{
		`dump_syms "$0" >&-`:               1,
		`dump_syms "$0" >&- <&-`:           1,
		`dump_syms -i "$0" >&-`:            1,
		`dump_syms --version >&-`:          1,
		`dump_syms "$0" >/dev/null`:        0,
		`dump_syms "$0" >/dev/null 2>&1`:   0,
		`dump_syms "$0" 1<>/dev/null 2>&1`: 0, // as a daemon has it
		`dump_syms -o "$0.sym" "$0" >&-`:   0,
	}, app)
}
