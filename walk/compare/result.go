// Package compare finds the differences between two results of a stack walk of the same
// crash: frames that only one of the results has, frames with another name, trust or
// source line, and the fields about symbols and the crash. Results are JSON files, of this
// project or of rust-minidump, whose schema is the same.
//
//	d, err := compare.Paths("before", "after") // directories of results
//	if err != nil {
//		return err
//	}
//	return d.Text(os.Stdout, 10)
package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// result holds the fields of a result file that are compared.
type result struct {
	Threads []thread
	// Crash is the reason of the crash and the address of the fault.
	Crash string
	// Signature is the crash signature; empty if the file has none.
	Signature string
	// Symbols maps the name of each module whose symbols were looked for to whether they were
	// loaded. Symbols of modules in no stack are not looked for.
	Symbols map[string]bool
	// Extended reports whether the file has the values that are outside of
	// rust-minidump's schema.
	Extended bool
}

// thread is a thread with its stack.
type thread struct {
	ID     int
	Frames []frame // the innermost first
	End    string  // the reason that there is no further frame; empty: unknown
}

// frame is a frame of a stack with the calls that are inlined into it.
type frame struct {
	Addr     uint64 // of the instruction: the process's address
	Module   string // base name of the file; empty: none
	Offset   uint64 // of Addr in the module
	Function string // empty: no symbol
	Start    uint64 // first address of the function in the process
	Source   source
	Trust    string
	Inlines  []inline // the innermost first
}

// inline is a call that is inlined into a frame.
type inline struct {
	Function string
	Source   source
}

// source is a line of source code.
type source struct {
	File string // empty: unknown
	Line uint32
}

// String returns FILE:LINE, or "no line" if the line is unknown.
func (s source) String() string {
	if s.File == "" {
		return "no line"
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Errors of Read, besides those of encoding/json.
var (
	errNotResult = errors.New("not a result of stackwalk --format=json")
	errVersion   = errors.New("unknown version of the results")
	errStatus    = errors.New("the dump was not walked")
)

// version is that of the values outside of rust-minidump's schema.
const version = 1

// The objects of the schema (rust-minidump, json-schema.md), as far as they are read.
type (
	fileResult struct {
		Status  *string      `json:"status"`
		Crash   fileCrash    `json:"crash_info"`
		Threads []fileThread `json:"threads"`
		Modules []fileModule `json:"modules"`
		System  struct {
			Arch string `json:"cpu_arch"`
		} `json:"system_info"`
		Extra *fileExtra `json:"symkit"`
	}
	fileExtra struct {
		Version   int     `json:"version"`
		Signature *string `json:"signature"`
	}
	fileCrash struct {
		Type    *string `json:"type"`
		Address *string `json:"address"`
	}
	fileThread struct {
		ID     int         `json:"thread_id"`
		Frames []fileFrame `json:"frames"`
		Extra  struct {
			End      string `json:"end"`
			Complete bool   `json:"complete"`
		} `json:"symkit"`
	}
	fileFrame struct {
		Trust        string       `json:"trust"`
		Addr         address      `json:"offset"`
		Module       *string      `json:"module"`
		ModuleOffset address      `json:"module_offset"`
		Function     *string      `json:"function"`
		FuncOffset   address      `json:"function_offset"`
		File         *string      `json:"file"`
		Line         *uint32      `json:"line"`
		Inlines      []fileInline `json:"inlines"`
		Extra        struct {
			Trust string `json:"trust"`
			After bool   `json:"after_symbol"`
		} `json:"symkit"`
	}
	fileInline struct {
		Function *string `json:"function"`
		File     *string `json:"file"`
		Line     *uint32 `json:"line"`
	}
	fileModule struct {
		Filename string `json:"filename"`
		Loaded   bool   `json:"loaded_symbols"`
		Missing  bool   `json:"missing_symbols"`
	}
)

// address is a hexadecimal number in a string; null stands for 0.
type address uint64

// UnmarshalJSON implements json.Unmarshaler.
func (a *address) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	if s == "null" {
		return nil
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return fmt.Errorf("address %.20q: %w", s, errors.Unwrap(err))
	}
	*a = address(v)
	return nil
}

// parse reads a result. The error is errNotResult, errVersion, errStatus, or that of the
// JSON with its place.
func parse(in io.Reader) (*result, error) {
	var file fileResult
	decoder := json.NewDecoder(in)
	err := decoder.Decode(&file)
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: the file is empty", errNotResult)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("offset %d: %w: the file is cut short", decoder.InputOffset(), err)
	case err != nil:
		return nil, fmt.Errorf("offset %d: %w: %w", decoder.InputOffset(), errNotResult, err)
	case file.Status == nil:
		return nil, fmt.Errorf("%w: there is no status", errNotResult)
	case *file.Status != "OK":
		return nil, fmt.Errorf("%w: status %q", errStatus, *file.Status)
	case file.Extra != nil && file.Extra.Version != version:
		return nil, fmt.Errorf("%w: %d; version %d is known here", errVersion, file.Extra.Version, version)
	}
	return file.result(), nil
}

// result converts the objects of the schema.
func (f *fileResult) result() *result {
	r := &result{Symbols: map[string]bool{}, Extended: f.Extra != nil, Crash: text(f.Crash.Type)}
	if f.Crash.Address != nil {
		r.Crash += " at " + *f.Crash.Address
	}
	if f.Extra != nil {
		r.Signature = text(f.Extra.Signature)
	}

	// Symbols of modules in no stack were not looked for.
	for _, m := range f.Modules {
		if m.Loaded || m.Missing {
			r.Symbols[m.Filename] = r.Symbols[m.Filename] || m.Loaded
		}
	}

	for i := range f.Threads {
		t := thread{ID: f.Threads[i].ID, End: f.Threads[i].Extra.End}
		for j := range f.Threads[i].Frames {
			frame := f.Threads[i].Frames[j].frame()
			// rust-minidump leaves the bit for Thumb code in some addresses.
			if f.System.Arch == "arm" {
				frame.Addr &^= 1
				frame.Offset &^= 1
			}
			t.Frames = append(t.Frames, frame)
		}
		r.Threads = append(r.Threads, t)
	}
	return r
}

// frame converts a frame.
func (f *fileFrame) frame() frame {
	out := frame{Addr: uint64(f.Addr), Module: text(f.Module), Offset: uint64(f.ModuleOffset), Function: text(f.Function),
		Source: lineOf(f.File, f.Line), Trust: f.Trust}
	if f.Function != nil {
		out.Start = uint64(f.Addr) - uint64(f.FuncOffset)
	}
	if f.Extra.After {
		out.Function = "after " + out.Function
	}
	if f.Extra.Trust != "" {
		out.Trust = f.Extra.Trust
	}
	for _, in := range f.Inlines {
		out.Inlines = append(out.Inlines, inline{text(in.Function), lineOf(in.File, in.Line)})
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func lineOf(file *string, line *uint32) (s source) {
	s.File = text(file)
	if line != nil {
		s.Line = *line
	}
	return s
}
