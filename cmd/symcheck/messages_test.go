package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/internal/testfile"
)

// TestMessages checks the whole text of the messages about wrong arguments and files.
func TestMessages(t *testing.T) {
	app, err := fixture(filepath.Join("..", ".."), "lang-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	core, err := fixture(filepath.Join("..", ".."), "crash-x86_64-gcc12-O2-dw5.core")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("app", string(app))
	write("core", string(core))
	write("app.sym", "MODULE Linux x86_64 0123456789ABCDEF0 app\n")
	write("crash.dmp", "MDMP\x93\xa7")

	const order = "; the symbol file comes first, then the ELF file"
	tests := map[string]struct {
		code int
		want string // after "symcheck: error: "
	}{ // by the arguments
		"":                             {command.Misuse, `expected "<file.sym> <elf> ..."; for example: symcheck app.sym ./app; see symcheck --help`},
		"app.sym":                      {command.Misuse, `expected "<elf> ..."; for example: symcheck app.sym ./app; see symcheck --help`},
		"lint":                         {command.Misuse, `expected "<file.sym> ..."; for example: symcheck lint app.sym; see symcheck --help`},
		"diff a":                       {command.Misuse, `expected "<b.sym>"; for example: symcheck diff old.sym new.sym; see symcheck --help`},
		"app.sym none":                 {command.Failed, "none: no such file or directory; give the ELF file that the symbol file was made from"},
		"none app":                     {command.Failed, "none: no such file or directory; give the path of a symbol file"},
		"lint none":                    {command.Failed, "none: no such file or directory; give the path of a symbol file"},
		"lint . app.sym none":          {command.Failed, ".: it is a directory\nsymcheck: error: none: no such file or directory; give the path of a symbol file"},
		"app app.sym":                  {command.Failed, "app: not a symbol file: it is an ELF program or library, which dump_syms reads" + order},
		"app.sym app.sym":              {command.Failed, "app.sym: ELF header+0x0: not an ELF file: it is a Breakpad symbol file, which symcheck lint reads" + order},
		"app.sym crash.dmp":            {command.Failed, "crash.dmp: ELF header+0x0: not an ELF file: it is a minidump, which stackwalk reads"},
		"lint core":                    {command.Failed, "core: not a symbol file: it is a core file, which stackwalk reads"},
		"lint crash.dmp":               {command.Failed, "crash.dmp: not a symbol file: it is a minidump, which stackwalk reads"},
		"app.sym core":                 {command.Failed, "core: ELF header+0x10: a core file has no symbols: give one of the programs that it names"},
		"--debug-dir none app.sym app": {command.Failed, "--debug-dir none: no such file or directory; give a directory"},
		"--debug-dir app app.sym app":  {command.Failed, "--debug-dir app: not a directory; give the directory that it is in"},
	}
	for kind, start := range testfile.Kinds {
		name := strings.ReplaceAll(kind, " ", "_")
		write(name, start)
		tests["app.sym "+name] = struct {
			code int
			want string
		}{command.Failed, name + ": ELF header+0x0: not an ELF file: it is " + kind}
		for _, args := range []string{"lint " + name, "diff app.sym " + name} {
			tests[args] = struct {
				code int
				want string
			}{command.Failed, name + ": not a symbol file: it is " + kind}
		}
	}
	for args, test := range tests {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if want := "symcheck: error: " + test.want + "\n"; code != test.code || stderr.String() != want {
			t.Errorf("symcheck %s: exit code %d, %q, want %d, %q", args, code, &stderr, test.code, want)
		}
	}
}
