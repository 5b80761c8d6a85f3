package pprof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
	"github.com/ianlancetaylor/demangle"

	"symkit/lookup"
)

// options are those of pprof's flag -symbolize. Servers are never asked.
type options struct {
	none, fast, force bool
	form              string // of names: none, or one of forms
}

// errMode: a word of -symbolize is not known.
var errMode = errors.New("unknown option of symbolization")

// parse reads the mode of Symbolize.
func parse(mode string) (o options, err error) {
	for word := range strings.SplitSeq(strings.ToLower(mode), ":") {
		switch form, found := strings.CutPrefix(word, "demangle="); {
		case word == "none" || word == "no" || word == "remote":
			o.none = true
		case word == "fastlocal":
			o.fast = true
		case word == "force":
			o.force = true
		case found && (form == "none" || forms[form] != nil):
			o.form, o.force = form, true
		case word != "" && word != "local" && form != "default":
			err = fmt.Errorf("%q: %w", word, errMode)
		}
	}
	return o, err
}

// Symbolize implements driver.Symbolizer: it gives the locations of each mapping their functions, inlined calls, files,
// lines and columns, from the file at the mapping's path, or with its build id. Mappings that have them already stay as
// they are unless the mode, which is the value of pprof's flag -symbolize, has the word force.
func (t *Tool) Symbolize(mode string, _ driver.MappingSources, p *profile.Profile) error {
	o, err := parse(mode)
	if err != nil || o.none {
		return err
	}
	locations := map[*profile.Mapping][]*profile.Location{}
	for _, l := range p.Location {
		locations[l.Mapping] = append(locations[l.Mapping], l)
	}
	w := writer{profile: p, options: o, known: map[profile.Function]*profile.Function{}}
	for _, f := range p.Function {
		w.last = max(w.last, f.ID)
		if f.Name == "" || f.Name == f.SystemName {
			f.Name = w.readable(f.SystemName, f.SystemName)
		}
	}
	for _, m := range p.Mapping {
		list := locations[m]
		if len(list) == 0 || !o.force && (m.HasFunctions || m.HasFilenames || m.HasLineNumbers) || !hasFile(m) {
			continue
		}
		err := t.symbolize(m, list, &w)
		if err != nil && t.Warn != nil {
			t.Warn(err)
		}
	}
	return nil
}

// hasFile reports whether a mapping may be that of a file. A kernel has one if the build id is known.
func hasFile(m *profile.Mapping) bool {
	if m.BuildID != "" {
		return m.File == "" || strings.HasPrefix(m.File, "[kernel") || !m.Unsymbolizable()
	}
	return !m.Unsymbolizable() && !strings.Contains(m.File, "://")
}

// symbolize fills in the locations of a mapping.
func (t *Tool) symbolize(m *profile.Mapping, locations []*profile.Location, w *writer) error {
	o, err := t.open(m.File, m.BuildID, lookup.Mapping{Start: m.Start, Limit: m.Limit, Offset: m.Offset, Symbol: m.KernelRelocationSymbol})
	if err != nil {
		return err
	}
	defer o.release()
	var frames []lookup.Frame
	for _, l := range locations {
		frames, _ = o.frames(frames[:0], l.Address) // what is damaged, or has no function, stays an address
		if w.options.fast && len(frames) > 0 {
			last := &frames[len(frames)-1]
			frames = []lookup.Frame{{Name: last.Name, Linkage: last.Linkage}}
		}
		if len(frames) == 0 {
			continue
		}
		l.Line, l.IsFolded = make([]profile.Line, len(frames)), false
		for i := range frames {
			f := &frames[i]
			l.Line[i] = profile.Line{Function: w.function(f), Line: int64(f.Line), Column: int64(f.Column)}
			m.HasFunctions = m.HasFunctions || f.Name != "" || f.Linkage != ""
			m.HasFilenames = m.HasFilenames || f.File != ""
			m.HasLineNumbers = m.HasLineNumbers || f.Line != 0
		}
		m.HasInlineFrames = !w.options.fast
	}
	return nil
}

// writer adds functions to a profile.
type writer struct {
	profile *profile.Profile
	options options
	known   map[profile.Function]*profile.Function // by their values without an ID
	last    uint64                                 // the largest ID
}

// function returns the function of a frame.
func (w *writer) function(f *lookup.Frame) *profile.Function {
	key := profile.Function{SystemName: systemName(f), Filename: f.File, StartLine: int64(f.StartLine)}
	known := w.known[key]
	if known != nil {
		return known
	}
	w.last++
	made := key
	made.ID, made.Name = w.last, w.readable(key.SystemName, f.Readable())
	w.known[key] = &made
	w.profile.Function = append(w.profile.Function, &made)
	return &made
}

// readable returns a name in the form that the options have. full is the readable name with all its parts, for names
// that pprof's demangler does not know.
func (w *writer) readable(name, full string) string {
	if w.options.form == "none" {
		return name
	}
	text := demangle.Filter(name, forms[w.options.form]...)
	switch {
	case text != name:
		return text
	case name == full && w.options.form == "":
		return withoutArguments(name)
	}
	return full
}

// withoutArguments returns a name that has no linkage name, as those of local templates, without its template arguments.
func withoutArguments(name string) string {
	var out []byte
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '<':
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth == 0:
			out = append(out, c)
		}
	}
	if depth > 0 || len(out) == 0 || strings.Contains(name, "operator") || strings.ContainsAny(name, ".-") {
		return name // not C++, or a name with other angle brackets
	}
	return string(out)
}
