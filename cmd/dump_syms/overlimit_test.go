package main

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/test/mutant"
	"symkit/test/programtest"
)

// overLimit is a program of which some is above a limit.
type overLimit struct {
	limit string
	most  int // the limit
	what  string
	file  []byte
	// lost is how many parts are lost, first the place of the first.
	lost  int
	first string
	// want is how many lines of the symbol file begin with a regular expression.
	want map[string]int
}

// TestOverLimit: what does not fit a limit is lost, with one message that names the limit, and the
// rest is written, whatever the number of goroutines.
func TestOverLimit(t *testing.T) {
	for _, test := range overLimits() {
		t.Run(fmt.Sprint(test.limit, ", ", test.what), func(t *testing.T) {
			t.Setenv(limits.Variable, fmt.Sprint(test.limit, "=", test.most))
			defer setLimits(t, test.limit+"=100%")
			path := filepath.Join(t.TempDir(), "program")
			programtest.Write(t, path, test.file)
			outputs := map[string]bool{}
			for _, jobs := range []string{"1", "2", "8"} {
				var stdout, stderr bytes.Buffer
				code := run(t.Context(), []string{"--inlines", "-j", jobs, path}, &stdout, &stderr)
				outputs[stdout.String()+stderr.String()] = true
				checkOverLimit(t, &test, code, stdout.String(), stderr.String())
			}
			if len(outputs) != 1 {
				t.Errorf("the output depends on -j: %.2000v", outputs)
			}

			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), []string{"--inlines", "--strict", path}, &stdout, &stderr); code != command.Bad {
				t.Errorf("--strict: exit code %d: %s", code, &stderr)
			}
		})
	}
}

// checkOverLimit checks what a run gave.
func checkOverLimit(t *testing.T, test *overLimit, code int, stdout, stderr string) {
	t.Helper()
	message := limits.Limits{}.With(test.limit, uint64(test.most)).Exceeded(test.limit, 0).Error()
	parts := fmt.Sprintf("warning: %d damaged part", test.lost)
	if code != 0 || !strings.Contains(stderr, test.first) || !strings.Contains(stderr, message) || !strings.Contains(stderr, parts) {
		t.Errorf("exit code %d, %q; want %q, %q, %q", code, stderr, test.first, message, parts)
	}
	for line, want := range test.want {
		if got := len(regexp.MustCompile("(?m)^"+line).FindAllString(stdout, -1)); got != want {
			t.Errorf("%d lines %q, want %d: %.1000s", got, line, want, stdout)
		}
	}
}

// overLimits returns the programs of TestOverLimit.
func overLimits() []overLimit {
	long := strings.Repeat("n", 3000)
	return []overLimit{
		{limitof.Names, 2000, "the first of three units", named(long, "b", "c"), 1, ".debug_info+0x0",
			map[string]int{"FUNC ": 2, "FUNC 1010 10 0 b$": 1, "FUNC 1020 10 0 c$": 1}},
		{limitof.Names, 2000, "the first of three units, compressed", namedPacked(long, "b", "c"), 1, ".debug_info+0x0",
			map[string]int{"FUNC ": 2, "FUNC 1010 10 0 b$": 1, "FUNC 1020 10 0 c$": 1}},
		{limitof.Names, 2000, "the last of three units", named("a", "b", long), 1, ".debug_info+0x46",
			map[string]int{"FUNC ": 2, "FUNC 1000 10 0 a$": 1, "FUNC 1010 10 0 b$": 1}},

		// A name counts once. A lost unit counts for half of what was left, 1,990 bytes.
		{limitof.Names, 2000, "a name of several units", named("name of ten", long, "name of ten", long[:900], long[:700], "c", "c"), 2, ".debug_info+0x2d",
			map[string]int{"FUNC ": 5, "FUNC .* name of ten$": 2, "FUNC .* n{900}$": 1, "FUNC .* c$": 2}},

		{limitof.UnitRecords, 24_000, "abbreviations of the second of four units", withAbbrevs(8, 500, 9, 10), 1, "abbreviations of the unit at .debug_info+0x24: .debug_abbrev+0x",
			map[string]int{"FUNC ": 3, "FUNC .* f0$": 1, "FUNC .* f2$": 1, "FUNC .* f3$": 1}},
		{limitof.UnitRecords, 24_000, "abbreviations of the first and the last unit", withAbbrevs(500, 8, 400), 2, "abbreviations of the unit at .debug_info+0x0: .debug_abbrev+0x",
			map[string]int{"FUNC ": 1, "FUNC .* f1$": 1}},

		// A name counts for 160 bytes besides its own.
		{limitof.Files, 2000, "the second of three line tables", inFiles("/a", "/"+long, "/c"), 1, ".debug_line+0x",
			map[string]int{"FUNC ": 3, "FILE ": 2, "FILE 0 /a$": 1, "FILE 1 /c$": 1, `1000 10 1 0$`: 1, `1020 10 1 1$`: 1, `1010 `: 0}},

		// The largest tables are read first: they leave 2,000 and then 1,000 bytes.
		{limitof.Files, 4000, "one file of several line tables", inFiles("/a", "/"+long+long, "/a", "/"+long+long[:600], "/"+long[:300], "/a"), 2, ".debug_line+0x",
			map[string]int{"FUNC ": 6, "FILE ": 2, "FILE 0 /a$": 1, "FILE 1 /n{300}$": 1, `10[025]0 10 1 0$`: 3, `1040 10 1 1$`: 1, `10[13]0 `: 0}},
	}
}

// withAbbrevs has units with a function each, whose abbreviation tables have so many abbreviations.
func withAbbrevs(counts ...int) []byte {
	var info, abbrevs []byte
	for i, n := range counts {
		at := len(abbrevs)
		abbrevs = append(abbrevs, commonAbbrevs...)
		for k := abBlock + 1; k <= n; k++ {
			abbrevs = append(abbrevs, abbrev(uint64(k), tagBlock, 0, attrUser+uint64(i), formPresent, attrUser+0x1000+uint64(k), formData1)...)
		}
		abbrevs = append(abbrevs, 0)
		info = append(info, unitOf(languageC, at, function(abFunc, fmt.Sprint("f", i), 16*i, 16))...)
	}
	return assemble(16*len(counts), info, abbrevs)
}

// inFiles has units with a function each, with a line of the file that the unit's line program has.
func inFiles(names ...string) []byte {
	var info, lines []byte
	for i, name := range names {
		unit := unitOf(languageC, 0, function(abFunc, fmt.Sprint("f", i), 16*i, 16))
		le.PutUint32(unit[unitHeader+1+1+2:], uint32(len(lines)))
		info = append(info, unit...)
		code := append(le.AppendUint64([]byte{0, 9, 2}, mutant.TextAddr+uint64(16*i)), 1, 2, 16, 0, 1, 1)
		lines = append(lines, lineProgram([]byte("\x00"+name+"\x00\x00\x00\x00\x00"), code)...)
	}
	return assemble(16*len(names), info, commonAbbrevs, mutant.Section{Name: ".debug_line", Data: lines})
}

// named has units with a function each.
func named(names ...string) []byte {
	return assemble(16*len(names), namedUnits(names...), commonAbbrevs)
}

// namedPacked is named with a compressed .debug_info, which is read in segments.
func namedPacked(names ...string) []byte {
	var b bytes.Buffer
	info := namedUnits(names...)
	b.Write(le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, uint64(elf.COMPRESS_ZLIB)), uint64(len(info))), 1))
	w := zlib.NewWriter(&b)
	_, _ = w.Write(info) // a bytes.Buffer never fails
	_ = w.Close()
	return mutant.Program(16*len(names), lineless(), mutant.Section{Name: ".debug_info", Flags: elf.SHF_COMPRESSED, Data: b.Bytes()},
		mutant.Section{Name: ".debug_abbrev", Data: append(bytes.Clone(commonAbbrevs), 0)})
}

func namedUnits(names ...string) (info []byte) {
	for i, name := range names {
		info = append(info, unitOf(languageC, 0, function(abFunc, name, 16*i, 16))...)
	}
	return info
}
