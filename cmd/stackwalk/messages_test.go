package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/internal/testfile"
)

// TestMessages: the whole text of what the program says of wrong arguments and files.
func TestMessages(t *testing.T) {
	core, err := fixture("crash-x86_64-gcc12-O2-dw5.core")
	if err != nil {
		t.Fatal(err)
	}
	app, err := fixture("crash-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("core", string(core))
	write("app", string(app))
	write("app.sym", "MODULE Linux x86_64 0123456789ABCDEF0 app\n")

	const neither = ": neither a minidump nor an ELF core file: it is "
	type message struct {
		code int
		want string // after "stackwalk: "
	}
	tests := map[string]message{ // by the arguments
		"":                         {command.Misuse, `error: expected "<dump> ..."; for example: stackwalk --symbols ./store crash.dmp; see stackwalk --help`},
		"none":                     {command.Failed, "error: none: no such file or directory; give the path of a minidump or core file"},
		"app":                      {command.Failed, "error: app: not a core file: it is a program or library; give the crash dump, and this file with --exe"},
		"app.sym":                  {command.Failed, "error: app.sym" + neither + "a Breakpad symbol file; give the crash dump, and this file with --symbols"},
		"--symbols htp://x core":   {command.Misuse, "error: --symbols htp://x: the URL of a symbol server begins with http:// or https://; see stackwalk --help"},
		"--symbols http:/x core":   {command.Misuse, "error: --symbols http:/x: the URL of a symbol server begins with http:// or https://; see stackwalk --help"},
		"--symbols ftp://a/b core": {command.Misuse, "error: --symbols ftp://a/b: the URL of a symbol server begins with http:// or https://; see stackwalk --help"},
		"--symbols none core":      {command.Failed, "error: --symbols none: no such file or directory; give a symbol store, a symbol file or the URL of a symbol server"},
		"--exe none core":          {command.Failed, "error: --exe none: no such file or directory; give the ELF file of the program that crashed"},
		"--debug-dir none core":    {command.Failed, "error: --debug-dir none: no such file or directory; give a directory"},
		"--debug-dir app core":     {command.Failed, "error: --debug-dir app: not a directory; give the directory that it is in"},
		"--sysroot none core":      {command.Failed, "error: --sysroot none: no such file or directory; give a directory"},
		"-b --no-elf -s app core":  {0, "warning: app: not used for /tmp/symkit-crash/crash: not a symbol file: it is an ELF program or library, which dump_syms reads"},
	}
	for kind, start := range testfile.Kinds {
		name := strings.ReplaceAll(kind, " ", "_")
		write(name, start)
		tests[name] = message{command.Failed, "error: " + name + neither + kind}
		if !strings.HasPrefix(start, "\x1f\x8b") { // symbol files can be packed
			tests["-b --no-elf -s "+name+" core"] = message{0, "warning: " + name + ": not used for /tmp/symkit-crash/crash: not a symbol file: it is " + kind}
		}
	}
	for args, test := range tests {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if want := "stackwalk: " + test.want + "\n"; test.code != 0 && code != test.code || stderr.String() != want {
			t.Errorf("stackwalk %s: exit code %d, %q, want %d, %q", args, code, &stderr, test.code, want)
		}
	}
}

// A signal is told as dump_syms does: without --out nothing was written, with it what
// is done is whole.
func TestInterruptedMessage(t *testing.T) {
	data, err := fixture("crash-x86_64-gcc12-O2-dw5.core")
	if err != nil {
		t.Fatal(err)
	}
	core := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(core, data, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("terminated signal received"))
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "stackwalk: error: interrupted\n"},
		{[]string{"--out", t.TempDir()}, "stackwalk: error: interrupted: 0 of 1 dumps are done, their results whole\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(ctx, append(test.args, core), &stdout, &stderr)
		if code != command.Failed || stderr.String() != test.want {
			t.Errorf("%q: exit code %d, %q, want %q", test.args, code, &stderr, test.want)
		}
	}
}
