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
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestMessages: the whole text of the messages about wrong arguments and files.
func TestMessages(t *testing.T) {
	core := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core")
	app := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.elf")
	t.Chdir(t.TempDir())
	write := func(name, content string) {
		programtest.Write(t, name, []byte(content))
	}
	for _, dir := range []string{"dir", "dumps"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	// Reading this file fails, even for the superuser.
	if err := os.Symlink("unreadable", "unreadable"); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"core": string(core), "half.core": string(core[:len(core)/2]), "headers.core": string(core[:300]), "app": string(app),
		"half.app": string(app[:len(app)/2]), "text": "text\n", "empty": "", "half.dmp": "MDMP\x93\xa7", "dumps/core": string(core),
		"app.sym":   "MODULE Linux x86_64 0123456789ABCDEF0 app\nPUBLIC 1000 0 f\n",
		"old.sym":   "MODULE Linux x86_64 0123456789ABCDEF0 crash\nPUBLIC 1000 0 f\n",
		"blank.sym": "MODULE Linux x86_64 0847E5D5E188F8BE72F06618D991C7E60 crash\n",
	}
	for name, content := range files {
		write(name, content)
	}

	const (
		neither = ": neither a minidump nor an ELF core file: it is "
		crash   = ": not used for /tmp/symkit-crash/crash: "
		end     = "; see stackwalk --help"
		dump    = "; give the path of a minidump, core file or tombstone"
		exe     = "; give the ELF file of the program that crashed"
		stores  = "; give a symbol store, a symbol file or the URL of a symbol server"
		perf    = "; give a perf map (lines of START SIZE NAME) or a jitdump file"
		partial = ": truncated: the dump is not complete; copy it again"
	)
	tests := map[string]programtest.Message{
		// The dump.
		"":             {command.Misuse, `error: expected "<dump> ..."; for example: stackwalk --symbols ./store crash.dmp` + end},
		"none":         {command.Failed, "error: none: no such file or directory" + dump},
		"unreadable":   {command.Failed, "error: unreadable: too many levels of symbolic links" + dump},
		"/dev/null":    {command.Failed, "error: /dev/null: not a regular file: it is a device" + dump},
		"dir":          {command.Misuse, "error: dir: is a directory, which stands for a symbol store; give a crash dump, too" + end},
		"text":         {command.Failed, "error: text" + neither + "a text file" + dump},
		"empty":        {command.Failed, "error: empty" + neither + "empty" + dump},
		"half.dmp":     {command.Failed, "error: half.dmp: minidump+0x4" + partial},
		"headers.core": {command.Failed, "error: headers.core: program headers+0xec" + partial},
		"app":          {command.Failed, "error: app: not a core file: it is a program or library; give the crash dump, and this file with --exe"},
		"app.sym":      {command.Failed, "error: app.sym" + neither + "a Breakpad symbol file; give the crash dump, and this file with --symbols"},
		"core app":     {command.Misuse, "error: several dumps: say where results go with --out" + end},
		"-s dir":       {command.Misuse, "error: no crash dump, only symbols; give a crash dump, too" + end},

		// Where symbols come from. A file that is not used is a warning.
		"gs://b/core":                   {command.Misuse, "error: gs://b/core: not an address that is known; give a path, or an address that begins with https:// or http:// or s3://" + end},
		"-o s3://b/x core":              {command.Misuse, "error: --output s3://b/x: is an address; give a path" + end},
		"--out gs://b core":             {command.Misuse, "error: --out gs://b: is an address; give a path" + end},
		"--minidump S3://b core":        {command.Misuse, "error: --minidump S3://b: is an address; give a path" + end},
		"--symbols htp://x core":        {command.Misuse, "error: --symbols htp://x: not an address that is known; give a path, or an address that begins with https:// or http:// or s3://" + end},
		"--symbols http:/x core":        {command.Misuse, "error: --symbols http:/x: not an address that is known; give a path, or an address that begins with https:// or http:// or s3://" + end},
		"--symbols ftp://a/b core":      {command.Misuse, "error: --symbols ftp://a/b: not an address that is known; give a path, or an address that begins with https:// or http:// or s3://" + end},
		"--symbols none core":           {command.Failed, "error: --symbols none: no such file or directory" + stores},
		"--symbols unreadable core":     {command.Failed, "error: --symbols unreadable: too many levels of symbolic links" + stores},
		"--symbols /dev/null core":      {command.Failed, "error: --symbols /dev/null: not a regular file" + stores},
		"-b --no-elf -s app core":       {0, "warning: app: not used: not a symbol file: it is an ELF program or library, which dump_syms reads"},
		"-b --no-elf -s core core":      {0, "warning: core: not used: not a symbol file: it is a core file, which stackwalk reads"},
		"-b --no-elf -s text core":      {0, "warning: text: not used: no MODULE record in its first line"},
		"-b --no-elf -s empty core":     {0, "warning: empty: not used: not a symbol file: it is empty"},
		"-b --no-elf -s app.sym core":   {0, "warning: app.sym: not used: the dump has no module of its name and id; -v lists the modules"},
		"-b --no-elf -s old.sym core":   {0, "warning: old.sym" + crash + "is of another build of the module: its MODULE record has 0123456789ABCDEF0, not 0847E5D5E188F8BE72F06618D991C7E60"},
		"-b --no-elf -s blank.sym core": {0, "warning: blank.sym" + crash + "has no symbols"},
		"--exe none core":               {command.Failed, "error: --exe none: no such file or directory" + exe},
		"--exe dir core":                {command.Failed, "error: --exe dir: not a regular file" + exe},
		"-b --exe text core":            {0, "warning: text" + crash + "ELF header+0x0: not an ELF file: it is a text file"},
		"-b --exe half.app core":        {0, "warning: half.app" + crash + "section headers+0x0: truncated: the file is not complete; copy it again"},
		"-b --exe core core":            {0, "warning: core" + crash + "build id differs: none, not d5e5470888e1bef872f06618d991c7e673af1d30"},
		"--debug-dir none core":         {command.Failed, "error: --debug-dir none: no such file or directory; give a directory"},
		"--debug-dir app core":          {command.Failed, "error: --debug-dir app: not a directory; give the directory that it is in"},
		"--sysroot none core":           {command.Failed, "error: --sysroot none: no such file or directory; give a directory"},
		"--sysroot text core":           {command.Failed, "error: --sysroot text: not a directory; give the directory that it is in"},
		"--perf-map none core":          {command.Failed, "error: --perf-map none: no such file or directory" + perf},
		"--perf-map dir core":           {command.Failed, "error: --perf-map dir: not a regular file: it is a directory" + perf},
		"--perf-map text core":          {command.Failed, "error: text: neither a perf map (lines of START SIZE NAME) nor a jitdump file"},

		// Outputs.
		"-o dir core":                 {command.Failed, "error: dir: it is a directory; give the path of a file"},
		"-o none/report core":         {command.Failed, "error: none/report: no such file or directory; create the directory first"},
		"-o text/report core":         {command.Failed, "error: text/report: text: not a directory; give a path in a directory"},
		"-o core core":                {command.Failed, "error: core: the output is the same file as the input core; give it another name"},
		"-o app -e app core":          {command.Failed, "error: app: the output is the same file as the input app; give it another name"},
		"--out text core":             {command.Failed, "error: --out text: not a directory; give a directory, which is made if there is none"},
		"--out dir -o report core":    {command.Misuse, "error: --out and --output exclude each other" + end},
		"--out dir none":              {command.Failed, "error: none: no such file or directory" + dump},
		"--out dir core dumps/core":   {command.Misuse, "error: core and dumps/core would have one result: core" + end},
		"--out dir --perf-map p core": {command.Misuse, "error: --perf-map is about one process: leave out --out" + end},

		// Values of flags.
		"--format xml core":     {command.Misuse, `error: --format must be one of "text","json","machine","html" but got "xml"` + end},
		"--thread main core":    {command.Misuse, `error: --thread: "main" is not a number` + end},
		"--thread 1 core":       {command.Failed, "error: core: no thread has the number 1; leave out --thread to see the numbers of all 1"},
		"-c -t 1 core":          {command.Misuse, "error: --crashing-only and --thread exclude each other" + end},
		"--max-frames all core": {command.Misuse, `error: --max-frames: "all" is not a number` + end},
		"--max-frames=-1 core":  {command.Misuse, "error: --max-frames -1: want a number of frames" + end},
		"--jobs all core":       {command.Misuse, `error: --jobs: "all" is not a number` + end},
		"--jobs=-1 core":        {command.Misuse, "error: --jobs -1: want a number of processors, or 0 for all" + end},
		"--symbol dir core":     {command.Misuse, `error: unknown flag --symbol, did you mean "--symbols"?` + end},
		"core --symbols":        {command.Misuse, "error: --symbols: the value is missing" + end},
	}
	for kind, start := range testfile.Kinds {
		name := strings.ReplaceAll(kind, " ", "_")
		write(name, start)
		if !strings.Contains(kind, "which stackwalk reads") {
			want := "error: " + name + neither + kind
			if !strings.Contains(kind, ", which ") {
				want += dump
			}
			tests[name] = programtest.Message{command.Failed, want}
		}
		if !strings.HasPrefix(start, "\x1f\x8b") { // symbol files can be packed
			tests["-b --no-elf -s "+name+" core"] = programtest.Message{0, "warning: " + name + ": not used: not a symbol file: it is " + kind}
		}
	}
	tested.Messages(t, "stackwalk: ", tests)
}

// TestInterruptedMessage: the message after a signal has the form of dump_syms's: without --out
// nothing was written, with --out the finished results are whole.
func TestInterruptedMessage(t *testing.T) {
	data := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core")
	core := filepath.Join(t.TempDir(), "core")
	programtest.Write(t, core, data)
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
