package report

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"symkit/walk"
)

// trustView explains a walk.Trust.
type trustView struct {
	Key   string // as in JSON
	Label string // in a frame
	Class string // of the style sheet: sure, fair, weak
	Words string
	Why   string
}

// trustViews are the explanations, by walk.Trust.
var trustViews = [...]trustView{
	walk.TrustScan: {Label: "scan", Class: "weak", Why: "A word of the stack looks like a return address: it points into code after a call. " +
		"It can be left over from an earlier call, so the frame may be wrong."},
	walk.TrustCFIScan: {Label: "rules, scan", Class: "weak", Why: "Unwind rules tell roughly where the return address is, and a word near there looks like one."},
	walk.TrustListed:  {Label: "listed", Class: "fair", Why: "The program that wrote the dump found this frame when the process was still there."},
	walk.TrustFramePointer: {Label: "frame pointer", Class: "fair", Why: "The frame pointer leads to the caller's frame. " +
		"Right for code that keeps a frame pointer, which most of the code here seems to do."},
	walk.TrustCode: {Label: "machine code", Class: "fair", Why: "The function's instructions were followed: what they push and reserve tells where the return address is."},
	walk.TrustLeaf: {Label: "link register", Class: "fair", Why: "The function has called nothing yet: the return address is still in the link register, " +
		"or is the word that the call has just pushed."},
	walk.TrustSignal:  {Label: "signal frame", Class: "sure", Why: "The kernel saved these registers when a signal interrupted the program."},
	walk.TrustCFI:     {Label: "unwind rules", Class: "sure", Why: "The compiler's unwind rules for this address tell where the return address is."},
	walk.TrustContext: {Label: "registers", Class: "sure", Why: "These are the thread's own registers from the dump."},
}

// trustOf returns the explanation of t.
func trustOf(t walk.Trust) *trustView {
	v := trustViews[t]
	v.Key, v.Words = t.Key(), t.String()
	return &v
}

// trusts lists all explanations, the most certain first. That of listed frames is for dumps that list frames.
func trusts(p *walk.Process) (out []trustView) {
	lists := slices.ContainsFunc(p.Threads, func(t walk.Thread) bool { return len(t.Listed) > 0 })
	for t := len(trustViews) - 1; t >= 0; t-- {
		if walk.Trust(t) != walk.TrustListed || lists {
			out = append(out, *trustOf(walk.Trust(t)))
		}
	}
	return out
}

// CheckSourceLink returns an error if a value of PageOptions.SourceLink cannot be the URL
// of a line. Schemes that run code are no URLs of source code.
func CheckSourceLink(link string) error {
	u, err := url.Parse(strings.NewReplacer("{path}", "p", "{line}", "1").Replace(link))
	if err != nil {
		return err
	}

	switch u.Scheme {
	case "http", "https", "file", "vscode", "vscodium":
	default:
		return fmt.Errorf("%s: the URL must begin with https://, http://, file:// or vscode://", link)
	}
	if !strings.Contains(link, "{path}") {
		return fmt.Errorf("%s: {path} must be where the path of the source file goes, as in https://host/{path}#L{line}", link)
	}
	return nil
}

// sourceLink returns the URL of a line of source code, empty if there is none. Each part of
// the path is escaped.
func sourceLink(link, path string, line uint32) string {
	if link == "" || path == "" || len(path) > 1024 {
		return ""
	}
	parts := strings.Split(strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "/"), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.NewReplacer("{path}", strings.Join(parts, "/"), "{line}", strconv.FormatUint(uint64(line), 10)).Replace(link)
}
