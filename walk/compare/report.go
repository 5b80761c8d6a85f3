package compare

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"symkit/internal/printable"
	"symkit/internal/quantity"
)

// titles are the kinds in words.
var titles = map[Kind]string{
	resultLost: "results only in the first directory", resultGained: "results only in the second directory",
	crashChanged: "another crash", signatureChanged: "another signature",
	symbolsLost: "modules that lost their symbols", symbolsGained: "modules that gained symbols",
	threadLost: "threads lost", threadGained: "threads gained",
	lost: "frames lost", gained: "frames gained", renamed: "frames renamed",
	trustLowered: "frames found with less trust", trustRaised: "frames found with more trust",
	moved: "frames of functions that begin elsewhere", lineChanged: "frames at another line",
}

// Text writes the differences for people: for each kind their number, and up to examples
// groups of equal ones, all if examples is 0. In text of the results, characters
// that control a terminal are \xNN.
func (d *Differences) Text(out io.Writer, examples int) error {
	w := bufio.NewWriter(&printable.Writer{W: out})
	for _, k := range Kinds() {
		groups := d.sorted(k)
		if len(groups) == 0 {
			continue
		}

		fmt.Fprintf(w, "%s (%s): %d\n", titles[k], k, d.Count(k))
		shown := 0
		for i, g := range groups {
			if examples > 0 && i == examples {
				fmt.Fprintf(w, "       and %s more\n", quantity.Number(d.Count(k)-shown))
				break
			}
			shown += g.Count
			fmt.Fprintf(w, "%6d  %s\n", g.Count, printable.String(g.String()))
			place := g.Example.String()
			if place != "" {
				fmt.Fprintf(w, "        %s\n", printable.String(place))
			}
		}
		fmt.Fprintln(w)
	}

	verdict := "no differences"
	if len(d.groups) > 0 {
		verdict = "differences"
	}
	fmt.Fprintf(w, "%s: compared %s, %s, %s\n", verdict, count(d.Results, "result"), count(d.Threads, "thread"), count(d.Frames, "frame"))
	return w.Flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String returns the module and its change, and whether a frame was only found by scanning.
func (g *group) String() string {
	if g.Scanned {
		return g.text() + "  (found by scanning)"
	}
	return g.text()
}

func (g *group) text() string {
	s := g.Before
	switch {
	case g.Before != "" && g.After != "":
		s += " -> " + g.After
	case g.After != "":
		s = g.After
	}

	switch {
	case g.Module == "":
		return s
	case s == "":
		return g.Module
	case g.Kind == trustLowered || g.Kind == trustRaised:
		return g.Module + ": " + s
	}
	return g.Module + "!" + s
}

// String returns the place of an example in words.
func (p *place) String() string {
	s := p.Result
	if p.Thread != 0 || p.Addr != 0 {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("thread %d", p.Thread)
	}
	if p.Addr != 0 {
		s += fmt.Sprintf(", frame %d, %#x", p.Frame, p.Addr)
	}
	if p.End != "" {
		s += "; the other stack ends: " + p.End
	}
	return s
}

// The objects of the JSON.
type (
	jsonReport struct {
		Version int          `json:"version"`
		Results int          `json:"results"`
		Threads int          `json:"threads"`
		Frames  int          `json:"frames"`
		Equal   bool         `json:"equal"`
		Counts  map[Kind]int `json:"counts"`
		Groups  []jsonGroup  `json:"differences"`
	}
	jsonGroup struct {
		Kind    Kind      `json:"kind"`
		Module  *string   `json:"module"`
		Before  *string   `json:"before"`
		After   *string   `json:"after"`
		Scanned bool      `json:"scanned"` // only scanning found the frame
		Count   int       `json:"count"`
		Example jsonPlace `json:"example"`
	}
	jsonPlace struct {
		Result *string `json:"result"`
		Thread *int    `json:"thread_id"`
		Frame  *int    `json:"frame"`
		Addr   *string `json:"offset"`
		End    *string `json:"other_end"`
	}
)

// JSON writes the differences as one object: version is 1, counts has the number of
// differences of each kind, differences has up to examples groups of each kind, all if
// examples is 0.
func (d *Differences) JSON(out io.Writer, examples int) error {
	j := jsonReport{Version: version, Results: d.Results, Threads: d.Threads, Frames: d.Frames, Equal: len(d.groups) == 0,
		Counts: map[Kind]int{}, Groups: []jsonGroup{}}
	for _, k := range Kinds() {
		j.Counts[k] = d.Count(k)
		for i, g := range d.sorted(k) {
			if examples > 0 && i == examples {
				break
			}
			j.Groups = append(j.Groups, jsonGroup{k, optional(g.Module), optional(g.Before), optional(g.After), g.Scanned, g.Count, g.Example.json()})
		}
	}

	enc := json.NewEncoder(&printable.JSONWriter{W: out})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(j)
}

func (p *place) json() jsonPlace {
	j := jsonPlace{Result: optional(p.Result), End: optional(p.End)}
	if p.Thread != 0 || p.Addr != 0 {
		j.Thread = &p.Thread
	}
	if p.Addr != 0 {
		at := fmt.Sprintf("%#x", p.Addr)
		j.Frame, j.Addr = &p.Frame, &at
	}
	return j
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
