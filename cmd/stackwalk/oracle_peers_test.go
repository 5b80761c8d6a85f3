//go:build oracle

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"symkit/internal/printable"
)

// The tests of this file run Breakpad's and rust-minidump's programs (scripts/peers.sh) and
// stackwalk under their names, on all dumps that both projects test with. docs/differences.md lists, with reasons, in what lines a report differs.

// peer returns the path of a program. The test is skipped if the program is not there.
func peer(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("SYMKIT_PEERS")
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	why, err := os.ReadFile(filepath.Join(dir, "SKIPPED"))
	if err != nil {
		t.Fatalf("run scripts/peers.sh, and set SYMKIT_PEERS to where it puts programs: %v", err)
	}
	t.Skipf("%s", why)
	return ""
}

// peerRun runs a program of another project.
func peerRun(t *testing.T, path string, args ...string) (code int, stdout string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %q did not end", path, args)
	}
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// peerDumps are the dumps of both projects, or their microdumps.
func peerDumps(t *testing.T, micro bool) (paths, stores []string) {
	t.Helper()
	breakpad := filepath.Join(crashdumps(t, "breakpad"), "src", "processor", "testdata")
	rust := filepath.Join(crashdumps(t, "rust-minidump"), "testdata")
	for _, dir := range []string{breakpad, rust} {
		found, err := filepath.Glob(filepath.Join(dir, "*.dmp"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return strings.Contains(path, "microdump-") != micro })
	return paths, []string{filepath.Join(breakpad, "symbols"), filepath.Join(rust, "symbols"), filepath.Join(breakpad, "symbols", "microdump")}
}

// frameNumber is the number that a frame begins with in the texts of both projects, or the
// numbers of the thread and the frame in the machine-readable form.
var frameNumber = regexp.MustCompile(`^( ?\d+  |\d+\|\d+\|)`)

// lineDiffs counts the lines that only one of two texts has. The numbers of frames do not
// count.
func lineDiffs(theirs, ours string) (lost, gained int) {
	have := map[string]int{}
	for line := range strings.Lines(theirs) {
		have[frameNumber.ReplaceAllString(line, "")]++
	}
	for line := range strings.Lines(ours) {
		have[frameNumber.ReplaceAllString(line, "")]--
	}
	for _, n := range have {
		lost, gained = lost+max(n, 0), gained+max(-n, 0)
	}
	return lost, gained
}

// compareTexts compares the output of a peer for each set of flags. It returns a line for
// each dump whose report differs.
func compareTexts(t *testing.T, name string, micro bool, flags []string, hangs map[string]string) (diffs []string) {
	program := peer(t, name)
	paths, stores := peerDumps(t, micro)
	same := 0
	for _, path := range paths {
		var differs []string
		for _, flag := range flags {
			if hangs[flag] == filepath.Base(path) {
				continue
			}
			args := slices.Concat(strings.Fields(flag), []string{path}, stores)
			wantCode, want := peerRun(t, program, args...)
			code, got, stderr := called(t, name, args...)
			if code != wantCode {
				t.Errorf("%s %s %s: exit code %d, want %d: %s", name, flag, filepath.Base(path), code, wantCode, stderr)
			}
			if got == want {
				same++
				continue
			}
			lost, gained := lineDiffs(want, got)
			differs = append(differs, fmt.Sprintf("%s -%d +%d", flag, lost, gained))
		}
		if len(differs) > 0 {
			diffs = append(diffs, filepath.Base(path)+": "+strings.Join(differs, ", "))
		}
	}
	t.Logf("%d of %d reports are equal, byte for byte", same, len(paths)*len(flags))
	return diffs
}

// TestOraclePeerBreakpad: minidump_stackwalk, all formats. Breakpad's program writes memory
// without an end for one dump.
func TestOraclePeerBreakpad(t *testing.T) {
	flags := []string{"-f human", "-f machine", "-b", "-c", "-t 1", "-s", "-d -c"}
	hangs := map[string]string{"-s": "pipeline-inlines-macos-segv.dmp"}
	documented(t, "peer-breakpad", compareTexts(t, "minidump_stackwalk", false, flags, hangs))
}

// TestOraclePeerMicrodump: microdump_stackwalk, all formats.
func TestOraclePeerMicrodump(t *testing.T) {
	documented(t, "peer-microdump", compareTexts(t, "microdump_stackwalk", true, []string{"", "-m", "-s"}, nil))
}

// TestOraclePeerRustText: minidump-stackwalk's reports for people.
func TestOraclePeerRustText(t *testing.T) {
	documented(t, "peer-rust-text", compareTexts(t, "minidump-stackwalk", false, []string{"--human", "--brief", "--recover-function-args"}, nil))
}

// TestOraclePeerDump: minidump-stackwalk --dump, with and without --brief, byte for byte on all
// dumps, and on those of package rawdump, which have every kind of stream. What rust-minidump does
// not escape counts as its escape. It panics at contexts of PowerPC and SPARC.
func TestOraclePeerDump(t *testing.T) {
	program := peer(t, "minidump-stackwalk")
	paths, _ := peerDumps(t, false)
	own, err := filepath.Glob("../../walk/peers/rawdump/testdata/*.dmp")
	if err != nil || len(own) < 9 {
		t.Fatal(own, err)
	}
	const panicked = 101
	same, escaped := 0, 0
	for _, path := range append(paths, own...) {
		for _, flags := range [][]string{{"--dump"}, {"--dump", "--brief"}} {
			args := append(flags, path)
			wantCode, want := peerRun(t, program, args...)
			code, got, stderr := called(t, "minidump-stackwalk", args...)
			switch {
			case wantCode == panicked:
				if name := filepath.Base(path); !strings.HasPrefix(name, "ppc") && !strings.HasPrefix(name, "sparc") || code != 0 || !strings.HasPrefix(got, want) {
					t.Errorf("%q: rust-minidump panics; here %d, %s", args, code, stderr)
				}
				continue
			case code != wantCode:
				t.Errorf("%q: exit code %d, want %d: %s", args, code, wantCode, stderr)
			case got == want:
				same++
				continue
			}

			var safe bytes.Buffer
			if _, err := (&printable.Writer{W: &safe}).Write([]byte(want)); err != nil {
				t.Fatal(err)
			}
			if lost, gained := lineDiffs(safe.String(), got); lost+gained > 0 && !onlyEscapes(safe.String(), got) {
				t.Errorf("%q: -%d +%d", args, lost, gained)
			}
			escaped++
		}
	}
	t.Logf("%d texts are equal, byte for byte; %d but for control characters", same, escaped)
}

// onlyEscapes reports whether two texts are the same but for lines with an escaped character or
// a replacement character.
func onlyEscapes(a, b string) bool {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(la), len(lb)) {
		if la[i] != lb[i] && !strings.Contains(lb[i], `\x`) {
			return false
		}
	}
	return len(la) == len(lb)
}

// TestOraclePeerArguments: the arguments that --recover-function-args shows are
// rust-minidump's. No dump of the projects has symbols of C++ functions on x86, so the
// symbols of one get such names.
func TestOraclePeerArguments(t *testing.T) {
	program := peer(t, "minidump-stackwalk")
	dump, store := filepath.Join(dumps, "minidump2.dmp"), t.TempDir()
	err := os.CopyFS(store, os.DirFS(filepath.Join(breakpad, "symbols")))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym", "kernel32.pdb/BCE8785C57B44245A669896B6A19B9542/kernel32.sym"} {
		path = filepath.Join(store, filepath.FromSlash(path))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		text = regexp.MustCompile(`(?m)^((?:FUNC \S+ \S+|PUBLIC \S+) \S+ )(.*?)\r?$`).ReplaceAllFunc(text, func(line []byte) []byte {
			n++
			head, name, _ := bytes.Cut(line, []byte(" 0 "))
			if len(name) == 0 {
				return line
			}
			return fmt.Appendf(nil, "%s 0 %s%s(int, std::map<A, B<C> >, void (*)(D, E))", head, []string{"", "Class::"}[n%2], bytes.TrimSpace(name))
		})
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}

	arguments := regexp.MustCompile(`(?m)^    (Arguments|    arg ).*$`)
	_, want := peerRun(t, program, "--recover-function-args", dump, store)
	_, got, _ := called(t, "minidump-stackwalk", "--recover-function-args", dump, store)
	theirs, ours := arguments.FindAllString(want, -1), arguments.FindAllString(got, -1)
	if len(theirs) < 5 || !slices.Equal(theirs, ours) {
		t.Errorf("%s\nwant\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
}

// TestOraclePeerRustJSON: minidump-stackwalk's JSON, value for value; with annotations, too.
func TestOraclePeerRustJSON(t *testing.T) {
	program := peer(t, "minidump-stackwalk")
	paths, stores := peerDumps(t, false)
	evil := filepath.Join(t.TempDir(), "evil.json")
	annotations := `{"ModuleSignatureInfo": "{\"Mozilla\": [\"test_app.exe\", \"ntdll.dll\"]}", "CPUMicrocodeVersion": "0x1f"}`
	if err := os.WriteFile(evil, []byte(annotations), 0o666); err != nil {
		t.Fatal(err)
	}

	var diffs []string
	compared := 0
	for _, path := range paths {
		args := slices.Concat([]string{"--json", "--evil-json=" + evil, path}, stores)
		wantCode, want := peerRun(t, program, args...)
		code, got, stderr := called(t, "minidump-stackwalk", args...)
		if code != wantCode {
			t.Errorf("%s: exit code %d, want %d: %s", filepath.Base(path), code, wantCode, stderr)
		}
		if wantCode != 0 {
			continue
		}
		compared++
		var ours, theirs any
		if err := json.Unmarshal([]byte(got), &ours); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want), &theirs); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		jsonDiffs(theirs, ours, "", counts)
		if len(counts) > 0 {
			var parts []string
			for _, path := range slices.Sorted(maps.Keys(counts)) {
				parts = append(parts, fmt.Sprintf("%s %d", path, counts[path]))
			}
			diffs = append(diffs, filepath.Base(path)+": "+strings.Join(parts, ", "))
		}
	}
	t.Logf("%d of %d results are equal, value for value", compared-len(diffs), compared)
	documented(t, "peer-rust-json", diffs)
}

// jsonDiffs counts differences by the path of the value. Frames count as a whole.
func jsonDiffs(theirs, ours any, path string, counts map[string]int) {
	a, okA := theirs.(map[string]any)
	b, okB := ours.(map[string]any)
	listA, areA := theirs.([]any)
	listB, areB := ours.([]any)
	switch {
	case okA && okB:
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		for key := range keys {
			if key == "frame_count" { // the frames themselves are compared
				continue
			}
			x, has := a[key]
			y, have := b[key]
			if has != have {
				counts[path+"."+key]++
				continue
			}
			jsonDiffs(x, y, path+"."+key, counts)
		}
	case areA && areB && strings.HasSuffix(path, ".frames"):
		if !reflect.DeepEqual(listA, listB) {
			counts[path]++
		}
	case areA && areB && len(listA) == len(listB):
		for i := range listA {
			jsonDiffs(listA[i], listB[i], path, counts)
		}
	case !reflect.DeepEqual(theirs, ours):
		counts[path]++
	}
}

// TestOraclePeerMisuse: exit codes for wrong command lines, and of --help. Our help names
// every flag that theirs names.
func TestOraclePeerMisuse(t *testing.T) {
	dump := filepath.Join(dumps, "minidump2.dmp")
	for name, lines := range map[string][]string{
		"minidump_stackwalk":  {"", "-h", "-x", "-f", "-f xml a", "-c -t 1 a", "-t1 -c a", "none", "-t 99 " + dump, "-m " + dump + " none", "-- " + dump, dump + " -b"},
		"microdump_stackwalk": {"", "-h", "-b x", "-m"},
		"minidump-stackwalk": {"", "--bogus", "--json --human x", "--json --json x", "--verbose=loud x", "--features=x y", "--json", "--output-file",
			"--symbols-download-timeout-secs=x y", "--json=3 x", "none", "--pretty " + dump, "--json --brief " + dump, "--help", "-h", "-V", "--version",
			"--help-markdown", "--help-markdown x", "--log-file=/none/x " + dump, "--output-file=/none/x " + dump, "--cyborg=/none/x " + dump,
			"--json " + dump + " none", "--features unstable-all --json --no-color --no-interactive --recover-function-args " + dump,
			"--symbols-path none --symbols-path none2 --brief " + dump, "--verbose off none", "-- " + dump},
	} {
		program := peer(t, name)
		for _, line := range lines {
			wantCode, want := peerRun(t, program, strings.Fields(line)...)
			code, got, _ := called(t, name, strings.Fields(line)...)
			if code != wantCode || (got == "") != (want == "") {
				t.Errorf("%s %s: exit code %d, want %d; output of %d bytes, want %d", name, line, code, wantCode, len(got), len(want))
			}
		}
		flag := regexp.MustCompile(`(?m)^ +(?:(-[a-zA-Z])\b|(--[a-z-]+))`)
		_, want := peerRun(t, program, "-h")
		_, got, _ := called(t, name, "-h")
		for _, m := range flag.FindAllStringSubmatch(want, -1) {
			if name := m[1] + m[2]; !strings.Contains(got, name) {
				t.Errorf("the help has no %s", name)
			}
		}
	}
}
