//go:build oracle

package check

import (
	"bufio"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/elfx"
)

// TestSFrameTools verifies objects and programs of all assemblers and linkers, which
// scripts/fixtures-sframe.sh has built beside the tools (SYMKIT_SFRAME_TOOLS). What linkers make of the
// sections of assemblers is the table of docs/sframe.md: the test writes it anew if it differs, and fails.
// Objects, and files of one assembler and GNU ld of its release, have no finding.
func TestSFrameTools(t *testing.T) {
	work := filepath.Join(os.Getenv("SYMKIT_SFRAME_TOOLS"), "..")
	paths, err := filepath.Glob(filepath.Join(work, "programs", "*"))
	if err != nil || len(paths) < 80 {
		t.Fatalf("SYMKIT_SFRAME_TOOLS must name the bin folder of scripts/fixtures-sframe.sh: %d programs, %v", len(paths), err)
	}
	found := map[[2]string]map[string]bool{} // by linker and assembler
	files, clean := 0, 0
	for _, path := range paths {
		linker, rest, _ := strings.Cut(filepath.Base(path), "-")
		assembler, _, _ := strings.Cut(rest, "-")
		verdict := sframeVerdict(t, path)
		if !strings.HasSuffix(path, ".refused") {
			files++
		}
		if verdict == "right" {
			clean++
		}
		if strings.HasSuffix(path, ".o") {
			if verdict != "right" && verdict != "partly dropped" { // assemblers leave out what they cannot express
				t.Errorf("%s: %s", path, verdict)
			}
			continue
		}
		if linker == assembler && verdict != "right" {
			t.Errorf("%s: %s", path, verdict)
		}
		key := [2]string{linker, assembler}
		if found[key] == nil {
			found[key] = map[string]bool{}
		}
		found[key][verdict] = true
	}
	t.Logf("%d files, %d without a finding", files, clean)

	versions := versionsOf(t, filepath.Join(work, "versions"))
	var table strings.Builder
	column := func(text string) { table.WriteString("| " + text + " ") }
	var assemblers []string
	for _, v := range versions {
		if slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(k [2]string) bool { return k[1] == v[0] }) {
			assemblers = append(assemblers, v[0])
		}
	}
	assemblers = append(assemblers, "mixed")
	column("linker")
	for _, a := range assemblers {
		column(strings.Replace(nameOf(versions, a), "binutils", "as", 1))
	}
	table.WriteString("|\n" + strings.Repeat("|---", len(assemblers)+1) + "|\n")
	for _, v := range versions {
		cells := []string{strings.Replace(v[1], "binutils", "ld", 1)}
		some := false
		for _, a := range assemblers {
			verdicts := slices.Sorted(maps.Keys(found[[2]string{v[0], a}]))
			some = some || len(verdicts) > 0
			cells = append(cells, strings.Join(verdicts, "; "))
		}
		if some {
			for _, c := range cells {
				column(c)
			}
			table.WriteString("|\n")
		}
	}

	doc, err := os.ReadFile("../docs/sframe.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := bytes.Cut(doc, []byte("| linker "))
	_, after, _ := bytes.Cut(rest, []byte("|\n\n"))
	now := slices.Concat(before, []byte(table.String()), []byte("\n"), after)
	if !bytes.Equal(doc, now) {
		t.Errorf("docs/sframe.md has another table, and was rewritten:\n%s", table.String())
		err = os.WriteFile("../docs/sframe.md", now, 0o666)
		if err != nil {
			t.Error(err)
		}
	}
}

// sframeVerdict returns the causes that a file has, or what it is: "right", "dropped" if the section describes no code but
// that of the PLT, "refused" if the linker did not make it.
func sframeVerdict(t *testing.T, path string) string {
	t.Helper()
	if strings.HasSuffix(path, ".refused") {
		return "refused"
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.NewFile(filepath.Base(path), data)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := SFrame(t.Context(), &elfx.Image{Main: f}, report.Options{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	causes := map[string]bool{}
	for _, finding := range rep.Findings {
		causes[finding.Cause] = true
	}
	switch {
	case len(causes) > 0:
		return strings.Join(slices.Sorted(maps.Keys(causes)), ", ")
	case rep.Coverage[0].Covered*10 < rep.Coverage[0].Code: // the PLT alone
		return "dropped"
	case rep.Coverage[0].Covered*10 < rep.Coverage[0].Code*9:
		return "partly dropped"
	}
	return "right"
}

// versionsOf reads the names and versions of assemblers and linkers.
func versionsOf(t *testing.T, path string) (versions [][2]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, version, _ := strings.Cut(lines.Text(), " ")
		versions = append(versions, [2]string{name, version})
	}
	return versions
}

// nameOf returns the version of a name.
func nameOf(versions [][2]string, name string) string {
	for _, v := range versions {
		if v[0] == name {
			return v[1]
		}
	}
	return name
}
