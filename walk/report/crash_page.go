package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"symkit/internal/page"
	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// The page of a crash is made from the objects of the JSON document, so that both show the
// same values. The page adds registers, memory and the map of the address space.

var (
	//go:embed crash.html
	crashHTML string
	//go:embed crash.css
	crashStyle string

	crashTemplate = page.NewTemplate(crashHTML)
)

// PageOptions selects the content of the page.
type PageOptions struct {
	// Generator is the program and its version.
	Generator string
	// SourceLink is the URL of a line of source code, with {path} and {line} in it. If
	// SourceLink is empty, there are no links.
	SourceLink string
	// Dump is the path of the dump.
	Dump string
	// Sources are the source files at hand, of which the lines around each frame are shown.
	Sources Sources
}

// HTML writes a result as one page. The page has the stacks that fit into a bounded size,
// and states how many frames were left out.
func HTML(out io.Writer, r *walk.Result, opt PageOptions) error {
	doc := page.Document{Generator: opt.Generator, Style: crashStyle, Body: crashTemplate}
	b := newPageBuilder(r, opt)
	view := b.crash()
	doc.Title, doc.Values = view.Title, view
	return doc.Write(out)
}

// crashView is the data of the template of a crash.
type crashView struct {
	Title, Generator, Dump string
	*jsonReport
	Program string
	Reason  string
	Address string
	// Signature is the crash signature, empty if there is none.
	Signature string
	Fault     string   // where the address of the fault is, in words
	Place     *rowView // where the crash happened, or nil
	Facts     []factView
	Crashed   *groupView
	Others    []*groupView
	Contents  []partView
	Modules   []moduleView
	Space     []clusterView
	Kinds     []kindView // of the regions of Space
	Trusts    []trustView
	Text      string // the crash and its stack as text
	Left      int    // frames that the page does not have
	// LeftThreads and LeftModules are the numbers of threads and modules that the page does
	// not have.
	LeftThreads, LeftModules int
	Searched                 int // modules whose symbols were looked for and not found
}

// partView is an entry of the table of contents.
type partView struct{ ID, Name string }

// contents lists the parts of a page with several stacks or a long one.
func (v *crashView) contents() (out []partView) {
	if len(v.Others) == 0 && (v.Crashed == nil || len(v.Crashed.Chunks.Tail()) == 0) {
		return nil
	}
	for _, part := range []struct {
		id, name string
		has      bool
	}{
		{"stacks", "Crashed thread", v.Crashed != nil}, {"others", "Threads", len(v.Others) > 0},
		{"space", "Address space", len(v.Space) > 0}, {"modules", "Modules", len(v.Modules) > 0}, {"trust", "How frames are found", true},
	} {
		if part.has {
			out = append(out, partView{part.id, part.name})
		}
	}
	return out
}

// factView is one fact about the process.
type factView struct {
	Name, Value string
	Wide        bool // a line of its own
}

// moduleView is a module of the table.
type moduleView struct {
	*jsonModule
	Frames int // of the crashed thread
	All    int // of all threads
	Size   uint64
	Symbol string // the state of the symbols, in words
	Class  string
	Main   bool
}

// pageBuilder builds the values of one page.
type pageBuilder struct {
	r      *walk.Result
	opt    PageOptions
	json   *jsonWriter
	number map[*walk.Thread]int
	budget int // bytes that are left for frames
	detail int // frames that may still have details
	left   int // frames that did not fit
}

// Limits of a page: the bytes of all frames, and how many frames have details, because
// a browser needs more time for a frame with details than for ten without.
const (
	maxPageBytes   = 14 << 20
	maxPageDetails = 800
	maxPageGroups  = 2000 // of threads
	maxPageModules = 4000
)

func newPageBuilder(r *walk.Result, opt PageOptions) *pageBuilder {
	return &pageBuilder{r: r, opt: opt, number: shown.Numbers(r.Process), budget: maxPageBytes, detail: maxPageDetails,
		json: &jsonWriter{r: r, unloaded: shown.NewUnloaded(r.Process.Facts.Unloaded)}}
}

// crash returns the values of the page.
func (b *pageBuilder) crash() *crashView {
	p := b.r.Process
	v := &crashView{jsonReport: b.json.report(), Generator: b.opt.Generator, Dump: walk.BaseName(b.opt.Dump), Program: cmp.Or(p.Name, "a process"),
		Reason: p.Crash.Reason, Trusts: trusts(p)}
	if p.Main != nil {
		v.Program = p.Main.File()
	}
	if p.Crash.HasAddress {
		v.Address = fmt.Sprintf("%#x", p.Crash.Address)
	}

	v.Signature = p.Facts.Signature

	// The crashed stack gets the first share of the page.
	if i := b.r.Crashed(); i >= 0 {
		v.Crashed = b.group([]*walk.Stack{&b.r.Stacks[i]}, true)
		if len(v.Crashed.Chunks) > 0 {
			v.Place = v.Crashed.top()
		}
	}
	for i, stacks := range equalStacks(b.r) {
		if i < maxPageGroups {
			v.Others = append(v.Others, b.group(stacks, false))
		} else {
			v.LeftThreads += len(stacks)
		}
	}
	v.Left = b.left

	v.Facts = b.facts(v)
	v.Modules, v.Searched = b.modules(v.jsonReport)
	if n := len(v.Modules); n > maxPageModules {
		v.Modules, v.LeftModules = v.Modules[:maxPageModules], n-maxPageModules
	}
	regions := b.regions()
	v.Space, v.Kinds = b.space(regions)
	v.Fault = b.fault(regions)
	v.Contents = v.contents()
	v.Text = b.text()
	v.Title = b.title(v)
	return v
}

// title names the crash in a browser's tab.
func (b *pageBuilder) title(v *crashView) string {
	title := cmp.Or(v.Reason, "Stacks")
	if v.Place != nil {
		title += " in " + v.Place.Func
	}
	return title + " – " + v.Program
}

// facts lists the facts about the process. A command that is only the program's name is
// left out, and so is an unknown graphics card.
func (b *pageBuilder) facts(v *crashView) (out []factView) {
	p, f := b.r.Process, &b.r.Process.Facts
	add := func(name, value string) {
		if value != "" {
			out = append(out, factView{Name: name, Value: value})
		}
	}
	if p.PID != 0 {
		add("Process", fmt.Sprint(p.PID))
	}

	if p.Crashed >= 0 {
		t := &p.Threads[p.Crashed]
		add("Thread", strings.TrimSpace(fmt.Sprint(t.ID, " ", t.Name)))
	}
	add("System", strings.TrimSpace(p.OS+" "+p.OSVersion))
	machine := strings.TrimSpace(p.CPU + " " + f.CPUInfo)
	if f.CPUs > 0 {
		machine += ", " + quantity.Count(f.CPUs, "processor", "processors")
	}
	add("Machine", machine)
	if f.GPU != "UNKNOWN" {
		add("Graphics", f.GPU)
	}
	if f.HasUptime {
		add("Uptime", quantity.Count(f.Uptime, "second", "seconds"))
	}
	if p.Crash.Sender != 0 && p.Crash.Sender != p.PID {
		add("Signal sent by", fmt.Sprintf("process %d", p.Crash.Sender))
	}
	add("Stacks", b.counts(v))
	for _, wide := range []factView{{Name: "Command", Value: p.Args}, {Name: "Assertion", Value: f.Assertion}} {
		if wide.Value != "" && wide.Value != v.Program {
			wide.Wide = true
			out = append(out, wide)
		}
	}
	return out
}

// counts returns the numbers of threads, frames and different stacks, in words.
func (b *pageBuilder) counts(v *crashView) string {
	frames := 0
	for i := range b.r.Stacks {
		frames += len(b.r.Stacks[i].Frames)
	}

	text := quantity.Count(len(b.r.Stacks), "thread", "threads") + ", " + quantity.Count(frames, "frame", "frames")
	different := len(v.Others)
	if v.Crashed != nil {
		different++
	}
	if v.LeftThreads == 0 && different > 1 && different < len(b.r.Stacks) {
		text += ", " + quantity.Count(different, "different stack", "different stacks")
	}
	return text
}

// maxTextFrames bounds the frames of the text to copy.
const maxTextFrames = 200

// text returns the crash and its stack as Text writes them.
func (b *pageBuilder) text() string {
	var out bytes.Buffer
	short := *b.r
	short.Stacks = nil
	if i := b.r.Crashed(); i >= 0 {
		s := b.r.Stacks[i]
		if n := len(s.Frames); n > maxTextFrames {
			s.Frames = s.Frames[:maxTextFrames]
			s.Complete, s.End = false, quantity.Count(n-maxTextFrames, "more frame", "more frames")
		}
		short.Stacks = []walk.Stack{s}
	}
	if err := Text(&out, &short, TextOptions{Brief: true}); err != nil {
		return err.Error()
	}

	const most = 256 << 10 // of names of megabytes
	return string(out.Bytes()[:min(out.Len(), most)])
}

// modules returns the rows of the table of modules, and how many modules of stacks have no
// symbols.
func (b *pageBuilder) modules(j *jsonReport) (out []moduleView, without int) {
	crashed, all := map[*walk.Module]int{}, map[*walk.Module]int{}
	first := b.r.Crashed()
	for i := range b.r.Stacks {
		for k := range b.r.Stacks[i].Frames {
			m := b.r.Stacks[i].Frames[k].Module
			all[m]++
			if i == first {
				crashed[m]++
			}
		}
	}

	// The JSON has the modules in the order of the dump.
	for i, known := range inDumpOrder(b.r) {
		m := known.Module
		v := moduleView{jsonModule: &j.Modules[i], Frames: crashed[m], All: all[m], Size: m.End - m.Base, Main: m == b.r.Process.Main}
		switch {
		case v.Loaded && v.Corrupt:
			v.Symbol, v.Class = "loaded, with damaged lines", "warn"
		case v.Loaded:
			v.Symbol = "loaded"
		case v.Missing:
			v.Symbol, v.Class = "not found", "bad"
			without++
		case all[m] > 0:
			v.Symbol, v.Class = "none given", "bad"
			without++
		default:
			v.Symbol, v.Class = "in no stack", "soft"
		}
		out = append(out, v)
	}
	return out, without
}
