package command

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/internal/quantity"
)

// Variables of the environment that debuginfod's clients read.
const (
	cachePath         = "DEBUGINFOD_CACHE_PATH"
	debuginfodTimeout = "DEBUGINFOD_TIMEOUT"
)

// SearchFlags say where debug files are looked for.
type SearchFlags struct {
	DebugDir []string `name:"debug-dir" sep:"none" placeholder:"DIR" help:"Look for separate debug files in DIR. May be repeated. Default: /usr/lib/debug, or usr/lib/debug of each --sysroot."`
	Sysroot  []string `name:"sysroot" sep:"none" placeholder:"DIR" help:"Use DIR as the root directory: look for debug files in its usr/lib/debug, and for absolute paths below it. May be repeated."`
}

// Search returns the places, or an error about a directory that does not exist.
func (f *SearchFlags) Search() (companion.Search, error) {
	err := cmp.Or(Directories("--debug-dir", f.DebugDir), Directories("--sysroot", f.Sysroot))
	return companion.Search{DebugDirs: f.DebugDir, Sysroots: f.Sysroot}, err
}

// Servers returns the client of the debuginfod servers that the environment names, or nil if it names none. Its
// messages, and unless quiet the progress of its downloads, go to m.
func (m *Messages) Servers(quiet bool) (*debuginfod.Client, error) {
	client, err := debuginfod.FromEnv()
	if client == nil {
		return nil, err
	}
	if !quiet {
		// A debuginfod URL ends in the build id and the kind of the file.
		client.Progress = func(p debuginfod.Progress) { m.Downloading(path.Dir(p.URL), p.Done, p.Total) }
	}
	client.Uncached = m.Uncached(cachePath)
	client.Waiting = m.Waiting(debuginfodTimeout)
	return client, err
}

// Downloading shows in the status line how far a download is. total is 0 if it is unknown.
func (m *Messages) Downloading(url string, done, total int64) {
	url, _, _ = strings.Cut(url, "?") // the query is not part of the file's name
	line := fmt.Sprintf("downloading %q: %s", cut(path.Base(url)), quantity.Bytes(done))
	if total > 0 {
		line += " of " + quantity.Bytes(total)
	}
	m.Draw(line)
	if done == total {
		m.Erase()
	}
}

// Loading shows in the status line what is being loaded.
func (m *Messages) Loading(what, name string) {
	m.Draw(fmt.Sprintf("loading %s of %q", what, cut(name)))
}

// cut bounds the length of a name in the status line.
func cut(name string) string { return name[:min(len(name), 60)] }

// Uncached returns a function that says once that files from servers are used and not kept, and what gives them a
// directory.
func (m *Messages) Uncached(with string) func(reason error) {
	return func(reason error) {
		m.uncached.Do(func() {
			Line(m, "%s: warning: files from servers are not kept for the next run: %v; give a directory with %s", m.program, reason, with)
		})
	}
}

// Waiting returns a function that says that a server has sent nothing for some time, and after which time the program
// gives up, which a variable of the environment sets; empty: none does.
func (m *Messages) Waiting(variable string) func(server string, waited, timeout time.Duration) {
	return func(server string, waited, timeout time.Duration) {
		limit := "as long as it takes"
		if timeout > 0 {
			limit = "at most " + timeout.String()
		}
		if variable != "" {
			limit = fmt.Sprintf("%s (%s)", limit, variable)
		}
		Line(m, "%s: waiting for %s, %.3g s so far, %s", m.program, server, waited.Seconds(), limit)
	}
}
