package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/internal/page"
	"symkit/internal/quantity"
)

// checkJSON is what the tests read of symcheck's JSON.
type checkJSON struct {
	Results []struct {
		Total    uint64            `json:"total_findings"`
		Gaps     []report.Gap      `json:"gaps"`
		Checks   []report.Check    `json:"checks"`
		Coverage []report.Coverage `json:"coverage"`
		Findings []report.Finding  `json:"findings"`
	} `json:"results"`
}

// compareCheck compares a page with the JSON of the same run.
func compareCheck(t *testing.T, p *tab, text []byte) {
	t.Helper()
	var j checkJSON
	if err := json.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	r := j.Results[0]
	if r.Total > 0 {
		p.want(`document.querySelector("h1").textContent.includes("`+quantity.Number(r.Total)+`")`, "true")
	}

	// A bar for each check, with all its numbers.
	var bars []string
	p.eval(`[...document.querySelectorAll(".check svg")].map(s => s.getAttribute("aria-label"))`, &bars)
	var want []string
	for _, k := range r.Checks {
		want = append(want, fmt.Sprintf("%s: %s %s compared, %s wrong, %s missing, %s not verified", k.Name, quantity.Number(k.Compared), k.Unit, quantity.Number(k.Wrong), quantity.Number(k.Missing), quantity.Number(k.Unverified)))
	}
	if !slices.Equal(bars, want) {
		t.Errorf("the checks are\n%s\nthe JSON has\n%s", strings.Join(bars, "\n"), strings.Join(want, "\n"))
	}

	// Every finding with its record, and every gap.
	var findings [][]string
	p.eval(`[...document.querySelectorAll(".finding")].map(f => [f.closest(".findings").dataset.check, f.querySelector(".record")?.textContent ?? "", f.querySelector(".what").firstChild.textContent.trim()])`, &findings)
	if len(findings) != len(r.Findings) {
		t.Fatalf("%d findings, the JSON has %d", len(findings), len(r.Findings))
	}
	for i, f := range r.Findings {
		got := findings[i]
		if got[0] != f.Check || got[2] != strings.TrimSpace(page.Text(f.What)) || !strings.HasSuffix(got[1], page.Text(f.Record)) || f.Line > 0 && !strings.HasPrefix(got[1], "line "+strconv.Itoa(f.Line)) {
			t.Errorf("finding %d is %q, the JSON has %+v", i, got, f)
		}
	}
	p.want(`document.querySelectorAll("main > .note").length`, strconv.Itoa(len(r.Gaps)))

	// The share of each strip.
	var lanes []string
	p.eval(`[...document.querySelectorAll(".lanes span")].map(s => s.textContent)`, &lanes)
	for i, c := range r.Coverage {
		if want := c.Class + " " + quantity.Share(c.Covered, c.Code); len(lanes) > 0 && lanes[i] != want {
			t.Errorf("strip %d is %q, want %q", i, lanes[i], want)
		}
	}
}

// compile compiles a C++ program with debug information into a file of dir.
func compile(t *testing.T, dir, name string, flags ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	args := append([]string{"-g", "-o", path, "../../walk/testdata/src/inline.cc"}, flags...)
	if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		t.Fatalf("g++ %v: %v: %s", args, err, out)
	}
	return path
}

// debugged returns a program and its symbol file.
func debugged(t *testing.T) (elf, sym string) {
	t.Helper()
	elf = compile(t, t.TempDir(), "app", "-O2")
	return elf, write(t, "app.sym", program(t, "dump_syms", []string{"--inlines", elf}))
}

// damaged returns the symbol file with functions, lines, calls and rules lost or wrong.
func damaged(t *testing.T, sym string) string {
	t.Helper()
	text, err := os.ReadFile(sym)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	n, lost := 0, false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "FUNC":
			n++
			lost = n%5 == 0
			if n%4 == 1 {
				line = strings.TrimSuffix(line, "\n") + "_renamed\n"
			}
		case "INLINE", "PUBLIC", "STACK", "MODULE", "INFO", "FILE", "INLINE_ORIGIN":
			if fields[0] == "PUBLIC" || fields[0] == "STACK" {
				lost = false
			}
		default:
			if n%3 == 2 && len(fields) == 4 {
				line = fmt.Sprintf("%s %s %s1 %s\n", fields[0], fields[1], fields[2], fields[3])
			}
		}
		if !lost {
			out.WriteString(line)
		}
	}
	return write(t, "damaged.sym", []byte(out.String()))
}

// TestCheck: the page of a check has the content of the JSON, and no accessibility violation.
func TestCheck(t *testing.T) {
	elf, sym := debugged(t)
	bad := damaged(t, sym)
	for name, args := range map[string][]string{
		"right": {sym, elf}, "damaged": {bad, elf}, "lint": {"lint", bad}, "diff": {"diff", sym, bad}, "same": {"diff", sym, sym},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, name+".html", program(t, "symcheck", append([]string{"--format=html"}, args...), 2))
			compareCheck(t, open(t, path), program(t, "symcheck", append([]string{"--format=json"}, args...), 2))
			accessible(t, path)
		})
	}
}

// TestCheckSource: the pages of a check and of a comparison show the lines that the compiler embedded, or those of
// --source-dir, and the lines of both sides stand out. CLANG and RUSTC name the compilers.
func TestCheckSource(t *testing.T) {
	for _, c := range []struct {
		name, text string
		compile    []string
	}{
		{"app.c", "/* <b>bold</b> */\nint f(volatile int *p)\n{\n\t*p = 1;\n\treturn 0; // \u202e hidden\n}\nint main(void) { int x; return f(&x); }\n",
			[]string{cmp.Or(os.Getenv("CLANG"), "clang"), "-gdwarf-5", "-gembed-source", "-O0"}},
		{"app.rs", "// <b>bold</b>\n#[inline(never)]\nfn f(p: &mut i32) -> i32 {\n\t*p = 1;\n\treturn 0; // \u202e hidden\n}\nfn main() { std::process::exit(f(&mut 2)) }\n",
			[]string{cmp.Or(os.Getenv("RUSTC"), "rustc"), "-Zembed-source", "-Zdwarf-version=5", "-g", "-Atext_direction_codepoint_in_comment"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			code, elf := filepath.Join(dir, c.name), filepath.Join(dir, "app")
			err := os.WriteFile(code, []byte(c.text), 0o666)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(c.compile[0], append(c.compile[1:], "-o", elf, code)...)
			cmd.Env = append(os.Environ(), "RUSTC_BOOTSTRAP=1") // for flags that are not stable
			out, err := cmd.CombinedOutput()
			if err == nil {
				err = os.Remove(code)
			}
			if err != nil {
				t.Fatalf("%s: %v: %s", c.compile[0], err, out)
			}
			sym := program(t, "dump_syms", []string{elf})
			record := regexp.MustCompile(`(?m)^([0-9a-f]+ [0-9a-f]+) 4 (\d+)$`)
			file := regexp.MustCompile(`(?m)^FILE (\d+) ` + regexp.QuoteMeta(code) + "$").FindSubmatch(sym)
			if file == nil {
				t.Fatalf("no FILE for %s", code)
			}
			wrong := record.ReplaceAllFunc(sym, func(line []byte) []byte {
				m := record.FindSubmatch(line)
				if string(m[2]) != string(file[1]) {
					return line
				}
				return fmt.Appendf(nil, "%s 5 %s", m[1], m[2])
			})
			right, bad := write(t, "right.sym", sym), write(t, "wrong.sym", wrong)
			for name, args := range map[string][]string{"check": {bad, elf}, "diff": {"diff", "--source-dir", moved(t, c.name, c.text), bad, right}} {
				path := write(t, name+".html", program(t, "symcheck", append([]string{"--format=html"}, args...), 2))
				p := open(t, path)
				p.want(`[...document.querySelector(".finding:has(.source)").querySelectorAll(".hit")].map(l => l.textContent).join("|")`, "5\treturn 0; // \\u{202e} hidden|4\t*p = 1;")
				p.want(`document.querySelector(".finding .place").textContent.replace(/:.*\//, ": ")`, map[string]string{"check": "symbol file: ", "diff": "first file: "}[name]+c.name+":5")
				p.want(`String(document.querySelector(".finding .source").checkVisibility())`, "true")
				p.want(`String(document.querySelector(".source b"))`, "null")
				accessible(t, path)
			}
		})
	}
}

// moved returns a directory with a source file.
func moved(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// funcs are the FUNC records of a symbol file, as address, size and name.
func funcs(t *testing.T, sym string) (out [][3]string) {
	t.Helper()
	text, err := os.ReadFile(sym)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "FUNC "); ok {
			f := strings.SplitN(strings.TrimPrefix(strings.TrimSuffix(rest, "\n"), "m "), " ", 4)
			out = append(out, [3]string{f[0], f[1], f[3]})
		}
	}
	return out
}

// TestCheckMap: the map zooms and moves; the list sorts, filters and leads to the map.
func TestCheckMap(t *testing.T) {
	elf, sym := debugged(t)
	p := open(t, write(t, "check.html", program(t, "symcheck", []string{"--format=html", damaged(t, sym), elf}, 2)))
	width := func() float64 {
		return p.number(`Number(document.querySelector("#map").dataset.hi) - Number(document.querySelector("#map").dataset.lo)`)
	}

	// Buttons and keys zoom and move; zero shows all.
	all := width()
	p.click("#in")
	if w := width(); w >= all/2 {
		t.Errorf("%v of %v bytes after zooming in", w, all)
	}
	p.text(`document.querySelector("#map").focus()`)
	p.key("+")
	narrow := width()
	from := p.text(`document.querySelector("#map").dataset.lo`)
	p.keys("\ue014") // the right arrow
	if p.text(`document.querySelector("#map").dataset.lo`) == from {
		t.Error("the arrow key does not move the map")
	}
	p.key("-")
	if w := width(); w <= narrow {
		t.Errorf("%v bytes after zooming out of %v", w, narrow)
	}
	p.key("0")
	if w := width(); w != all {
		t.Errorf("%v bytes after zero, want %v", w, all)
	}

	// A function of the list is shown on the map.
	want := funcs(t, sym)
	p.text(`document.querySelector("#find").focus()`)
	p.keys("main")
	p.eventually(`document.querySelectorAll("#rows tr").length > 0 && [...document.querySelectorAll("#rows tr")].every(r => r.textContent.toLowerCase().includes("main"))`)
	p.click("#rows button")
	p.want(`document.querySelector("#panel").hidden`, "false")
	p.want(`document.querySelector("#panel h3").textContent.includes("main")`, "true")
	if w := width(); w >= all {
		t.Errorf("a function does not zoom the map: %v bytes", w)
	}
	p.want(`document.querySelectorAll("#strips .chosen").length`, "1")
	p.text(`document.querySelector("#find").focus()`)
	p.keys("\x1b")

	// The list has functions without a record, and sorts.
	p.click(`[data-key="size"]`)
	p.want(`[...document.querySelectorAll("#rows tr")].map(r => Number(r.cells[2].textContent.replaceAll(",", ""))).every((n, i, a) => i === 0 || a[i-1] >= n)`, "true")
	p.choose("#show", "none")
	lost := len(want) - len(funcs(t, damaged(t, sym)))
	var shown int
	p.eval(`Number(document.querySelector("#place").textContent.match(/of ([0-9,]+)/)?.[1].replaceAll(",", "") ?? 0)`, &shown)
	if shown == 0 || shown > lost {
		t.Errorf("%d functions without a record, %d FUNC records were removed", shown, lost)
	}

	// A check leads to its findings, which unfold.
	p.text(`document.querySelectorAll(".findings").forEach(d => d.open = false)`)
	p.click(`.check a[href="#f0-lines"]`)
	p.want(`document.querySelector("#f0-lines").open`, "true")

	// A finding leads to the map, and shows machine code.
	p.text(`document.querySelectorAll(".findings").forEach(d => d.open = true)`)
	p.want(`document.querySelectorAll(".code .here").length > 0`, "true")
	p.click("#whole")
	p.click("button.go")
	if w := width(); w >= all {
		t.Errorf("a finding does not zoom the map: %v bytes", w)
	}

	// The data has every FUNC of the symbol file.
	var names []string
	p.eval(`JSON.parse(document.getElementById("data").textContent).functions.name`, &names)
	for _, f := range funcs(t, damaged(t, sym)) {
		if !slices.Contains(names, f[2]) {
			t.Errorf("the page lacks %s", f[2])
		}
	}
}

// TestDiffList: the list of changes has what differs.
func TestDiffList(t *testing.T) {
	_, sym := debugged(t)
	p := open(t, write(t, "diff.html", program(t, "symcheck", []string{"diff", "--format=html", sym, damaged(t, sym)}, 2)))
	lost := len(funcs(t, sym)) - len(funcs(t, damaged(t, sym)))
	p.choose("#show", "removed")
	p.want(`document.querySelector("#place").textContent.endsWith(" of `+quantity.Number(lost)+`")`, "true")
	p.choose("#show", "changed")
	p.text(`document.querySelector("#find").focus()`)
	p.keys("_renamed")
	p.eventually(`document.querySelectorAll("#rows tr").length > 0 && [...document.querySelectorAll("#rows tr")].every(r => r.textContent.includes("was "))`)
}

// TestDiffMoved: functions that only moved are not shown at first, and a hundred of the shown are printed.
func TestDiffMoved(t *testing.T) {
	const functions = 120
	var old, now strings.Builder
	for i := range functions {
		line := 7
		if i%2 == 0 {
			line = 8
		}
		fmt.Fprintf(&old, "FUNC %x 10 0 f%d\n%[1]x 10 7 0\n", 0x1000+0x20*i, i)
		fmt.Fprintf(&now, "FUNC %x 10 0 f%d\n%[1]x 10 %[3]d 0\n", 0x1040+0x20*i, i, line)
	}
	const head = "MODULE Linux x86_64 0123456789ABCDEF0 app\nFILE 0 /src/a.c\n"
	a, b := write(t, "old.sym", []byte(head+old.String())), write(t, "new.sym", []byte(head+now.String()))
	path := write(t, "diff.html", program(t, "symcheck", []string{"diff", "--format=html", a, b}, 2))
	p := open(t, path)
	p.want(`document.querySelector("#place").textContent`, "1 to 50 of 60")
	p.want(`[...document.querySelectorAll("#rows tr")].every(r => r.cells[1].textContent === "changed" && r.cells[5].textContent === "16")`, "true")
	p.text(`dispatchEvent(new Event("beforeprint"))`)
	p.want(`document.querySelectorAll("#rows tr").length`, "60")
	p.text(`dispatchEvent(new Event("afterprint"))`)
	p.choose("#show", "all")
	p.want(`document.querySelector("#place").textContent`, "1 to 50 of 120")
	p.click(`[data-key="lines"]`)
	p.want(`[...document.querySelectorAll("#rows tr")].every(r => r.cells[5].textContent === "16")`, "true")
}

// module returns the Map of a made-up module.
func module(functions int, name func(int) string) *report.Map {
	m := &report.Map{Units: []string{"unit.cc"}}
	size := uint64(370)
	m.Code = []report.Range{{Lo: 0x1000, Hi: 0x1000 + size*uint64(functions) + 5000}}
	var all, lines, inlines []report.Range
	for i := range functions {
		lo := 0x1000 + size*uint64(i)
		all = append(all, report.Range{Lo: lo, Hi: lo + size - 10})
		lines = append(lines, report.Range{Lo: lo, Hi: lo + size - 10 - uint64(i%3)})
		for k := range uint64(12) {
			inlines = append(inlines, report.Range{Lo: lo + 20*k, Hi: lo + 20*k + 9})
		}
		m.Functions = append(m.Functions, report.Function{Range: all[i], Name: name(i), File: i % 500})
	}
	for i := range 500 {
		m.Files = append(m.Files, name(i)+fmt.Sprintf("/src/file%d.cc", i))
	}
	m.Covered = []report.Covered{{Class: "functions", Ranges: all}, {Class: "lines", Ranges: lines}, {Class: "inlines", Ranges: inlines}, {Class: "cfi", Ranges: all}}
	return m
}

// writeCheck writes the page of results.
func writeCheck(t *testing.T, results ...report.Result) string {
	t.Helper()
	var out strings.Builder
	if err := report.Write(&out, "html", "test", results); err != nil {
		t.Fatal(err)
	}
	return write(t, "check.html", []byte(out.String()))
}

// TestCheckLarge: 43,000 functions with names of 150 bytes open in time.
func TestCheckLarge(t *testing.T) {
	name := func(i int) string {
		return fmt.Sprintf("std::function_%d<", i) + strings.Repeat("std::allocator<char>, ", 6) + ">"
	}
	m := module(43000, name)
	rep := &report.Report{Checks: []report.Check{{Name: "functions", State: report.Checked, Unit: "functions", Compared: 43000}}, Map: m}
	path := writeCheck(t, report.Result{File: "a.sym", Against: "a", Report: rep})
	bounds(t, path)

	p := open(t, path)
	p.text(`document.querySelector("#find").focus()`)
	p.keys("function_42999<")
	p.eventually(`document.querySelectorAll("#rows tr").length === 1`)

	var changes []report.Change
	for i := range 43000 {
		changes = append(changes, report.Change{Name: name(i), Kind: "changed", Old: m.Functions[i].Range, New: m.Functions[i].Range, Lines: 5, First: []string{"+0x0 to +0x5: /src/a.c:1, now /src/a.c:2"}})
	}
	bounds(t, writeCheck(t, report.Result{File: "a.sym", Against: "b.sym", Report: &report.Report{Changes: changes}}))
}

// TestCheckCorpus: the page of the corpus' largest module opens in time. LARGE_PAGE names the page, which
// `make pages` writes.
func TestCheckCorpus(t *testing.T) {
	path := os.Getenv("LARGE_PAGE")
	if path == "" {
		t.Fatal("LARGE_PAGE must name the page of a large module: run make pages")
	}
	bounds(t, path)
	p := open(t, path)
	if n := p.number(`JSON.parse(document.getElementById("data").textContent).functions.name.length`); n < 3000 {
		t.Errorf("%v functions", n)
	}
}

// TestCheckHostile: names of symbol files stay text.
func TestCheckHostile(t *testing.T) {
	m := module(len(attacks), func(i int) string { return attacks[i%len(attacks)] })
	m.Units = attacks
	rep := &report.Report{Map: m}
	diff := &report.Report{Changes: []report.Change{}}
	for i, name := range attacks {
		f := report.Finding{Check: "functions", Line: i + 1, Record: name, What: name, Addr: 0x1010, Context: []report.Instruction{{Addr: 0x1010, Bytes: "90", Text: name, Source: name, Here: true}}}
		rep.Findings = append(rep.Findings, f)
		rep.Gaps = append(rep.Gaps, report.Gap{Kind: name, What: name})
		diff.Changes = append(diff.Changes, report.Change{Name: name, OldName: name, Kind: "changed", First: []string{name}, Lines: 1})
	}
	rep.Checks = []report.Check{{Name: "functions", Findings: uint64(len(attacks)), Unit: "functions", State: report.Checked, Notes: attacks}}
	for _, result := range []report.Result{
		{File: "a<script>.sym", Against: attacks[0], Report: rep, Unmet: attacks},
		{File: strings.Join(attacks[:60], " "), Against: attacks[1], Report: diff},
	} {
		path := writeCheck(t, result)
		p := open(t, path)
		p.want(`document.scripts.length`, "2")
		p.want(`document.querySelectorAll("img, iframe, object, embed, base, link, form, video, audio, marquee, [onload], [onerror], [onfocus]").length`, "0")
		p.text(`document.querySelectorAll("details").forEach(d => d.open = true)`)
		p.want(`document.querySelectorAll("#rows tr").length`, "50")
		p.click("#next")
		p.want(`document.querySelectorAll("#rows tr").length`, strconv.Itoa(len(attacks)-50))
		p.text(`document.querySelector("#rows button, #rows summary").click()`)
		accessible(t, path)
	}
}
