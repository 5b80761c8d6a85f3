//go:build oracle

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"symkit/test/testfile"
)

// The tests of this file call Breakpad's and Mozilla's dump_syms and ours with the same lines.
// docs/differences.md lists, with reasons, the lines with another outcome. What differs in the
// records of a module is compared in test/oracle/peers.

// breakpadLines are lines of Breakpad's dump_syms: each flag, places of the debug file, and misuse.
var breakpadLines = []string{
	"app", "-i app", "-a app", "-c app", "-d app", "-r app", "-v app", "-m app", "-b 0123ABCD app", "-n name.so app", "-o Android app",
	"-c -d -m -r -v -a -n x -o Fuchsia app", "app dbg", "stripped", "stripped dbg", "stripped empty dbg", "-i stripped", "-i stripped dbg",
	"-i -i app", "-n a -n b app", "-d -c stripped dbg", "-a -b 12 -o Linux stripped dbg",
	"", "-h", "--help", "-x app", "-b", "-n", "-o", "-i", "none", "text", "-i none", "-i text", "stripped none", "-",
	"empty", "-b xyz app", "-o Plan9 app", "app -i", "app text", "-dm app", "-- app",
}

// mozillaLines are lines of Mozilla's dump_syms: each flag of its --help, and misuse.
var mozillaLines = []string{
	"app", "--inlines app", "app --inlines", "--no-generator app", "--check-cfi app", "--check-cfi stripped", "-- app",
	"--verbose off app", "--verbose error app", "--verbose warn app", "--verbose info app", "--verbose debug app", "--verbose=trace app",
	"-a x86_64 app", "--arch x86_64 app", "-a arm64 app", "-t elf app", "--type x app", "-j 2 app", "-j2 app",
	"-o out.sym app", "--output=out.sym app", "-o - app", "-s store app", "--store store app", "--store=store -o out.sym app",
	"--extra-info VERSION~1 app", "--mapping-var rev=1 --mapping-src /symkit/(.*) --mapping-dest git:{rev}:{1} app", "--symbol-server SRV*x*http://127.0.0.1:1 app",
	"--mapping-src /symkit/(.*) --mapping-dest {1} app",
	"stripped dbg/app.debug", "dbg/app.debug stripped", "--inlines stripped dbg/app.debug", "stripped", "text", "-h", "--help", "-V", "--version", "-a vax app",
	"--list-arch app", "--debug-id 0 app", "--code-id 0 app", "", "--bogus app", "--inline app", "-o", "none", "empty",
	"--verbose loud app", "-j x app", "--extra-info A app", "--mapping-src /symkit/(.*) app", "--mapping-var rev app", "--mapping-file none app",
	"-o out.sym -o out2.sym app", "--inlines --inlines app", "--inlines=1 app", "-i app",
}

// peerFiles makes the files that the lines name.
func peerFiles(t *testing.T) {
	t.Helper()
	app, err := os.ReadFile("../../testdata/elf/cxx-x86_64-gcc12-O2-dw4.elf")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, dir := range []string{"dbg", "empty"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{"app": app, "text": []byte("text\n")} {
		if err := os.WriteFile(name, data, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"--only-keep-debug app dbg/app.debug", "--strip-debug --add-gnu-debuglink=dbg/app.debug app stripped"} {
		out, err := exec.Command("objcopy", strings.Fields(line)...).CombinedOutput()
		if err != nil {
			t.Fatalf("objcopy %s: %v\n%s", line, err, out)
		}
	}
}

// outcome is what one line did.
type outcome struct {
	code   int
	head   string // the records MODULE and INFO CODE_ID
	kinds  string // the kinds of records, or "text"
	files  string // that were written
	funcs  int
	stderr bool
}

var marked = regexp.MustCompile(`^(FUNC|PUBLIC) m `)

// summarize reads what a line wrote to standard output or to files, and removes these files. marks
// says that FUNC m and PUBLIC m are kinds of their own.
func summarize(t *testing.T, marks bool, code int, stdout, stderr string) outcome {
	t.Helper()
	o := outcome{code: code, stderr: stderr != ""}
	var files []string
	for _, name := range []string{"out.sym", "out2.sym", "store"} {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			data, err := os.ReadFile(path)
			files, stdout = append(files, path), stdout+string(data)
			return err
		})
		if err == nil {
			err = os.RemoveAll(name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	o.files = strings.Join(files, " ")

	var kinds []string
	for line := range strings.Lines(stdout) {
		words := append(strings.Fields(line), "")
		kind := "line"
		switch {
		case !strings.HasPrefix(stdout, "MODULE "):
			kind = "text"
		case words[0] == "STACK":
			kind = "STACK CFI"
		case words[0] == "INFO":
			kind = "INFO " + words[1]
		case marks && marked.MatchString(line):
			kind = words[0] + " m"
		case words[0] >= "A" && words[0] <= "Z~":
			kind = words[0]
		}
		if kind == "MODULE" || kind == "INFO CODE_ID" {
			o.head += strings.TrimSpace(line) + " "
		}
		if words[0] == "FUNC" {
			o.funcs++
		}
		// Each program names itself, and only ours has the sizes of PUBLIC records (docs/format.md).
		if kind != "INFO GENERATOR" && kind != "INFO PUBLIC_SIZES" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	o.kinds = strings.Join(kinds, ", ")
	return o
}

// comparePrograms calls a peer and ours with each line. It returns the differences. Mozilla's
// program has no flag for the mark m; it marks functions in one run and not in the next.
func comparePrograms(t *testing.T, peer string, lines []string) (diffs []string) {
	t.Helper()
	program := filepath.Join(os.Getenv("SYMKIT_PEERS"), peer)
	if _, err := os.Stat(program); err != nil {
		why, err := os.ReadFile(filepath.Join(os.Getenv("SYMKIT_PEERS"), "SKIPPED"))
		if err != nil {
			t.Fatalf("run scripts/peers.sh, and set SYMKIT_PEERS to where it puts programs: %v", err)
		}
		t.Skipf("%s", why)
	}

	peerFiles(t)
	same, marks := 0, peer != "mozilla-dump_syms"
	for _, line := range lines {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ") // a space inside of an argument
		}
		var stdout, stderr bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		cancel()
		if _, ok := err.(*exec.ExitError); err != nil && !ok {
			t.Fatal(err)
		}
		want := summarize(t, marks, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String())
		stdout.Reset()
		stderr.Reset()
		code := run(t.Context(), args, &stdout, &stderr)
		got := summarize(t, marks, code, stdout.String(), stderr.String())

		// A failure says why, whatever the other program does.
		if got.code != 0 && !got.stderr {
			t.Errorf("%q: exit code %d, and no message", line, got.code)
		}
		var what []string
		note := func(name string, got, want any) {
			if got != want {
				what = append(what, fmt.Sprintf("%s %v, not %v", name, got, want))
			}
		}
		note("exit code", got.code, want.code)
		if got.code == 0 && want.code == 0 {
			note("MODULE and CODE_ID", cmp.Or(got.head, "none"), cmp.Or(want.head, "none"))
			note("records", cmp.Or(got.kinds, "none"), want.kinds)
			note("files", got.files, want.files)
			note("functions", got.funcs, want.funcs)
		}
		if len(what) == 0 {
			same++
			continue
		}
		diffs = append(diffs, fmt.Sprintf("%q: %s", line, strings.Join(what, "; ")))
	}
	t.Logf("%d of %d lines have the same outcome", same, len(lines))
	return diffs
}

// TestOraclePeerBreakpadLines: Breakpad's dump_syms. Its help has no flag that ours does not take.
func TestOraclePeerBreakpadLines(t *testing.T) {
	document, err := filepath.Abs("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	testfile.Documented(t, document, "peer-dump_syms-breakpad", comparePrograms(t, "breakpad-dump_syms", breakpadLines))
}

// TestOraclePeerMozillaLines: Mozilla's dump_syms. Every flag of its help is in a line above.
func TestOraclePeerMozillaLines(t *testing.T) {
	document, err := filepath.Abs("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	testfile.Documented(t, document, "peer-dump_syms-mozilla", comparePrograms(t, "mozilla-dump_syms", mozillaLines))

	help, err := exec.Command(filepath.Join(os.Getenv("SYMKIT_PEERS"), "mozilla-dump_syms"), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := " " + strings.NewReplacer("=", " ").Replace(strings.Join(mozillaLines, " "))
	flags := regexp.MustCompile(`(?m)^ +(?:(-[a-zA-Z]),? )? *(--[a-z-]+)?`).FindAllStringSubmatch(string(help), -1)
	if len(flags) < 15 {
		t.Fatalf("%q", flags)
	}
	for _, flag := range flags {
		if long := flag[2]; long != "" && !strings.Contains(all, " "+long) {
			t.Errorf("no line has %s", long)
		}
	}
}
