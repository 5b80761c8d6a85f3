// Package pages tests the pages that the programs write in headless Chromium. It is a Go module
// of its own, so that symkit does not depend on a browser's driver. `make pages` runs the tests.
package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is the one browser of all tests.
var browser context.Context

// programs is the directory of the built programs, from the environment.
var programs string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run starts the browser and runs the tests.
func run(m *testing.M) int {
	temp, err := os.MkdirTemp("", "pages")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(temp)
	programs, err = filepath.Abs(os.Getenv("PROGRAMS"))
	if err != nil || os.Getenv("PROGRAMS") == "" {
		fmt.Fprintln(os.Stderr, "PROGRAMS must name the directory of the built programs: run make pages")
		return 1
	}

	// The browser must not go to the network by itself either.
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(filepath.Join(temp, "profile")),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 1000), chromedp.WSURLReadTimeout(2*time.Minute))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "chromium does not start: %v\n", err)
		return 1
	}
	browser = ctx
	return m.Run()
}

// chromium returns the path of the browser.
func chromium() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "chromium"
}

// tab is an open page.
type tab struct {
	t    *testing.T
	ctx  context.Context
	url  string
	open float64 // milliseconds from the start of the navigation to the end of the load event
	work float64 // milliseconds of processor time that the page's thread took for that

	mu       sync.Mutex
	problems []string
}

// problem notes what a page must not do.
func (p *tab) problem(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// open opens a file. At the end of the test the page must have made no request but that for the file,
// written no message to the console, and opened no dialog.
func open(t *testing.T, path string, before ...chromedp.Action) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, url: "file://" + path}
	chromedp.ListenTarget(ctx, p.event)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i, problem := range p.problems {
			if i < 10 {
				t.Errorf("%s: %s", filepath.Base(path), problem)
			}
		}
	})

	// The first Run makes the tab, which ends with the context of that Run.
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	actions := append([]chromedp.Action{network.Enable(), log.Enable(), runtime.Enable(), performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks)}, before...)
	p.do(append(actions, chromedp.Navigate(p.url))...)
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		metrics, err := performance.GetMetrics().Do(ctx)
		for _, m := range metrics {
			if m.Name == "TaskDuration" {
				p.work = 1000 * m.Value
			}
		}
		return err
	}))
	p.eval(`performance.getEntriesByType("navigation")[0].loadEventEnd`, &p.open)
	return p
}

// event notes events that are problems.
func (p *tab) event(e any) {
	switch e := e.(type) {
	case *network.EventRequestWillBeSent:
		if strings.SplitN(e.Request.URL, "#", 2)[0] != p.url {
			p.problem("request of %s", e.Request.URL)
		}
	case *runtime.EventConsoleAPICalled:
		p.problem("console: %s %v", e.Type, e.Args)
	case *runtime.EventExceptionThrown:
		p.problem("exception: %v", e.ExceptionDetails)
	case *log.EventEntryAdded:
		p.problem("log: %s %s", e.Entry.Source, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		p.problem("dialog: %s", e.Message)
		go chromedp.Run(p.ctx, page.HandleJavaScriptDialog(true))
	}
}

// do runs actions. The limit of time is for a page that hangs.
func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatalf("%s: %v", p.url, err)
	}
}

// eval stores the value of an expression, or of the promise that it is, in out.
func (p *tab) eval(js string, out any) {
	p.t.Helper()
	var text string
	wait := func(params *runtime.EvaluateParams) *runtime.EvaluateParams { return params.WithAwaitPromise(true) }
	p.do(chromedp.Evaluate("(async () => JSON.stringify(await ("+js+")))()", &text, wait))
	if err := json.Unmarshal([]byte(text), out); err != nil {
		p.t.Fatalf("%s: %q: %v", js, text, err)
	}
}

// text returns the value of an expression as a string.
func (p *tab) text(js string) (out string) {
	p.t.Helper()
	p.eval("String("+js+")", &out)
	return out
}

// number returns the value of an expression as a number.
func (p *tab) number(js string) (out float64) {
	p.t.Helper()
	p.eval(js, &out)
	return out
}

// want fails the test unless an expression has a value.
func (p *tab) want(js, want string) {
	p.t.Helper()
	if got := p.text(js); got != want {
		p.t.Errorf("%s: %q, want %q", js, got, want)
	}
}

// eventually waits for an expression to be true.
func (p *tab) eventually(js string) {
	p.t.Helper()
	for range 100 {
		var ok bool
		p.eval("!!("+js+")", &ok)
		if ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Errorf("%s does not become true", js)
}

// scheme makes the page light or dark.
func scheme(name string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}})
}

// bounds checks the size of a page, and the time that the browser works until the page is open. The time
// is that of a processor, because other programs may run at the same time.
func bounds(t *testing.T, path string) {
	t.Helper()
	const maxBytes, maxWork = 20_000_000, 2000
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBytes {
		t.Errorf("%s has %d bytes, want at most %d", path, info.Size(), maxBytes)
	}

	p := open(t, path)
	t.Logf("%s: %d bytes, open after %.0f ms, %.0f ms of processor time", filepath.Base(path), info.Size(), p.open, p.work)
	if p.work > maxWork || p.work == 0 {
		t.Errorf("opening %s takes %.0f ms of processor time, want at most %d", path, p.work, maxWork)
	}
}

// fits checks that a page is as wide as a phone or a large window, with everything unfolded too: wide
// tables scroll on their own.
func fits(t *testing.T, path string) {
	t.Helper()
	for _, width := range []int64{400, 1400} {
		p := open(t, path, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 600))
		for _, unfold := range []bool{false, true} {
			if unfold {
				p.text(unfoldAll)
			}
			if got := int64(p.number(`document.documentElement.scrollWidth`)); got > width {
				t.Errorf("%s, unfolded %v: %d pixels wide in a window of %d: %s", filepath.Base(path), unfold, got, width,
					p.text(fmt.Sprintf(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %d && !e.closest(".scroll, pre")).slice(0, 3).map(e => e.outerHTML.slice(0, 150)).join(" ")`, width)))
			}
		}
	}
}

// unfoldAll unfolds the first details of a page.
const unfoldAll = `document.querySelectorAll("details").forEach((d, i) => { if (i < 60) d.open = true; })`

// printable checks that everything is unfolded while a page is printed, but for what is there on demand
// only, that heads of tables have no buttons then (browsers do not repeat these on each sheet), and that
// the page is as before afterwards.
func printable(t *testing.T, path string) {
	t.Helper()
	p := open(t, path)
	state := `[document.querySelectorAll("details[open]").length, document.querySelectorAll("th button").length].join(" ")`
	before := p.text(state)
	p.text(`dispatchEvent(new Event("beforeprint"))`)
	p.want(`document.querySelectorAll("details.fold:not([open]):not(.no-print), th button").length`, "0")
	p.text(`dispatchEvent(new Event("afterprint"))`)
	p.want(state, before)
}

// accessible runs axe-core on a page in both colour schemes, with everything unfolded too, and checks that
// the page fits into windows and on paper.
func accessible(t *testing.T, path string) {
	t.Helper()
	fits(t, path)
	printable(t, path)
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		t.Fatalf("AXE must name axe.min.js of axe-core: %v", err)
	}
	for _, name := range []string{"light", "dark"} {
		for _, unfold := range []bool{false, true} {
			p := open(t, path, scheme(name))
			if unfold {
				p.text(unfoldAll)
			}
			p.do(chromedp.Evaluate(string(axe), nil))
			var found []struct {
				ID, Help string
				Nodes    []struct {
					HTML           string
					FailureSummary string
				}
			}
			p.eval(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations)`, &found)
			for _, v := range found {
				t.Errorf("%s, %s, unfolded %v: %s: %s: %d elements, the first: %.300s %.300s", filepath.Base(path), name, unfold, v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
			}
		}
	}
}

// program runs one of the programs, which must end with one of the exit codes, and returns its output.
func program(t *testing.T, name string, args []string, codes ...int) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs, name), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	code := cmd.ProcessState.ExitCode()
	for _, c := range append(codes, 0) {
		if code == c {
			return out
		}
	}
	t.Fatalf("%s %v: %v: %s", name, args, err, &stderr)
	return nil
}

// write writes a file into a temporary directory and returns its path.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
