// Package gate decides whether a symbol server keeps a symbol file that it is sent. It takes values and gives a
// Decision: it opens no file and makes no request.
//
//	d, err := gate.Decide(ctx, gate.Input{Key: gate.Key{Name: "app", ID: "9393B68C623AA7237971790E89F1DBA90"}, Sym: sym, Accept: gate.Lint})
//	if err != nil {
//		return err
//	}
//	fmt.Println(d.Verdict, d.Why)
package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"symkit/check"
	"symkit/check/lint"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/emit"
	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/internal/printable"
)

// Accept says what a symbol file must be to be kept. Each includes those before.
type Accept string

// What a symbol file must be.
const (
	Any   Accept = "any"   // of the module whose name and id the client gives
	Lint  Accept = "lint"  // well formed: package check/lint has no findings
	Check Accept = "check" // true, as far as there is an ELF file to compare with: package check has no findings
)

// Verdict is what becomes of a symbol file.
type Verdict string

// The verdicts.
const (
	New     Verdict = "new"     // kept: the store has none of this module
	Better  Verdict = "better"  // kept in the place of the one in the store
	Same    Verdict = "same"    // the store has the same bytes
	Worse   Verdict = "worse"   // the one in the store stays
	Refused Verdict = "refused" // it is not what the client says, or it is wrong
	Refuted Verdict = "refuted" // an ELF file that came later shows that it is wrong: it is not in the store any more
)

// Key is the name and the id that a client gives for a module.
type Key struct{ Name, ID string }

// ELF is the module that a symbol file is compared with.
type ELF struct {
	Image      *elfx.Image
	Companions *companion.Companions
	From       string // where it is from, in words
}

// Input is what Decide needs to know.
type Input struct {
	Key    Key
	Sym    []byte // the symbol file; mapped files are read under mem.Guard
	Accept Accept
	ELF    *ELF   // nil if there is none
	Stored []byte // the symbol file that the store has, nil if it has none
}

// Decision is what becomes of a symbol file, and why.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	// Why is a sentence for the person who sent the file.
	Why string `json:"why"`
	// Against is where the ELF file is from that the symbol file was compared with; empty if there was none.
	Against string `json:"against,omitempty"`
	// Total is the number of findings, of which Findings has the first.
	Total uint64 `json:"total_findings,omitempty"`
	// Incomplete states that all findings are about what the file lacks.
	Incomplete bool     `json:"incomplete,omitempty"`
	Findings   []string `json:"findings,omitempty"`
}

// Stored reports whether the symbol file is to be put into the store.
func (d *Decision) Stored() bool { return d.Verdict == New || d.Verdict == Better }

// Decide decides about a symbol file. The error is that of ctx, or of a file that changed while it was read.
func Decide(ctx context.Context, in Input) (d Decision, err error) {
	changed := mem.Guard(func() error {
		d, err = decide(ctx, in)
		return nil
	})
	return d, errors.Join(err, changed)
}

func decide(ctx context.Context, in Input) (Decision, error) {
	d, ok := identify(in.Key, in.Sym)
	if !ok {
		return d, nil
	}
	if in.Stored != nil && bytes.Equal(in.Sym, in.Stored) {
		return Decision{Verdict: Same, Why: "the store has this file"}, nil
	}

	d, err := examine(ctx, in)
	if err != nil || d.Verdict == Refused {
		return d, err
	}
	if in.Stored == nil {
		d.Verdict = New
		if d.Why == "" {
			d.Why = "the store had no symbol file of this module"
		}
		return d, nil
	}
	d.Verdict, d.Why, err = compare(ctx, in.Sym, in.Stored)
	if err != nil || d.Verdict != Worse || in.Accept == Any {
		return d, err
	}
	// A file that would be refused loses to one that is right, however much it says.
	stored, err := examine(ctx, Input{Sym: in.Stored, Accept: in.Accept, ELF: in.ELF})
	if err == nil && stored.Verdict == Refused {
		d.Verdict, d.Why = Better, "the symbol file in the store would be refused: "+stored.Why
	}
	return d, err
}

// maxHead bounds the first lines of a symbol file that Read reads, in bytes.
const maxHead = 128 << 10

// Module is what the first lines of a symbol file say about its module.
type Module struct {
	Name, ID         string // of the MODULE record
	CodeFile, CodeID string // of the record INFO CODE_ID; empty if there is none
}

// Read reads the first lines of a symbol file. ok is false if the first one is no MODULE record.
func Read(sym []byte) (m Module, ok bool) {
	for line := range bytes.Lines(sym[:min(len(sym), maxHead)]) {
		text := strings.TrimRight(string(line), "\r\n")
		fields := strings.Fields(text)
		switch {
		case !ok && len(fields) >= 5 && fields[0] == "MODULE" && len(line) > len(text):
			m.ID, m.Name, ok = fields[3], after(text, 4), true // the name may have spaces
		case !ok || len(fields) < 2 || fields[0] != "INFO":
			return m, ok
		case fields[1] == emit.KeyCodeID && len(fields) > 2:
			m.CodeID, m.CodeFile = fields[2], after(text, 3)
			return m, ok
		}
	}
	return m, ok
}

// after returns the text after the first n words.
func after(text string, n int) string {
	for range n {
		text = strings.TrimSpace(text)
		text = text[max(strings.IndexFunc(text, unicode.IsSpace), 0):]
	}
	return strings.TrimSpace(text)
}

// identify compares the key with the MODULE record.
func identify(key Key, sym []byte) (d Decision, ok bool) {
	m, ok := Read(sym)
	switch {
	case !ok:
		return refused("the first line is no MODULE record: this is no symbol file, or it lacks its beginning"), false
	case !strings.EqualFold(m.ID, key.ID):
		return refused("the id in the request is %s, but the MODULE record has %s: send the file as %s/%s", key.ID, m.ID, m.Name, m.ID), false
	case filename.Escape(m.Name) != filename.Escape(key.Name):
		return refused("the name in the request is %s, but the MODULE record has %s: send the file as %s/%s", key.Name, m.Name, m.Name, m.ID), false
	}
	return d, true
}

func refused(format string, args ...any) Decision {
	return Decision{Verdict: Refused, Why: printable.String(fmt.Sprintf(format, args...))}
}

// examine has a symbol file checked, as far as it must be.
func examine(ctx context.Context, in Input) (d Decision, err error) {
	if in.Accept == Any {
		return d, nil
	}
	rep, err := lint.File(in.Sym, report.Options{})
	if err != nil {
		return refused("the file cannot be read: %v", err), nil
	}
	if bad(rep) {
		return findings(rep, "the file is not well formed"), nil
	}
	if in.Accept == Lint || in.ELF == nil {
		return d, context.Cause(ctx)
	}
	m, _ := Read(in.Sym) // its name is that of the key, and need not be that of the ELF file's copy
	rep, err = check.File(ctx, in.ELF.Image, in.Sym, check.Options{Companions: in.ELF.Companions, Names: []string{m.Name}})
	if err != nil {
		return d, err
	}
	if bad(rep) {
		d = findings(rep, "the file does not say what the ELF file says")
	}
	d.Against = in.ELF.From
	return d, nil
}

// bad reports whether a report refutes a symbol file.
func bad(rep *report.Report) bool {
	r := report.Result{Report: rep}
	return r.Bad()
}

// Bounds of the findings of a Decision.
const (
	maxFindings = 20
	maxFinding  = 500 // bytes
)

// findings returns the decision of a report with findings.
func findings(rep *report.Report, what string) Decision {
	d := Decision{Verdict: Refused, Total: rep.Total()}
	for _, f := range rep.Findings[:min(len(rep.Findings), maxFindings)] {
		text := printable.Elide(printable.String(f.String()), maxFinding)
		d.Findings = append(d.Findings, fmt.Sprintf("%s [%s]", text, f.Check))
	}
	for _, g := range rep.Gaps {
		if !g.Allowed && len(d.Findings) < maxFindings {
			d.Findings = append(d.Findings, printable.Elide(printable.String(g.What), maxFinding))
		}
	}
	d.Why, d.Incomplete = what, true
	for _, k := range rep.Checks {
		d.Incomplete = d.Incomplete && k.Wrong == 0
	}
	if rep.OtherModule != "" {
		d.Why += ": " + printable.String(rep.OtherModule)
	} else if len(d.Findings) > 0 {
		d.Why += ": " + d.Findings[0]
	}
	return d
}
