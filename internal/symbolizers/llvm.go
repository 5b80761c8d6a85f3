package symbolizers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"symkit/internal/printable"
	"symkit/lookup"
)

// Style is the form of the answers of llvm-symbolizer.
type Style int

// The styles of --output-style.
const (
	StyleLLVM Style = iota
	StyleGNU
	StyleJSON
)

// LLVM has the options of llvm-symbolizer, named like its flags.
type LLVM struct {
	Style                                                    Style
	Addresses, Inlines, Pretty, Basenames, Demangle, Verbose bool
	// Functions is linkage, short or none.
	Functions string
	// Hex makes an address without 0x hexadecimal, as llvm-addr2line does.
	Hex bool
	// Adjust is subtracted from addresses (--adjust-vma).
	Adjust uint64
	// Context is the number of lines of source files around places (--print-source-context-lines).
	Context int
}

// Query is a question of a line.
type Query struct {
	Kind   string // CODE, DATA or FRAME
	Module string // path, or the build id in hexadecimal digits if ByID
	ByID   bool
	Addr   uint64 // or the offset from Symbol
	Symbol string // or ""
}

// Parse reads a line: [CODE|DATA|FRAME] MODULE ADDRESS, or [CODE] MODULE SYMBOL[+OFFSET]. The module is in double or
// single quotes if it has blanks, and may begin with FILE: or BUILDID:. It is left out if the program was given one. What
// follows the address is ignored.
func (l *LLVM) Parse(line, module string) (q Query, ok bool) {
	rest := trimBlanks(line)
	q.Kind = "CODE"
	for _, kind := range [...]string{"CODE ", "DATA ", "FRAME "} {
		after, found := strings.CutPrefix(rest, kind)
		if found {
			q.Kind, rest = kind[:len(kind)-1], trimBlanks(after)
			break
		}
	}

	q.Module = module
	if module == "" {
		if after, found := strings.CutPrefix(rest, "BUILDID:"); found {
			q.ByID, rest = true, after
		} else {
			rest = strings.TrimPrefix(rest, "FILE:")
		}
		q.Module, rest = word(rest)
	}
	addr, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	base := 0
	if l.Hex {
		base, addr = 16, strings.TrimPrefix(strings.TrimPrefix(addr, "0x"), "0X")
	}
	n, err := strconv.ParseUint(addr, base, 64)
	q.Addr = n - l.Adjust
	if err != nil && addr != "" && digitOf[addr[0]] > 9 && q.Kind == "CODE" {
		var offset string
		var more bool
		q.Symbol, offset, more = strings.Cut(addr, "+")
		q.Addr, err = 0, nil
		if more {
			q.Addr, err = strconv.ParseUint(offset, 0, 64)
		}
		return q, err == nil && q.Module != "" && q.Symbol != ""
	}
	return q, err == nil && q.Module != "" && !strings.Contains(addr, "_")
}

// trimBlanks returns text without the blanks and tabs that it begins with.
func trimBlanks(text string) string {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	return text
}

// word returns the first word of a text, which may be in quotes, and the rest.
func word(text string) (first, rest string) {
	if len(text) > 0 && (text[0] == '"' || text[0] == '\'') {
		first, rest, _ = strings.Cut(text[1:], text[:1])
		return first, rest
	}
	i := strings.IndexAny(text, " \t")
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
}

// Invalid appends the answer for a line that is no question.
func (l *LLVM) Invalid(dst []byte, line, module string) []byte {
	if l.Style != StyleJSON {
		return append(append(dst, line...), '\n')
	}
	if module == "" {
		module, _ = word(line)
	}
	return appendJSON(dst, map[string]any{"ModuleName": module, "Error": jsonError{"unable to parse arguments: " + line}})
}

type jsonError struct{ Message string }

// head appends what the answer for an address begins with.
func (l *LLVM) head(dst []byte, addr uint64) []byte {
	switch {
	case l.Style == StyleJSON:
		return AppendHex(append(dst, `{"Address":"`...), addr, 1)
	case !l.Addresses:
		return dst
	case l.Pretty:
		return append(AppendHex(dst, addr, 1), ": "...)
	}
	return append(AppendHex(dst, addr, 1), '\n')
}

// Answer appends the answer for q about f, which is nil if the module cannot be opened: cause says why, in
// the words of llvm-symbolizer.
func (l *LLVM) Answer(dst []byte, f *lookup.File, q Query, cause string, c *Scratch) []byte {
	dst = l.head(dst, q.Addr)
	if l.Style == StyleJSON && cause != "" {
		return appendFields(dst, jsonFailed{jsonError{cause}, q.Module})
	}
	switch q.Kind {
	case "DATA":
		dst = l.data(dst, f, q)
	case "FRAME":
		dst = l.variables(dst, f, q)
	default:
		dst = l.code(dst, f, q, c)
	}
	if l.Style == StyleLLVM {
		dst = append(dst, '\n')
	}
	return dst
}

// mostNamed is how many symbols of one name are answered. A kernel has 17 of one name.
const mostNamed = 1000

// Named appends the answer for q, which names a symbol: the places of the symbols of that name. found is false if f has
// none.
func (l *LLVM) Named(dst []byte, f *lookup.File, q Query, c *Scratch) (answer []byte, found bool) {
	symbols := f.Symbols(nil, q.Symbol, mostNamed)
	code := *l // the functions that have the code
	code.Inlines, code.Style, code.Context = false, StyleLLVM, 0
	if l.Style == StyleJSON {
		dst = append(dst, `{"Loc":[`...)
	}
	from := len(dst)
	for i := range symbols {
		frame := &code.frames(c, f, symbols[i].Addr+q.Addr)[0]
		switch {
		case frame.File == "":
			continue
		case l.Style != StyleJSON:
			dst = l.frame(dst, frame, c)
			continue
		case len(dst) > from:
			dst = append(dst, ',')
		}
		dst = code.jsonFrame(dst, frame, c)
	}
	switch l.Style {
	case StyleJSON:
		dst = printable.AppendJSON(append(dst, `],"ModuleName":`...), q.Module)
		dst = append(printable.AppendJSON(append(dst, `,"SymName":`...), q.Symbol), "}\n"...)
	case StyleLLVM:
		dst = append(dst, '\n')
	}
	return dst, len(symbols) > 0
}

// code appends the frames at an address.
func (l *LLVM) code(dst []byte, f *lookup.File, q Query, c *Scratch) []byte {
	frames := l.frames(c, f, q.Addr)
	if l.Style == StyleJSON {
		dst = printable.AppendJSON(append(dst, `","ModuleName":`...), q.Module)
		dst = append(dst, `,"Symbol":[`...)
		for i := range frames {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = l.jsonFrame(dst, &frames[i], c)
		}
		return append(dst, "]}\n"...)
	}
	for i := range frames {
		if i > 0 && l.Pretty {
			dst = append(dst, " (inlined by) "...)
		}
		dst = l.frame(dst, &frames[i], c)
	}
	return dst
}

// frames returns the frames at an address, at least one, in the memory of c.
func (l *LLVM) frames(c *Scratch, f *lookup.File, addr uint64) []lookup.Frame {
	frames := c.frames[:0]
	var sym lookup.Symbol
	known := false
	if f != nil {
		frames = c.framesAt(f, addr)
		sym, known = f.SymbolAt(addr)
	}
	if len(frames) == 0 {
		frames = append(frames, lookup.Frame{})
		c.frames = frames
	}
	if !l.Inlines && l.Style != StyleGNU {
		frames = frames[:1] // the symbol names the innermost function: the caller has the code
	}

	// The symbol names the function that has the code: it may be an alias, or one that the compiler split off. Its
	// version, which the table of a debug file has in the name, is none of the name.
	last := &frames[len(frames)-1]
	if known && l.Functions == "linkage" {
		name, _, _ := strings.Cut(sym.Name, "@")
		last.Name, last.Linkage, last.Start, last.Inlined = name, name, sym.Addr, false
		if last.File == "" {
			last.File = sym.File
		}
	}
	if !l.Inlines {
		frames = frames[:1]
	}
	return frames
}

// name returns the name of a frame.
func (l *LLVM) name(f *lookup.Frame, c *Scratch) string {
	name := rawName(f)
	if l.Functions == "short" && f.Name != "" {
		name = f.Name
	}
	return c.shown(name, readable(l.Demangle, llvmStyle))
}

// frame appends a frame as text.
func (l *LLVM) frame(dst []byte, f *lookup.Frame, c *Scratch) []byte {
	if l.Functions != "none" {
		dst = appendText(dst, l.name(f, c))
		if l.Pretty {
			dst = append(dst, " at "...)
		} else {
			dst = append(dst, '\n')
		}
	}
	if l.Verbose {
		return l.details(dst, f)
	}
	dst = appendText(dst, shownFile(f.File, l.Basenames))
	dst = strconv.AppendUint(append(dst, ':'), uint64(f.Line), 10)
	switch {
	case l.Style == StyleLLVM:
		dst = strconv.AppendUint(append(dst, ':'), uint64(f.Column), 10)
	case f.Discriminator != 0:
		dst = appendDiscriminator(dst, f.Discriminator)
	}
	return l.source(append(dst, '\n'), f, c)
}

// details appends the lines of --verbose.
func (l *LLVM) details(dst []byte, f *lookup.Frame) []byte {
	dst = append(appendText(append(dst, "  Filename: "...), shownFile(f.File, l.Basenames)), '\n')
	if f.StartLine != 0 {
		dst = append(appendText(append(dst, "  Function start filename: "...), shownFile(f.StartFile, l.Basenames)), '\n')
		dst = fmt.Appendf(dst, "  Function start line: %d\n", f.StartLine)
	}
	if f.Start != 0 && !f.Inlined && l.Style != StyleGNU {
		dst = fmt.Appendf(dst, "  Function start address: %#x\n", f.Start)
	}
	dst = fmt.Appendf(dst, "  Line: %d\n  Column: %d\n", f.Line, f.Column)
	if f.Discriminator != 0 {
		dst = fmt.Appendf(dst, "  Discriminator: %d\n", f.Discriminator)
	}
	return dst
}

// data appends the variable at an address.
func (l *LLVM) data(dst []byte, f *lookup.File, q Query) []byte {
	var sym lookup.Symbol
	if f != nil {
		sym, _ = f.SymbolAt(q.Addr)
	}
	name := readable(l.Demangle, llvmStyle).shown(sym.Name)
	if l.Style == StyleJSON {
		return appendFields(dst, jsonData{jsonVariable{name, hex(sym.Size), hex(sym.Addr)}, q.Module})
	}
	return fmt.Appendf(appendText(dst, name), "\n%d %d\n", sym.Addr, sym.Size)
}

// variables appends the answer for FRAME: the local variables of the function at an address.
func (l *LLVM) variables(dst []byte, f *lookup.File, q Query) []byte {
	var list []lookup.Variable
	if f != nil {
		list, _ = f.Variables(nil, q.Addr) // damage costs what comes after it
	}
	if l.Style == StyleJSON {
		answer := jsonVariables{[]jsonLocal{}, q.Module}
		for i := range list {
			answer.Frame = append(answer.Frame, jsonLocalOf(&list[i]))
		}
		return appendFields(dst, answer)
	}
	if len(list) == 0 {
		return append(dst, "??\n"...)
	}
	for i := range list {
		v := &list[i]
		dst = append(appendText(dst, v.Function), '\n')
		dst = append(appendText(dst, v.Name), '\n')
		dst = fmt.Appendf(appendText(dst, v.File), ":%d\n", v.Line)
		dst = append(appendKnown(dst, v.Offset, v.OnFrame), ' ')
		dst = append(appendKnown(dst, int64(v.Size), v.HasSize), ' ')
		dst = append(appendKnown(dst, int64(v.Tag), v.HasTag), '\n')
	}
	return dst
}

// appendKnown appends a number, or ??.
func appendKnown(dst []byte, n int64, known bool) []byte {
	if !known {
		return append(dst, "??"...)
	}
	return strconv.AppendInt(dst, n, 10)
}

// The forms of --output-style=JSON, but for those of code, which is asked for a million times. Keys are in the order of
// llvm-symbolizer, after the address.
type (
	jsonFailed struct {
		Error      jsonError
		ModuleName string
	}
	jsonData struct {
		Data       jsonVariable
		ModuleName string
	}
	jsonVariable  struct{ Name, Size, Start string }
	jsonVariables struct {
		Frame      []jsonLocal
		ModuleName string
	}
	jsonLocal struct {
		DeclFile           string
		DeclLine           uint32
		FrameOffset        *int64 `json:",omitempty"`
		FunctionName, Name string
		Size, TagOffset    string
	}
)

func jsonLocalOf(v *lookup.Variable) jsonLocal {
	l := jsonLocal{DeclFile: v.File, DeclLine: v.Line, FunctionName: v.Function, Name: v.Name}
	if v.OnFrame {
		l.FrameOffset = &v.Offset
	}
	if v.HasSize {
		l.Size = hex(v.Size)
	}
	if v.HasTag {
		l.TagOffset = hex(v.Tag)
	}
	return l
}

// jsonFrame appends a frame as JSON.
func (l *LLVM) jsonFrame(dst []byte, f *lookup.Frame, c *Scratch) []byte {
	number := func(key string, n uint32) { dst = strconv.AppendUint(append(dst, key...), uint64(n), 10) }
	text := func(key, value string) { dst = printable.AppendJSON(append(dst, key...), value) }
	name := ""
	if l.Functions != "none" {
		name = l.name(f, c)
	}
	number(`{"Column":`, f.Column)
	number(`,"Discriminator":`, f.Discriminator)
	text(`,"FileName":`, shownFile(f.File, l.Basenames))
	text(`,"FunctionName":`, name)
	number(`,"Line":`, f.Line)
	lines := l.source(nil, f, c)
	if lines != nil {
		text(`,"Source":`, string(lines))
	}
	dst = append(dst, `,"StartAddress":"`...)
	if f.Start != 0 {
		dst = AppendHex(dst, f.Start, 1)
	}
	text(`","StartFileName":`, shownFile(f.StartFile, l.Basenames))
	number(`,"StartLine":`, f.StartLine)
	return append(dst, '}')
}

// appendFields appends the fields of a value after head.
func appendFields(dst []byte, v any) []byte {
	from := len(dst) + 1
	dst = appendJSON(append(dst, '"'), v)
	dst[from] = ',' // for the bracket
	return dst
}

// appendJSON appends a value and the end of the line.
func appendJSON(dst []byte, v any) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&printable.JSONWriter{W: &text})
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	if err != nil {
		panic(err) // v has texts and numbers alone
	}
	return append(dst, text.Bytes()...)
}

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
