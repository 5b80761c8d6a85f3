package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestMessages compares the whole text of the messages about wrong arguments and
// files.
func TestMessages(t *testing.T) {
	app := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	machine, kind := bytes.Clone(app), bytes.Clone(app)
	machine[18], machine[19] = 0xff, 0xfe // e_machine (gABI, "ELF Header")
	kind[16] = 77                         // e_type
	files := map[string]string{
		"app": string(app), "text": "text\n", "crash.dmp": "MDMP\x93\xa7", "half": string(app[:len(app)/2]), "empty": "",
		"machine": string(machine), "type": string(kind), "list": "none\n", "long": strings.Repeat("x", 70_000),
	}
	for name, from := range map[string]string{
		"other": "lang-x86_64-gcc12-O2-dw5.elf", "stripped": "cxx-x86_64-gcc12-O2-dw5-stripped.elf",
		"app.debug": "cxx-x86_64-gcc12-O2-dw5-stripped.debug", "core": "crash-x86_64-gcc12-O2-dw5.core",
	} {
		data := programtest.Fixture(t, from)
		files[name] = string(data)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		programtest.Write(t, name, []byte(content))
	}

	const elf = "; give the path of an ELF program or library"
	tested.Messages(t, "dump_syms: error: ", map[string]programtest.Message{
		"":                               {command.Misuse, `expected "<path> ..."; for example: dump_syms ./app > app.sym; see dump_syms --help`},
		"--bogus":                        {command.Misuse, "unknown flag --bogus; see dump_syms --help"},
		"none":                           {command.Failed, "none: no such file or directory; give the path of an ELF program or library"},
		"crash.dmp":                      {command.Failed, "crash.dmp: ELF header+0x0: not an ELF file: it is a minidump, which stackwalk reads"},
		"text":                           {command.Failed, "text: ELF header+0x0: not an ELF file: it is a text file" + elf},
		"--debug-dir none app":           {command.Failed, "--debug-dir none: no such file or directory; give a directory"},
		"--debug-dir text app":           {command.Failed, "--debug-dir text: not a directory; give the directory that it is in"},
		"--sysroot none app":             {command.Failed, "--sysroot none: no such file or directory; give a directory"},
		"--dwo-dir text app":             {command.Failed, "--dwo-dir text: not a directory; give the directory that it is in"},
		"--store s --debug-dir none app": {command.Failed, "--debug-dir none: no such file or directory; give a directory"},

		// Files of another kind, or damaged.
		"half":                        {command.Failed, "half: section headers+0x0: truncated: the file is not complete; copy it again"},
		"empty":                       {command.Failed, "empty: ELF header+0x0: not an ELF file: it is empty" + elf},
		"dir":                         {command.Failed, "dir: is a directory; to dump all ELF files below it, give --store DIR and --recursive"},
		"core":                        {command.Failed, "core: no symbols to dump: it is a core file, which stackwalk reads; dump the programs that it names"},
		"machine":                     {command.Failed, "machine: ELF header+0x12: unsupported machine 65279 (ELFCLASS64)"},
		"type":                        {command.Failed, "type: no symbols to dump: the ELF type is 77, not that of a program, library or object; give one of these"},
		"app text":                    {command.Failed, "text: ELF header+0x0: not an ELF file: it is a text file" + elf},
		"app other":                   {command.Failed, "other: is another module than app; give --store DIR to dump several"},
		"stripped other":              {command.Failed, "other: is another module than stripped; give --store DIR to dump several"},
		"--check-cfi app.debug":       {command.Failed, "app.debug: no unwind rules: .eh_frame is in the binary, of which this is the debug file; give both"},
		"--member a.o app":            {command.Failed, "app: archive+0x0: not an ar archive or a zip file; leave out --member, or give an archive"},
		"--id 12 --store s app other": {command.Failed, "--id and --name are for one module, not for 2; leave them out, or give one file"},

		// Outputs and lists.
		"-o dir app":                   {command.Failed, "dir: it is a directory; give the path of a file"},
		"-o none/app.sym app":          {command.Failed, "none/app.sym: no such file or directory; create the directory first"},
		"-o app app":                   {command.Failed, "app: the output is the same file as the input app; give it another name"},
		"--store text app":             {command.Failed, "--store text: not a directory; give a directory"},
		"--files-from none --store s":  {command.Failed, "--files-from none: no such file or directory; give a file that lists paths, one per line"},
		"--files-from dir --store s":   {command.Failed, "--files-from dir: is a directory; give a file that lists paths, one per line"},
		"--files-from app --store s":   {command.Failed, "--files-from app: not a list of paths, one per line; if its paths end in NUL, give --null"},
		"--files-from long --store s":  {command.Failed, "--files-from long: not a list of paths: a line has more than 65,536 bytes; give a file that lists paths, one per line"},
		"--manifest dir --store s app": {command.Failed, "--manifest dir: is a directory; give the path of a file in a directory that exists"},
		"-o text/app.sym app":          {command.Failed, "text/app.sym: text: not a directory; give a path in a directory"},
		"--files-from empty --store s": {command.Failed, "--files-from empty: the list is empty; give a file that lists paths, one per line"},
		"--store s -R dir":             {command.Failed, "no ELF file below the directories given; give directories of programs, libraries or packages, or --allow-empty"},
		"--store s dir":                {command.Failed, "no file among the arguments; give --recursive to search the directories"},

		// Flags.
		"app -o":                       {command.Misuse, "--output: the value is missing; see dump_syms --help"},
		"--inline app":                 {command.Misuse, `unknown flag --inline, did you mean "--inlines"?; see dump_syms --help`},
		"-Q app":                       {command.Misuse, "unknown flag -Q; see dump_syms --help"},
		"--id xyz app":                 {command.Misuse, `--id "xyz": want hexadecimal digits; see dump_syms --help`},
		"--jobs x app":                 {command.Misuse, `--jobs: "x" is not a number; see dump_syms --help`},
		"--jobs=-1 app":                {command.Misuse, "--jobs -1: want a number of processors, or 0 for all; see dump_syms --help"},
		"--memory 1Q --store s app":    {command.Misuse, `--memory: want a number of bytes, such as 512M or 4G: "1Q"; see dump_syms --help`},
		"--sframe maybe app":           {command.Misuse, `--sframe must be one of "auto","only","off" but got "maybe"; see dump_syms --help`},
		"--compress rar --store s app": {command.Misuse, `--compress must be one of "none","gzip","zstd" but got "rar"; see dump_syms --help`},
		"--layout x --store s app":     {command.Misuse, `--layout must be one of "breakpad","unified","gdb" but got "x"; see dump_syms --help`},
		"--manifest m app":             {command.Misuse, "--manifest needs --store; see dump_syms --help"},
		"--recursive app":              {command.Misuse, "--recursive needs --store; see dump_syms --help"},
		"--allow-empty --store s dir":  {command.Failed, "no file among the arguments; give --recursive to search the directories"},
		"--allow-empty x":              {command.Misuse, "--allow-empty needs --store; see dump_syms --help"},
		"--store gs://b/p app":         {command.Misuse, "--store gs://b/p: not an address that is known; give a path, or an address that begins with s3:// or tecken+https:// or sentry+https:// or breakpad+https://; see dump_syms --help"},
		"--store az://b app":           {command.Misuse, "--store az://b: not an address that is known; give a path, or an address that begins with s3:// or tecken+https:// or sentry+https:// or breakpad+https://; see dump_syms --help"},
		"-s https://h/p?t=secret app":  {command.Misuse, "--store https://h/p?t=xxxxx: not an address that is known; give a path, or an address that begins with s3:// or tecken+https:// or sentry+https:// or breakpad+https://; see dump_syms --help"},
		"-s s3:/b app":                 {command.Misuse, "--store s3:/b: not an address that is known; give a path, or an address that begins with s3:// or tecken+https:// or sentry+https:// or breakpad+https://; see dump_syms --help"},
		"-s S3://b app":                {command.Misuse, "--store S3://b: not an address that is known; give a path, or an address that begins with s3:// or tecken+https:// or sentry+https:// or breakpad+https://; see dump_syms --help"},
		"-s s gs://b/x.deb":            {command.Misuse, "gs://b/x.deb: not an address that is known; give a path, or an address that begins with https:// or http:// or s3://; see dump_syms --help"},
		"-s s --files-from HTTPS://b":  {command.Misuse, "--files-from HTTPS://b: not an address that is known; give a path, or an address that begins with https:// or http:// or s3://; see dump_syms --help"},
		"-s s --manifest s3://b/m app": {command.Misuse, "--manifest s3://b/m: is an address; give a path; see dump_syms --help"},
		"-s s --report gs://b/r app":   {command.Misuse, "--report gs://b/r: is an address; give a path; see dump_syms --help"},
		"-s s --done https://b/d app":  {command.Misuse, "--done https://b/d: is an address; give a path; see dump_syms --help"},
		"-o https://b/o app":           {command.Misuse, "--output https://b/o: is an address; give a path; see dump_syms --help"},
		"s3://b/app":                   {command.Misuse, "s3://b/app: is an address; give a path; see dump_syms --help"},
		"--null --store s app":         {command.Misuse, "--null needs --files-from; see dump_syms --help"},
		"--extra-info k app":           {command.Misuse, `--extra-info "k": want a key of capital letters, a space, and text on one line; see dump_syms --help`},
		"--path-map ab app":            {command.Misuse, `--path-map: unusable path mapping: "ab": want FROM=TO`},
		"--mapping-src x app":          {command.Misuse, "1 --mapping-src and 0 --mapping-dest: give as many of each; the first of one belongs to the first of the other"},
		"--mapping-var x app":          {command.Misuse, `--mapping-var "x": want VAR=VALUE`},
		"--mapping-file dir app":       {command.Misuse, "--mapping-file dir: is a directory; give a JSON file of rules"},
		"--mapping-file none app":      {command.Misuse, "--mapping-file none: no such file or directory; give a JSON file of rules"},
	})
	if list, err := os.ReadDir("."); err != nil || slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.Contains(e.Name(), ":") }) {
		t.Errorf("%v, %v: an address became a file", list, err)
	}
	for kind, start := range testfile.Kinds {
		programtest.Write(t, "kind", []byte(start))
		want := kind
		if !strings.Contains(kind, ", which ") {
			want += elf
		}
		tested.Messages(t, "dump_syms: error: kind: ELF header+0x0: not an ELF file: it is ", map[string]programtest.Message{"kind": {command.Failed, want}})
	}
	t.Setenv("SYMKIT_LIMITS", "outptu=1")
	tested.Messages(t, "dump_syms: error: SYMKIT_LIMITS: ", map[string]programtest.Message{
		"app": {command.Misuse, `"outptu=1": there is no limit "outptu"; did you mean "output"?`},
	})
}
