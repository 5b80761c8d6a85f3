package main

import (
	"os"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/internal/testfile"
)

// TestMessages compares the whole text of the messages about wrong arguments and
// files.
func TestMessages(t *testing.T) {
	app, err := fixture("cxx-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"app": string(app), "text": "text\n", "crash.dmp": "MDMP\x93\xa7"} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	tests := map[string]struct {
		code int
		want string // after "dump_syms: error: "
	}{ // by the arguments
		"":                               {command.Misuse, `expected "<path> ..."; for example: dump_syms ./app > app.sym; see dump_syms --help`},
		"--bogus":                        {command.Misuse, "unknown flag --bogus; see dump_syms --help"},
		"none":                           {command.Failed, "none: no such file or directory; give the path of an ELF program or library"},
		"crash.dmp":                      {command.Failed, "crash.dmp: ELF header+0x0: not an ELF file: it is a minidump, which stackwalk reads"},
		"text":                           {command.Failed, "text: ELF header+0x0: not an ELF file: it is a text file"},
		"--debug-dir none app":           {command.Failed, "--debug-dir none: no such file or directory; give a directory"},
		"--debug-dir text app":           {command.Failed, "--debug-dir text: not a directory; give the directory that it is in"},
		"--sysroot none app":             {command.Failed, "--sysroot none: no such file or directory; give a directory"},
		"--dwo-dir text app":             {command.Failed, "--dwo-dir text: not a directory; give the directory that it is in"},
		"--store s --debug-dir none app": {command.Failed, "--debug-dir none: no such file or directory; give a directory"},
	}
	for kind, start := range testfile.Kinds {
		if err := os.WriteFile("kind", []byte(start), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, stderr := stderrOf(t, "kind"); code != command.Failed || stderr != "dump_syms: error: kind: ELF header+0x0: not an ELF file: it is "+kind+"\n" {
			t.Errorf("%s: exit code %d, %s", kind, code, stderr)
		}
	}
	for args, test := range tests {
		code, stderr := stderrOf(t, strings.Fields(args)...)
		if want := "dump_syms: error: " + test.want + "\n"; code != test.code || stderr != want {
			t.Errorf("dump_syms %s: exit code %d, %q, want %d, %q", args, code, stderr, test.code, want)
		}
	}

	t.Setenv("SYMKIT_LIMITS", "outptu=1")
	code, stderr := stderrOf(t, "app")
	if want := `dump_syms: error: SYMKIT_LIMITS: "outptu=1": there is no limit "outptu"; did you mean "output"?` + "\n"; code != command.Misuse || stderr != want {
		t.Errorf("an unknown limit: %d, %s", code, stderr)
	}
}
