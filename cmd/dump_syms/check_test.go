package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/check"
	"symkit/check/report"
	"symkit/elfx"
)

// TestCheckFixtures: the symbol file of each fixture, of every machine, is true, with the
// rules of SFrame and of ARM's exception index, too. One changed rule is found.
func TestCheckFixtures(t *testing.T) {
	cfa := regexp.MustCompile(`(?m)^(STACK CFI INIT \w+ \w+ \.cfa: \S+) (\d+)`)
	changed := 0
	for _, pattern := range []string{"testdata/elf/*.elf", "testdata/elf/*.so", "testdata/elf/*.o", "dump/testdata/sframe/*.so"} {
		paths, err := filepath.Glob("../../" + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			var stdout, stderr strings.Builder
			code := run(t.Context(), []string{"--inlines", "--check", path}, &stdout, &stderr)
			if code != 0 {
				t.Errorf("%s: exit code %d: %s", path, code, stderr.String())
				continue
			}

			// The CFA of the first rule is moved. A few files have no rules.
			at := cfa.FindStringSubmatchIndex(stdout.String())
			if at == nil {
				continue
			}
			sym := stdout.String()
			changed++
			offset, err := strconv.Atoi(sym[at[4]:at[5]])
			if err != nil {
				t.Fatal(err)
			}
			wrong := sym[:at[4]] + strconv.Itoa(offset+8) + sym[at[5]:]
			if !slices.ContainsFunc(findings(t, path, wrong), func(f report.Finding) bool { return f.Check == "cfi" }) {
				t.Errorf("%s: %q was not found to be wrong", path, sym[at[0]:at[1]])
			}
		}
	}
	if changed < 100 {
		t.Errorf("only %d files have a rule", changed)
	}
}

// TestCheckSignalFrames: an INFO SIGNAL_FRAME record that is missing, elsewhere or there twice.
func TestCheckSignalFrames(t *testing.T) {
	const record = "INFO SIGNAL_FRAME 103b 8\n"
	const path = "../../testdata/elf/asm-x86_64-gas-dw5.elf"
	code, sym, stderr := tested.Output(t, path)
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, test := range []struct{ name, instead, check, finding string }{
		{"missing", "", "signal-frames", "no INFO SIGNAL_FRAME for [0x103b, 0x1043)"},
		{"elsewhere", "INFO SIGNAL_FRAME 1030 8\n", "signal-frames", "[0x1030, 0x1038) is no signal frame"},
		{"twice", record + record, "duplicates", "INFO SIGNAL_FRAME for 0x103b is also on line "},
		{"damaged", "INFO SIGNAL_FRAME 103b\n", "signal-frames", "want an address and a size"},
	} {
		wrong := strings.Replace(sym, record, test.instead, 1)
		if wrong == sym {
			t.Fatalf("no %q in %s", record, sym)
		}
		list := findings(t, path, wrong)
		if !slices.ContainsFunc(list, func(f report.Finding) bool { return f.Check == test.check && strings.HasPrefix(f.What, test.finding) }) {
			t.Errorf("%s: %v", test.name, list)
		}
	}
}

// findings compares a symbol file with its program.
func findings(t *testing.T, path, sym string) []report.Finding {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rep, err := check.File(t.Context(), &elfx.Image{Main: f}, []byte(sym), check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rep.Findings
}
