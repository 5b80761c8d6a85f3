package main

import (
	"os"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestMessages checks the whole text of the messages about wrong arguments and files.
func TestMessages(t *testing.T) {
	app := programtest.Fixture(t, "lang-x86_64-gcc12-O2-dw5.elf")
	core := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core")
	other := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.elf")
	t.Chdir(t.TempDir())
	write := func(name, content string) {
		programtest.Write(t, name, []byte(content))
	}
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	// Reading this file fails, even for the superuser.
	if err := os.Symlink("unreadable", "unreadable"); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"app": string(app), "half": string(app[:len(app)/2]), "other": string(other), "core": string(core), "crash.dmp": "MDMP\x93\xa7",
		"text": "text\n", "empty": "", "app.sym": "MODULE Linux x86_64 0123456789ABCDEF0 app\n",
	}
	for name, content := range files {
		write(name, content)
	}

	const (
		order   = "; the symbol file comes first, then the ELF file"
		end     = "; see symcheck --help"
		sym     = "; give the path of a symbol file"
		elf     = "; give the ELF file that the symbol file was made from"
		checks  = "want one of grammar, canonical, duplicates, order, overlaps, nesting, consumers, rules, stack-win, module, functions, names, code, lines, inlines, publics, cfi, signal-frames, sframe"
		unknown = "not an address that is known; give a path, or an address that begins with https:// or http:// or s3://"
		parts   = "want CLASS:PERCENT, CLASS one of functions, lines, inlines, cfi, sframe"
	)
	tests := map[string]programtest.Message{ // by the arguments
		// The number of files, and their order.
		"":                    {command.Misuse, `expected "<file.sym> <elf> ..."; for example: symcheck app.sym ./app` + end},
		"app.sym":             {command.Misuse, `expected "<elf> ..."; for example: symcheck app.sym ./app` + end},
		"lint":                {command.Misuse, `expected "<file.sym> ..."; for example: symcheck lint app.sym` + end},
		"diff a":              {command.Misuse, `expected "<b.sym>"; for example: symcheck diff old.sym new.sym` + end},
		"gs://b/x.sym app":    {command.Misuse, "gs://b/x.sym: " + unknown + end},
		"app.sym S3://b/app":  {command.Misuse, "S3://b/app: " + unknown + end},
		"lint az://b/x.sym":   {command.Misuse, "az://b/x.sym: " + unknown + end},
		"diff a s3:/b":        {command.Misuse, "s3:/b: " + unknown + end},
		"diff a b c":          {command.Misuse, "unexpected argument c" + end},
		"app app.sym":         {command.Failed, "app: not a symbol file: it is an ELF program or library, which dump_syms reads" + order},
		"app.sym app.sym":     {command.Failed, "app.sym: ELF header+0x0: not an ELF file: it is a Breakpad symbol file, which symcheck lint reads" + order},
		"crash.dmp app":       {command.Failed, "crash.dmp: not a symbol file: it is a minidump, which stackwalk reads" + order},
		"app.sym app app app": {command.Failed, "app: is another module than app; give one ELF file, or a program and its debug file"},
		"app.sym app other":   {command.Failed, "other: is another module than app; give one ELF file, or a program and its debug file"},

		// The ELF file.
		"app.sym none":       {command.Failed, "none: no such file or directory" + elf},
		"app.sym unreadable": {command.Failed, "unreadable: too many levels of symbolic links" + elf},
		"app.sym dir":        {command.Failed, "dir: not a regular file: it is a directory" + elf},
		"app.sym /dev/null":  {command.Failed, "/dev/null: not a regular file: it is a device" + elf},
		"app.sym text":       {command.Failed, "text: ELF header+0x0: not an ELF file: it is a text file" + elf},
		"app.sym empty":      {command.Failed, "empty: ELF header+0x0: not an ELF file: it is empty" + elf},
		"app.sym half":       {command.Failed, "half: section headers+0x0: truncated: the file is not complete; copy it again"},
		"app.sym crash.dmp":  {command.Failed, "crash.dmp: ELF header+0x0: not an ELF file: it is a minidump, which stackwalk reads"},
		"app.sym core":       {command.Failed, "core: ELF header+0x10: a core file has no symbols: give one of the programs that it names"},

		// The symbol file.
		"none app":            {command.Failed, "none: no such file or directory" + sym},
		"unreadable app":      {command.Failed, "unreadable: too many levels of symbolic links" + sym},
		"dir app":             {command.Failed, "dir: not a regular file: it is a directory" + sym},
		"empty app":           {command.Failed, "empty: the symbol file is empty; make it again with dump_syms"},
		"core app":            {command.Failed, "core: not a symbol file: it is a core file, which stackwalk reads" + order},
		"lint none":           {command.Failed, "none: no such file or directory" + sym},
		"lint text/x":         {command.Failed, "text/x: not a directory" + sym},
		"lint empty":          {command.Failed, "empty: the symbol file is empty; make it again with dump_syms"},
		"lint . app.sym none": {command.Failed, ".: not a regular file: it is a directory" + sym + "\nsymcheck: error: none: no such file or directory" + sym},
		"lint app":            {command.Failed, "app: not a symbol file: it is an ELF program or library, which dump_syms reads"},
		"lint core":           {command.Failed, "core: not a symbol file: it is a core file, which stackwalk reads"},
		"lint crash.dmp":      {command.Failed, "crash.dmp: not a symbol file: it is a minidump, which stackwalk reads"},
		"diff app.sym none":   {command.Failed, "none: no such file or directory" + sym},
		"diff app.sym app":    {command.Failed, "app: not a symbol file: it is an ELF program or library, which dump_syms reads"},
		"diff app.sym empty":  {command.Failed, "empty: the symbol file is empty; make it again with dump_syms"},
		"diff dir app.sym":    {command.Failed, "dir: not a regular file: it is a directory" + sym},

		// Values of flags.
		"--debug-dir none app.sym app":         {command.Failed, "--debug-dir none: no such file or directory; give a directory"},
		"--sysroot none app.sym app":           {command.Failed, "--sysroot none: no such file or directory; give a directory"},
		"--debug-dir app app.sym app":          {command.Failed, "--debug-dir app: not a directory; give the directory that it is in"},
		"--format xml app.sym app":             {command.Misuse, `--format must be one of "text","json","junit","sarif","html" but got "xml"` + end},
		"--formt json app.sym app":             {command.Misuse, `unknown flag --formt, did you mean "--format"?` + end},
		"--only lnes app.sym app":              {command.Misuse, `there is no check "lnes": ` + checks + end},
		"--require calls app.sym app":          {command.Misuse, `there is no check "calls": ` + checks + end},
		"--allow lines app.sym app":            {command.Misuse, `--allow "lines": want one of unverified, loss` + end},
		"--limit all app.sym app":              {command.Misuse, `--limit: "all" is not a number` + end},
		"--limit=-1 app.sym app":               {command.Misuse, "--limit -1: want 0 or more" + end},
		"--min-coverage lines app.sym app":     {command.Misuse, `--min-coverage "lines": ` + parts + end},
		"--min-coverage lines:101 app.sym app": {command.Misuse, `--min-coverage "lines:101": ` + parts + end},
		"--min-coverage line:90 app.sym app":   {command.Misuse, `--min-coverage "line:90": ` + parts + end},
		"--jobs all app.sym app":               {command.Misuse, `--jobs: "all" is not a number` + end},
		"--jobs=-1 app.sym app":                {command.Misuse, "--jobs -1: want a number of processors, or 0 for all" + end},
		"--timeout 5 app.sym app":              {command.Misuse, `--timeout: "5" is not a time, such as 90s or 30m` + end},
		"--timeout 0s app.sym app":             {command.Misuse, "--timeout 0s: want a time, such as 90s or 30m" + end},
		"--timeout 1ns app.sym app":            {command.Failed, "app.sym: not done after 1ns; give more time with --timeout"},
		"app.sym app --os":                     {command.Misuse, "--os: the value is missing" + end},
	}
	for kind, start := range testfile.Kinds {
		name := strings.ReplaceAll(kind, " ", "_")
		write(name, start)
		want := name + ": ELF header+0x0: not an ELF file: it is " + kind
		if !strings.Contains(kind, ", which ") {
			want += elf
		}
		tests["app.sym "+name] = programtest.Message{command.Failed, want}
		for _, args := range []string{"lint " + name, "diff app.sym " + name} {
			tests[args] = programtest.Message{command.Failed, name + ": not a symbol file: it is " + kind}
		}
	}
	tested.Messages(t, "symcheck: error: ", tests)
}
