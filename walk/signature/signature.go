// Package signature makes crash signatures by the rules of Socorro's signature generation,
// which siggen publishes. A signature is one line of text that crashes with the same cause
// share. It is made of the first significant frames of the crashed thread and of the
// crash's annotations.
//
//	result, err := walk.Walk(ctx, process, symbols, walk.Options{})
//	if err != nil {
//		return err
//	}
//	s, ok := signature.Of(result, nil, nil)
//	fmt.Println(s.Text, ok)
package signature

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// crash is the input of a signature.
type crash struct {
	OS      string // as in rust-minidump's schema: "Windows NT", "Linux", ...
	Reason  string // of the crash; empty: unknown
	Threads []thread
	Crashed int // index of the thread that crashed; 0 if unknown

	Annotations Annotations
}

// Annotations are the values that the program itself wrote into the crash report. A nil or
// empty value is a missing annotation.
type Annotations struct {
	AbortMessage         string
	AsyncShutdownTimeout string // JSON
	Hang                 *string
	IPCChannelError      string
	IPCMessageName       string
	JavaException        json.RawMessage
	JavaStackTrace       string
	LargeAllocation      string // "Reporting": an allocation of JavaScript's engine failed
	OOMAllocationSize    *int64 // in bytes
	AdditionalMinidumps  []string
	StackwalkerStatus    string
}

// Signature is a crash signature.
type Signature struct {
	// Text is the signature.
	Text string
	// Proto has the first 40 frames as the signature would show them; empty if there are
	// no frames.
	Proto string
}

// maxLength bounds a signature, in characters.
const maxLength = 255

// generator applies the rules in their order, each to the signature so far.
type generator struct {
	lists *Lists
	crash *crash
	Signature
}

// generate returns the signature of a crash.
func generate(l *Lists, c *crash) Signature {
	g := &generator{lists: l, crash: c}
	g.stack(c.Crashed)
	if c.Annotations.StackwalkerStatus != "" && strings.HasPrefix(g.Text, "EMPTY") {
		g.Text += "; " + c.Annotations.StackwalkerStatus
	}
	if strings.Contains(c.Reason, "STATUS_DEVICE_DATA_ERROR") {
		g.Text = "bad hardware | " + g.Text
	}
	g.outOfMemory()
	g.abort()
	g.shutdownTimeout()

	// A thread that watches the shutdown crashes when the main thread is stuck.
	if strings.Contains(g.Text, "RunWatchdog") {
		g.stack(0)
		g.Text = "shutdownhang | " + g.Text
	}
	g.ipc()
	if c.Reason == "EXCEPTION_STACK_OVERFLOW" {
		g.Text = "stackoverflow | " + g.Text
	}
	if c.Annotations.Hang != nil {
		g.Text = "hang: " + *c.Annotations.Hang + " | " + g.Text
	}

	g.Text = oneLine(g.Text)
	if text := []rune(g.Text); len(text) > maxLength {
		g.Text = string(text[:maxLength-3]) + "..."
	}
	return g.Signature
}

// stack sets the signature of a thread's stack, or of a Java exception. at is the index of
// the thread.
func (g *generator) stack(at int) {
	switch a := &g.crash.Annotations; {
	case a.JavaStackTrace != "":
		g.Text = javaStack(a.JavaStackTrace)
		return
	case len(a.JavaException) > 0:
		g.Text = javaException(a.JavaException)
		return
	}

	var t thread
	if at >= 0 && at < len(g.crash.Threads) {
		t = g.crash.Threads[at]
	}
	frames, err := g.lists.frames(&t, g.crash.OS == "Windows NT")
	if err != nil {
		return // the signature is unchanged
	}
	text := g.lists.ofStack(frames)
	if len(frames) > 0 {
		g.Proto = strings.Join(frames, " | ")
	}
	if text != "" {
		g.Text = text
	}
}

// outOfMemory marks crashes because an allocation failed.
func (g *generator) outOfMemory() {
	a := &g.crash.Annotations
	if !g.isOutOfMemory() {
		return
	}
	switch {
	case a.LargeAllocation == "Reporting":
		g.Text = "OOM | large | " + g.Text
	case a.OOMAllocationSize == nil:
		g.Text = "OOM | unknown | " + g.Text
	case *a.OOMAllocationSize <= 256<<10:
		g.Text = "OOM | small"
	default:
		g.Text = "OOM | large | " + g.Text
	}
}

// isOutOfMemory reports whether an allocation failed.
func (g *generator) isOutOfMemory() bool {
	c := g.crash
	if size := c.Annotations.OOMAllocationSize; size != nil && *size != 0 {
		return true
	}
	if g.Text == "" {
		return false
	}

	// Functions that end the process when there is no memory.
	for _, f := range []string{"NS_ABORT_OOM", "mozalloc_handle_oom", "CrashAtUnhandlableOOM", "AutoEnterOOMUnsafeRegion", "alloc::oom::oom"} {
		if strings.Contains(g.Text, f) {
			return true
		}
	}
	if i := c.Crashed; i >= 0 && i < len(c.Threads) {
		last := c.Threads[i].LastError
		if last == "ERROR_COMMITMENT_LIMIT" || last == "ERROR_NOT_ENOUGH_MEMORY" {
			return true
		}
	}
	return c.Reason == "STATUS_FATAL_MEMORY_EXHAUSTION" || c.Reason == "STATUS_NO_MEMORY" || c.Annotations.LargeAllocation == "Reporting"
}

// abort adds the message of an abort.
func (g *generator) abort() {
	message := g.crash.Annotations.AbortMessage
	if message == "" {
		return
	}
	if strings.Contains(message, "###!!! ABORT: file ") {
		g.Text = "Abort | " + g.Text // a message without text of its own
		return
	}

	// Only the message itself stays, without the place in the source.
	if _, rest, ok := strings.Cut(message, "###!!! ABORT:"); ok {
		message = rest
	}
	message, _, _ = strings.Cut(message, ": file ")
	if strings.Contains(message, "unable to find a usable font") {
		// The text in parentheses is in the user's language.
		open, end := strings.IndexByte(message, '('), strings.LastIndexByte(message, ')')
		if open >= 0 && end >= 0 {
			message = message[:open] + message[end+1:]
		}
	}

	message = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, message)
	message = strings.Trim(message, " ")
	if len(message) > 80 {
		message = message[:77] + "..."
	}
	g.Text = "Abort | " + message + " | " + g.Text
}

// shutdownTimeout replaces the signature by the condition that a shutdown waited for.
func (g *generator) shutdownTimeout() {
	annotation := g.crash.Annotations.AsyncShutdownTimeout
	if annotation == "" {
		return
	}

	parts := []string{"AsyncShutdownTimeout"}
	var value any
	err := json.Unmarshal([]byte(annotation), &value)
	if err != nil {
		g.Text = strings.Join(append(parts, "UNKNOWN"), " | ")
		return
	}
	object, ok := value.(map[string]any)
	if !ok {
		return
	}

	phase, ok := object["phase"].(string)
	if !ok {
		phase = "(unknown)"
	}
	parts = append(parts, phase)
	names, err := conditions(object["conditions"])
	switch {
	case err != nil:
		parts = append(parts, "UNKNOWN")
	case len(names) == 0:
		parts = append(parts, "(none)")
	default:
		parts = append(parts, strings.Join(names, ","))
	}
	g.Text = strings.Join(parts, " | ")
}

// conditions returns the names of the conditions that a shutdown waited for, sorted. Each is
// a name or an object that has one.
func conditions(value any) ([]string, error) {
	list, _ := value.([]any)
	var names []string
	for _, c := range list {
		if object, ok := c.(map[string]any); ok {
			name, ok := object["name"]
			if !ok {
				return nil, fmt.Errorf("a condition without a name")
			}
			c = name
		}
		names = append(names, plain(c))
	}
	sort.Strings(names)
	return names, nil
}

// plain returns a value of JSON as Python prints it.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	return fmt.Sprint(value)
}

// ipc adds the error of a message between two processes.
func (g *generator) ipc() {
	a := &g.crash.Annotations
	if a.IPCChannelError != "" {
		process := "content"
		if slices.Contains(a.AdditionalMinidumps, "upload_file_minidump_browser") {
			process = "browser"
		}
		text := []rune(a.IPCChannelError)
		g.Text = "IPCError-" + process + " | " + string(text[:min(len(text), 100)])
	}
	if a.IPCMessageName != "" {
		g.Text += " | IPC_Message_Name=" + a.IPCMessageName
	}
}

// severalSpaces is two spaces or more.
var severalSpaces = regexp.MustCompile(`  +`)

// oneLine makes each run of white space a space and removes it at both ends.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if isSpace(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Trim(severalSpaces.ReplaceAllString(s, " "), " ")
}
