package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/internal/page"
	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/report"
)

// crashJSON is what the tests read of the JSON of a crash.
type crashJSON struct {
	Crash struct {
		Type, Address, Instruction *string
	} `json:"crash_info"`
	Extension struct{ Signature *string } `json:"symkit"`
	Crashing  *threadJSON                 `json:"crashing_thread"`
	Threads   []threadJSON                `json:"threads"`
	Modules   []struct {
		Filename string  `json:"filename"`
		ID       *string `json:"debug_id"`
		Base     string  `json:"base_addr"`
		Loaded   bool    `json:"loaded_symbols"`
		Extra    struct {
			From  string                         `json:"symbols_from"`
			Tried []struct{ Path, Error string } `json:"tried"`
		} `json:"symkit"`
	} `json:"modules"`
}

type threadJSON struct {
	ID     int         `json:"thread_id"`
	Frames []frameJSON `json:"frames"`
}

type frameJSON struct {
	Frame     int               `json:"frame"`
	Function  *string           `json:"function"`
	Module    *string           `json:"module"`
	File      *string           `json:"file"`
	Line      *int              `json:"line"`
	Registers map[string]string `json:"registers"`
	Inlines   []struct {
		Function string
		File     *string
		Line     *int
	} `json:"inlines"`
	Extension struct{ PC, SP, Trust, Why string } `json:"symkit"`
}

// framePage is a frame as the page shows it.
type framePage struct {
	Frame         int
	PC, SP, Trust string
	Rows          []rowPage
	Details       bool
	Why           string // what was tried before
	Registers     map[string]string
}

type rowPage struct {
	Func, Source string
	Inlined      bool
}

// readFrames is an expression for the frames of an element.
const readFrames = `[...%s.querySelectorAll(".frame")].map(f => ({Frame: Number(f.querySelector(".n").textContent), PC: f.dataset.pc, SP: f.dataset.sp, Trust: f.dataset.trust,
	Details: f.querySelector("details") !== null, Why: [...f.querySelectorAll(".more dt")].find(d => d.textContent === "tried before")?.nextElementSibling.textContent ?? "",
	Registers: Object.fromEntries([...f.querySelectorAll(".registers div")].map(d => [d.children[0].textContent, d.children[1].textContent])),
	Rows: [...f.querySelectorAll(".row")].map(r => ({Func: r.querySelector(".name").textContent, Source: r.querySelector(".src").title, Inlined: r.classList.contains("inlined")}))}))`

// shown is how the page shows a frame of the JSON.
func (f *frameJSON) shown() framePage {
	source := func(file *string, line *int) string {
		if file == nil {
			return ""
		}
		return fmt.Sprintf("%s:%d", page.Text(*file), *line)
	}
	out := framePage{Frame: f.Frame, PC: f.Extension.PC, SP: f.Extension.SP, Trust: f.Extension.Trust, Why: page.Text(f.Extension.Why), Registers: f.Registers}
	for _, in := range f.Inlines {
		out.Rows = append(out.Rows, rowPage{page.Text(in.Function), source(in.File, in.Line), true})
	}
	name := ""
	if f.Function != nil {
		name = page.Text(*f.Function)
	}
	out.Rows = append(out.Rows, rowPage{name, source(f.File, f.Line), false})
	return out
}

// compareFrames compares the frames of a page with those of the JSON. Stack pointers differ within a group of
// equal stacks.
func compareFrames(t *testing.T, what string, got []framePage, want []frameJSON, stacks bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d frames, the JSON has %d", what, len(got), len(want))
		return
	}
	for i := range got {
		g, w := got[i], want[i].shown()
		g.Rows = slices.Clone(g.Rows)
		if !stacks {
			g.SP, w.SP, w.Registers = "", "", nil
		}

		// Some frames have no details, and the JSON has the registers of the innermost frame only.
		if !g.Details {
			w.Why, w.Registers = "", nil
		}
		if len(w.Registers) == 0 {
			g.Registers, w.Registers = nil, nil
		}
		w.Details = g.Details

		// A function without a name is shown as its address.
		if last := len(w.Rows) - 1; w.Rows[last].Func == "" && len(g.Rows) > last {
			if !strings.Contains(g.Rows[last].Func, "0x") {
				t.Errorf("%s: frame %d without a name is %q", what, i, g.Rows[last].Func)
			}
			g.Rows[last].Func = ""
		}
		if fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("%s: frame %d is\n%.500v, the JSON has\n%.500v", what, i, g, w)
			return
		}
	}
}

// compareRounds compares stacks that differ in the rounds of a recursion: both have the same functions,
// and are equal where they begin and where they end.
func compareRounds(t *testing.T, what string, got []framePage, want []frameJSON) {
	t.Helper()
	last := func(n int) string { return fmt.Sprintf("%s: frame %d of a recursion", what, n) }
	functions := map[string]int{}
	for _, f := range got {
		name := f.Rows[len(f.Rows)-1].Func
		if strings.Contains(name, "0x") { // an address, for which the JSON has no name
			name = ""
		}
		functions[name] |= 1
	}
	for i := range want {
		f := want[i].shown()
		functions[f.Rows[len(f.Rows)-1].Func] |= 2
	}
	for name, in := range functions {
		if in != 3 {
			t.Errorf("%s: only one of the stacks has %s", what, name)
		}
	}
	if g, w := got[0], want[0]; g.PC != w.Extension.PC {
		t.Errorf("%s is at %s, the JSON has %s", last(0), g.PC, w.Extension.PC)
	}
	if g, w := got[len(got)-1], want[len(want)-1]; g.PC != w.Extension.PC {
		t.Errorf("%s is at %s, the JSON has %s", last(len(want)-1), g.PC, w.Extension.PC)
	}
}

// compareCrash compares a page with the JSON of the same run.
func compareCrash(t *testing.T, p *tab, text []byte) {
	t.Helper()
	var j crashJSON
	if err := json.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	if j.Crash.Type != nil {
		p.want(`document.querySelector("h1").firstChild.textContent.trim()`, *j.Crash.Type)
	}
	if j.Crash.Type != nil && j.Crash.Address != nil {
		p.want(`BigInt(document.querySelector("h1 .address").textContent.replace("at ", "")) === BigInt("`+*j.Crash.Address+`")`, "true")
	}
	if j.Crash.Instruction != nil {
		p.want(`document.querySelector(".insn").textContent`, page.Text(*j.Crash.Instruction))
	}
	if j.Extension.Signature != nil {
		p.want(`document.querySelector("#signature").textContent`, page.Text(*j.Extension.Signature))
	}
	frames := 0
	for _, thread := range j.Threads {
		frames += len(thread.Frames)
	}
	p.want(`[...document.querySelectorAll(".facts dt")].find(d => d.textContent === "Stacks").nextElementSibling.textContent.startsWith("`+quantity.Count(len(j.Threads), "thread", "threads")+", "+quantity.Count(frames, "frame", "frames")+`")`, "true")

	// The crashed thread, then every other thread in its group.
	crashed := -1
	if j.Crashing != nil {
		crashed = j.Crashing.ID
		var got []framePage
		p.eval(fmt.Sprintf(readFrames, `document.querySelector(".crashed")`), &got)
		compareFrames(t, fmt.Sprintf("thread %d", crashed), got, j.Crashing.Frames, true)
	}
	var groups []struct {
		IDs    []int
		Frames []framePage
	}
	p.eval(`[...document.querySelectorAll(".group")].map(g => ({IDs: g.dataset.threads.split(" ").map(Number), Frames: `+fmt.Sprintf(readFrames, "g")+`}))`, &groups)
	seen := map[int]bool{crashed: true}
	for _, g := range groups {
		for k, id := range g.IDs {
			i := slices.IndexFunc(j.Threads, func(t threadJSON) bool { return t.ID == id })
			if i < 0 || seen[id] {
				t.Errorf("thread %d of the page is not in the JSON, or twice on the page", id)
				continue
			}
			seen[id] = true
			what, want := fmt.Sprintf("thread %d", id), j.Threads[i].Frames
			if k > 0 && !slices.EqualFunc(g.Frames, want, func(f framePage, w frameJSON) bool { return f.PC == w.Extension.PC }) {
				compareRounds(t, what, g.Frames, want)
			} else {
				compareFrames(t, what, g.Frames, want, k == 0)
			}
		}
	}
	for _, thread := range j.Threads {
		if !seen[thread.ID] && len(thread.Frames) > 0 {
			t.Errorf("thread %d is not on the page", thread.ID)
		}
	}

	// Modules, in the order of the dump.
	var modules [][]string
	p.eval(`[...document.querySelectorAll("table.modules tbody tr")].map(r => [r.cells[0].querySelector("span").textContent, r.cells[2].textContent, r.cells[3].textContent, r.cells[1].firstElementChild.textContent, r.cells[1].textContent])`, &modules)
	if len(modules) != len(j.Modules) {
		t.Fatalf("%d modules, the JSON has %d", len(modules), len(j.Modules))
	}
	for i, m := range j.Modules {
		id := ""
		if m.ID != nil {
			id = page.Text(*m.ID)
		}
		got := modules[i]
		if got[0] != page.Text(m.Filename) || got[1] != id || got[2] != m.Base || strings.HasPrefix(got[3], "loaded") != m.Loaded {
			t.Errorf("module %d is %.200q, the JSON has %.200q %s %s %v", i, got, m.Filename, id, m.Base, m.Loaded)
		}
		for _, tried := range m.Extra.Tried {
			if !strings.Contains(got[4], page.Text(tried.Path)+": "+page.Text(tried.Error)) {
				t.Errorf("module %d: the page lacks %s: %s", i, tried.Path, tried.Error)
			}
		}
		if !strings.Contains(got[4], page.Text(m.Extra.From)) {
			t.Errorf("module %d: the page lacks %s", i, m.Extra.From)
		}
	}
}

const testdata = "../../walk/minidump/testdata/"

// crashRuns are the command lines of the crashes.
func crashRuns() map[string][]string {
	store := "../../cmd/stackwalk/testdata/breakpad/symbols"
	return map[string][]string{
		"windows":  {"--symbols", store, testdata + "minidump2.dmp"},
		"linux":    {testdata + "linux_null_read_av.dmp"},
		"crashpad": {testdata + "simple-crashpad.dmp"},
	}
}

// TestCrash: the page of a crash has the content of the JSON, and no accessibility violation.
func TestCrash(t *testing.T) {
	for name, args := range crashRuns() {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"--no-elf"}, args...)
			path := write(t, name+".html", program(t, "stackwalk", append([]string{"--format=html", "--source-link=https://src.example/{path}#L{line}"}, args...), 2))
			compareCrash(t, open(t, path), program(t, "stackwalk", append([]string{"--format=json"}, args...), 2))
			accessible(t, path)
		})
	}
}

// TestCores: the same for real cores, if SYMKIT_CORES names the directory that scripts/cores.sh filled.
func TestCores(t *testing.T) {
	cores, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_CORES"), "x86_64-*", "core"))
	if err != nil || len(cores) == 0 {
		t.Fatal("SYMKIT_CORES must name a directory that scripts/cores.sh filled")
	}
	for _, core := range cores {
		t.Run(filepath.Base(filepath.Dir(core)), func(t *testing.T) {
			path := write(t, "core.html", program(t, "stackwalk", []string{"--format=html", core}, 2))
			p := open(t, path)
			compareCrash(t, p, program(t, "stackwalk", []string{"--format=json", core}, 2))
		})
	}
}

// TestCrashInteraction: search, folds, sorting, the keyboard and copying.
func TestCrashInteraction(t *testing.T) {
	p := open(t, writeCrash(t, many(3, 40)))
	p.do(grantClipboard(p.url))

	// The slash goes to the search field; a word leaves the frames that have it.
	p.key("/")
	p.want(`document.activeElement.type`, "search")
	p.keys("function_17")
	p.eventually(`document.querySelectorAll(".frame:not([hidden])").length === 2`)
	p.eventually(`document.querySelector(".status").textContent.startsWith("2 of")`)
	p.want(`document.querySelector(".group").open`, "true")
	p.keys("\r")
	p.want(`document.querySelectorAll(".frame.hit").length`, "1")
	p.keys("\x1b")
	p.eventually(`document.querySelectorAll(".frame[hidden]").length === 0`)
	p.want(`document.querySelector(".group").open`, "false")

	// A frame unfolds with the keyboard, and shows why it is believed.
	p.text(`document.querySelector(".frame summary").focus()`)
	p.keys("\r")
	p.want(`document.querySelector(".frame details").open`, "true")
	p.want(`document.querySelector(".frame .more").textContent.includes("given as instruction pointer in context")`, "true")
	p.want(`document.querySelector(".frame .registers").textContent.includes("rip")`, "true")

	// A group unfolds by a click; so do all by their button.
	p.click(".group > summary")
	p.want(`document.querySelector(".group").open`, "true")
	p.click(`[data-open="no"]`)
	p.want(`document.querySelectorAll("details.fold[open]").length`, "0")
	p.click(`[data-open="yes"]`)
	p.want(`document.querySelectorAll("details.fold:not([open])").length`, "0")

	// The head of a column sorts.
	sizes := `[...document.querySelectorAll(".modules tbody tr")].map(r => Number(r.cells[4].dataset.sort))`
	p.click(`.modules th:nth-child(5) button`)
	p.want(sizes+`.every((n, i, a) => i === 0 || a[i-1] >= n)`, "true")
	p.want(`document.querySelector(".modules th:nth-child(5)").getAttribute("aria-sort")`, "descending")
	p.click(`.modules th:nth-child(5) button`)
	p.want(sizes+`.every((n, i, a) => i === 0 || a[i-1] <= n)`, "true")

	// The crash goes to the clipboard as text.
	p.click(`[data-copy]`)
	p.eventually(`navigator.clipboard.readText().then(t => t.includes("Thread 1") && t.includes("function_0"))`)
}

// TestCrashLarge: 20,000 frames, all different or a recursion, open in time; all are on the page.
func TestCrashLarge(t *testing.T) {
	for name, r := range map[string]*walk.Result{"different": many(1, 20000), "recursion": recursion(20000), "threads": many(500, 40)} {
		t.Run(name, func(t *testing.T) {
			path := writeCrash(t, r)
			bounds(t, path)
			p := open(t, path)
			want := 0
			for _, s := range equalGroups(r) {
				want += len(s.Frames)
			}
			p.want(`document.querySelectorAll(".frame").length`, fmt.Sprint(want))
		})
	}

	// What cannot be on a page is counted on it.
	path := writeCrash(t, many(1, 250000))
	bounds(t, path)
	p := open(t, path)
	shown := int(p.number(`document.querySelectorAll(".frame").length`))
	p.want(`document.querySelector("main").textContent.includes("`+quantity.Number(250000-shown)+` frames are not on this page")`, "true")
}

// TestCrashHostile: names stay text, wherever they are from.
func TestCrashHostile(t *testing.T) {
	if len(attacks) < 50 {
		t.Fatalf("only %d attacks", len(attacks))
	}
	r := hostile()
	path := writeCrash(t, r)
	p := open(t, path)
	p.want(`document.scripts.length`, "1")
	p.want(`document.querySelectorAll("img, iframe, object, embed, base, link, form, video, audio, marquee, body [onload], [onerror], [onfocus]").length`, "0")
	p.want(`[...document.links].every(a => a.protocol === "https:" && a.host === "src.example" || a.hash)`, "true")
	var names []string
	p.eval(`[...document.querySelectorAll(".crashed .row:not(.inlined) .name")].map(e => e.textContent)`, &names)
	for i, name := range attacks {
		if i >= len(names) || names[i] != page.Text(name) {
			t.Errorf("%.100q is shown as %.200q", name, names[min(i, len(names)-1)])
		}
	}

	// Folded content runs nothing either, nor does anything that the pointer or focus reaches.
	p.text(`document.querySelectorAll("details").forEach(d => d.open = true)`)
	p.text(`document.querySelectorAll("*").forEach(e => { for (const type of ["mouseover", "pointerenter", "focus", "click", "error", "toggle", "load"]) if (!e.closest("a, button, summary, th")) e.dispatchEvent(new Event(type)); })`)
	accessible(t, path)
}

// writeCrash writes the page of a result.
func writeCrash(t *testing.T, r *walk.Result) string {
	t.Helper()
	var out strings.Builder
	err := report.HTML(&out, r, report.PageOptions{Generator: "stackwalk test", SourceLink: "https://src.example/{path}#L{line}", Dump: "/dumps/core"})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "crash.html", []byte(out.String()))
}

// noMemory is the memory of a process that the dump lacks.
type noMemory struct{}

func (noMemory) Bytes(addr, n uint64) []byte { return nil }

// process returns a process with threads that have no stacks yet, and three modules.
func process(threads int) *walk.Result {
	p := &walk.Process{OS: "Linux", CPU: "x86_64", Name: "app", PID: 7, Memory: noMemory{}, Crash: walk.Crash{Reason: "SIGSEGV / SEGV_MAPERR", HasAddress: true}}
	for i := range 3 {
		base := uint64(0x400000 + i<<32)
		name := fmt.Sprintf("lib%d.so", i)
		p.Modules = append(p.Modules, &walk.Module{Path: "/usr/lib/" + name, Name: name, DebugFile: name, DebugID: fmt.Sprintf("%033X", i+1), Base: base, End: base + uint64(5-i)<<20, Order: i})
	}
	p.Main = p.Modules[0]
	p.Threads = make([]walk.Thread, threads)
	r := &walk.Result{Process: p, Stacks: make([]walk.Stack, threads)}
	for _, m := range p.Modules {
		r.Modules = append(r.Modules, walk.ModuleSymbols{Module: m, Loaded: m == p.Main})
	}
	for i := range p.Threads {
		p.Threads[i].ID = i + 1
		r.Stacks[i] = walk.Stack{Thread: &p.Threads[i], Complete: true}
	}
	return r
}

// frame returns a frame of the first module.
func frame(r *walk.Result, i int, name string) walk.Frame {
	m := r.Process.Main
	pc := m.Base + 0x1000 + 16*uint64(i)
	f := walk.Frame{PC: pc, SP: 0x7ff000000000 + 64*uint64(i), Trust: walk.TrustCFI, Module: m,
		Place: &walk.Place{Func: name, FuncAddr: pc - 8, File: fmt.Sprintf("/src/dir%d/file.cc", i%9), Line: uint32(i), LineAddr: pc - 4}}
	if i == 0 {
		f.Trust, f.Exact = walk.TrustContext, true
		f.Registers = []walk.NamedRegister{{Name: "rip", Value: pc}, {Name: "rsp", Value: f.SP}}
	}
	if i%5 == 1 {
		f.Place.Inlines = []walk.InlineCall{{Func: name + "::inlined", File: "/src/inline.h", Line: 3}}
	}
	return f
}

// many returns stacks of different frames: the second half of the threads are equal.
func many(threads, frames int) *walk.Result {
	r := process(threads)
	for k := range r.Stacks {
		first := 1000000 * min(k, threads/2)
		for i := range frames {
			f := frame(r, i, fmt.Sprintf("ns::function_%d(std::vector<int, std::allocator<int> > const&)", i))
			f.PC += 16 * uint64(first)
			f.Place.FuncAddr += 16 * uint64(first)
			r.Stacks[k].Frames = append(r.Stacks[k].Frames, f)
		}
	}
	return r
}

// equalGroups returns one stack of each group of equal stacks.
func equalGroups(r *walk.Result) (out []walk.Stack) {
	seen := map[uint64]bool{}
	for i, s := range r.Stacks {
		if i == 0 || !seen[s.Frames[0].PC] {
			out = append(out, s)
		}
		if i > 0 {
			seen[s.Frames[0].PC] = true
		}
	}
	return out
}

// recursion returns a stack of three functions that call each other.
func recursion(frames int) *walk.Result {
	r := process(1)
	for i := range frames {
		f := frame(r, 1+i%3, fmt.Sprintf("recursive_%d", i%3))
		f.SP += 64 * uint64(i)
		r.Stacks[0].Frames = append(r.Stacks[0].Frames, f)
	}
	return r
}

// hostile returns a process in which every text is an attack.
func hostile() *walk.Result {
	r := process(2)
	p := r.Process
	for i, name := range attacks {
		f := frame(r, i, name)
		f.Place.File, f.Why = name, name
		f.Place.Inlines = []walk.InlineCall{{Func: name, File: name, Line: 1}}
		f.Module = &walk.Module{Path: name, Name: name, DebugFile: name, DebugID: name, CodeID: name, Version: name, Base: f.PC - 8, End: f.PC + 8, Order: 3 + i}
		p.Modules = append(p.Modules, f.Module)
		r.Stacks[0].Frames = append(r.Stacks[0].Frames, f)
		p.Warnings = append(p.Warnings, name)
		p.Facts.Unloaded = append(p.Facts.Unloaded, walk.UnloadedModule{Name: name, Base: uint64(i) << 20, End: uint64(i+1) << 20, CodeID: name})
	}
	all := strings.Join(attacks[:60], " ")
	p.Name, p.Args, p.OSVersion, p.Crash.Reason, p.Facts.Assertion, p.Facts.CPUInfo, p.Facts.GPU = all, all, all, all, all, all, all
	p.Facts.Crashpad = &walk.Crashpad{ReportID: all, ClientID: all, Simple: []walk.Annotation{{Name: all, Value: all}}}
	p.Threads[0].Name, p.Threads[1].Name = all, all
	r.Stacks[0].End, r.Stacks[0].Complete = all, false
	r.Stacks[1].Frames = r.Stacks[0].Frames[:3]
	return r
}

// TestCrashSource: the page of a crash shows the lines that the compiler embedded, each on a line of its own, and that of
// the frame stands out. CLANG names the compiler.
func TestCrashSource(t *testing.T) {
	dir := t.TempDir()
	text := "/* <b>bold</b> */\nint crash(volatile int *p)\n{\n\treturn *p = 1; // \u202e the write\n}\n\nint main(void) { return crash(0); }\n"
	code := filepath.Join(dir, "app.c")
	app := filepath.Join(dir, "app")
	err := os.WriteFile(code, []byte(text), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	clang := cmp.Or(os.Getenv("CLANG"), "clang")
	out, err := exec.Command(clang, "-gdwarf-5", "-gembed-source", "-O0", "-o", app, code).CombinedOutput()
	if err == nil {
		err = os.Remove(code)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", clang, err, out)
	}
	// Without a name for cores, the system puts them into the working directory.
	cmd := exec.Command("gdb", "-batch", "-ex", "run", "-ex", "generate-core-file core", app)
	cmd.Dir = dir
	out, err = cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v: %s", err, out)
	}
	p := open(t, write(t, "crash.html", program(t, "stackwalk", []string{"--format=html", "--exe", app, filepath.Join(dir, "core")})))
	p.want(`document.querySelector(".source .hit").textContent`, "4\treturn *p = 1; // \\u{202e} the write")
	p.want(`document.querySelector(".source .source-line").textContent`, "1/* <b>bold</b> */")
	p.want(`String(document.querySelectorAll("header .source .source-line").length)`, "7")
	p.want(`String(new Set([...document.querySelectorAll("header .source .source-line")].map(l => l.getBoundingClientRect().top)).size)`, "7")
	p.want(`String(document.querySelector(".source b"))`, "null")
	accessible(t, strings.TrimPrefix(p.url, "file://"))
}
