// Package otlp fills in OpenTelemetry's profiles (OTLP, profiles/v1development): locations that have addresses alone, as
// profilers of a whole machine send them, get functions, inlined calls, files, lines and columns.
//
//	s := &otlp.Symbolizer{}
//	defer s.Close()
//	err := s.Symbolize(ctx, data.Dictionary) // of a ProfilesData, or of an export request
//	if err != nil {
//		return err
//	}
//
// Files are those at the paths of the mappings, or those with their build ids (process.executable.build_id.gnu).
package otlp

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"

	"symkit/lookup"
)

// Symbolizer fills in profiles. Its zero value is ready for use, by any number of goroutines. Files stay open until
// Close.
type Symbolizer struct {
	// Lookup says where files and their companions are searched for.
	Lookup lookup.Options
	// Warn, if not nil, is called with the reason why the locations of a mapping stay as they are.
	Warn func(error)

	once  sync.Once
	files *lookup.Cache
}

// Close closes all files.
func (s *Symbolizer) Close() { s.cache().Close() }

// cache returns the files. A key is a build id, hexadecimal or empty, a space and a path.
func (s *Symbolizer) cache() *lookup.Cache {
	s.once.Do(func() {
		s.files = lookup.NewCache(s.Lookup.Memory, func(ctx context.Context, key string) (*lookup.File, error) {
			id, path, _ := strings.Cut(key, " ")
			buildID, err := hex.DecodeString(id)
			if err != nil {
				return nil, err
			}
			return lookup.OpenModule(ctx, path, buildID, s.Lookup)
		})
	})
	return s.files
}

// errFull: the indexes of a dictionary have 32 bits.
var errFull = errors.New("the dictionary has no place for more functions or strings")

// Symbolize gives the locations of a dictionary their lines. Those that have lines, and those without a mapping or
// whose file is not found, stay as they are. The error is that of ctx, or that the dictionary has no place left.
func (s *Symbolizer) Symbolize(ctx context.Context, d *profiles.ProfilesDictionary) error {
	locations := make([][]*profiles.Location, len(d.GetMappingTable()))
	for _, l := range d.GetLocationTable() {
		// Mapping 0 stands for none.
		i := l.GetMappingIndex()
		if i > 0 && int(i) < len(locations) && len(l.Lines) == 0 {
			locations[i] = append(locations[i], l)
		}
	}
	w := newWriter(d)
	for i, list := range locations {
		err := ctx.Err()
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		err = s.mapping(ctx, d.MappingTable[i], list, w)
		switch {
		case errors.Is(err, errFull):
			return err
		case err != nil && s.Warn != nil:
			s.Warn(err)
		}
	}
	return nil
}

// errNoFile: a mapping is not one of a file.
var errNoFile = errors.New("no file")

// mapping gives the locations of a mapping their lines.
func (s *Symbolizer) mapping(ctx context.Context, m *profiles.Mapping, locations []*profiles.Location, w *writer) error {
	path, id := w.string(m.GetFilenameStrindex()), w.buildID(m)
	symbol := ""
	if strings.HasPrefix(path, "[") { // the kernel, one of its modules, or memory without a file
		symbol, _ = strings.CutPrefix(path, "[kernel.kallsyms]")
		path = ""
	}
	if path == "" && id == "" {
		return fmt.Errorf("mapping %q: %w", w.string(m.GetFilenameStrindex()), errNoFile)
	}
	f, release, err := s.cache().Get(ctx, id+" "+path)
	if err != nil {
		return err
	}
	defer release()
	in := lookup.Mapping{Start: m.MemoryStart, Limit: m.MemoryLimit, Offset: m.FileOffset, Symbol: symbol}
	var frames []lookup.Frame
	for _, l := range locations {
		addr, ok := in.Address(f, l.Address)
		if !ok && (l.Address < in.Start || l.Address >= in.Limit) {
			addr = l.Address // OpenTelemetry's eBPF profiler sends addresses of files
		} else if !ok {
			continue
		}
		frames, _ = f.Frames(frames[:0], addr) // what is damaged, or has no function, stays an address
		l.Lines, err = w.lines(frames)
		if err != nil {
			return err
		}
	}
	return nil
}

// writer adds functions and strings to a dictionary.
type writer struct {
	d         *profiles.ProfilesDictionary
	strings   map[string]int32
	functions map[function]int32
}

// function is what distinguishes functions, with the indexes of their strings.
type function struct {
	system, file int32
	start        int64
}

func newWriter(d *profiles.ProfilesDictionary) *writer {
	w := &writer{d: d, strings: map[string]int32{}, functions: map[function]int32{}}
	for i, text := range d.GetStringTable() {
		w.strings[text] = int32(i)
	}
	for i, f := range d.GetFunctionTable() {
		if f.GetNameStrindex() != 0 {
			w.functions[function{f.GetSystemNameStrindex(), f.GetFilenameStrindex(), f.GetStartLine()}] = int32(i)
		}
	}
	return w
}

// string returns the string with an index, or "".
func (w *writer) string(i int32) string {
	if i < 0 || int(i) >= len(w.d.StringTable) {
		return ""
	}
	return w.d.StringTable[i]
}

// buildID returns the GNU build id of a mapping, or "".
func (w *writer) buildID(m *profiles.Mapping) string {
	for _, i := range m.GetAttributeIndices() {
		if i < 0 || int(i) >= len(w.d.AttributeTable) {
			continue
		}
		a := w.d.AttributeTable[i]
		if w.string(a.GetKeyStrindex()) != "process.executable.build_id.gnu" {
			continue
		}
		text := a.GetValue().GetStringValue()
		if text == "" {
			text = w.string(a.GetValue().GetStringValueStrindex())
		}
		_, err := hex.DecodeString(text)
		if err == nil {
			return text
		}
	}
	return ""
}

// lines returns the lines of a location, the innermost inlined call first.
func (w *writer) lines(frames []lookup.Frame) ([]*profiles.Line, error) {
	var lines []*profiles.Line
	for i := range frames {
		f := &frames[i]
		n, err := w.function(f)
		if err != nil {
			return nil, err
		}
		lines = append(lines, &profiles.Line{FunctionIndex: n, Line: int64(f.Line), Column: int64(f.Column)})
	}
	return lines, nil
}

// function returns the index of the function of a frame.
func (w *writer) function(f *lookup.Frame) (int32, error) {
	system := f.Linkage
	if system == "" {
		system = f.Name
	}
	if len(w.d.StringTable) > math.MaxInt32-4 || len(w.d.FunctionTable) > math.MaxInt32-2 {
		return 0, errFull
	}
	key := function{w.index(system), w.index(f.File), int64(f.StartLine)}
	n, known := w.functions[key]
	if known {
		return n, nil
	}
	if len(w.d.FunctionTable) == 0 { // the first one stands for none
		w.d.FunctionTable = append(w.d.FunctionTable, &profiles.Function{})
	}
	n = int32(len(w.d.FunctionTable))
	w.d.FunctionTable = append(w.d.FunctionTable, &profiles.Function{NameStrindex: w.index(f.Readable()), SystemNameStrindex: key.system, FilenameStrindex: key.file, StartLine: key.start})
	w.functions[key] = n
	return n, nil
}

// index returns the index of a string. Strings are UTF-8, and the first one is the empty one.
func (w *writer) index(text string) int32 {
	if len(w.d.StringTable) == 0 {
		w.d.StringTable = append(w.d.StringTable, "")
		w.strings[""] = 0
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	n, known := w.strings[text]
	if !known {
		n = int32(len(w.d.StringTable))
		w.d.StringTable = append(w.d.StringTable, text)
		w.strings[text] = n
	}
	return n
}
