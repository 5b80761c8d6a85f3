package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"symkit/internal/printable"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// JSON writes a result in the schema of rust-minidump
// (minidump-processor, json-schema.md). Addresses are hexadecimal strings; a value
// that the dump lacks is null. Values outside of the schema are under the keys
// "symkit". Memory does not depend on the number of frames.
func JSON(out io.Writer, r *walk.Result) error { return writeJSON(out, r, nil) }

// JSONOptions are the inputs of [RustMinidumpJSON] besides the result.
type JSONOptions struct {
	// Pretty indents the report, which is then kept in memory as a whole.
	Pretty bool
	// Signers are the subjects of the certificates that files were signed with, by the
	// name of the file.
	Signers map[string]string
}

// RustMinidumpJSON writes a result as rust-minidump's minidump-stackwalk does: the schema
// is that of JSON, and values that rust-minidump does not compute are as rust-minidump
// writes them.
func RustMinidumpJSON(out io.Writer, r *walk.Result, opt JSONOptions) error {
	if !opt.Pretty {
		return writeJSON(out, r, &opt)
	}

	var text, pretty bytes.Buffer
	err := writeJSON(&text, r, &opt)
	if err != nil {
		return err
	}
	err = json.Indent(&pretty, bytes.TrimSpace(text.Bytes()), "", "  ")
	if err != nil {
		return err
	}
	_, err = pretty.WriteTo(out)
	return err
}

// writeJSON writes a result, with opt as rust-minidump does.
func writeJSON(out io.Writer, r *walk.Result, opt *JSONOptions) error {
	w := &jsonWriter{Writer: bufio.NewWriterSize(&printable.JSONWriter{W: out}, 1<<16), r: r, peer: opt, unloaded: shown.NewUnloaded(r.Process.Facts.Unloaded)}
	w.open(w.report())
	// Frames are written one by one, so that memory does not depend on their number.
	w.WriteString(`,"threads":[`)
	for i := range r.Stacks {
		if i > 0 {
			w.WriteByte(',')
		}
		w.thread(&r.Stacks[i], -1)
	}

	w.WriteByte(']')
	switch i := r.Crashed(); {
	case i >= 0:
		w.WriteString(`,"crashing_thread":`)
		w.thread(&r.Stacks[i], i)
	case opt == nil:
		w.WriteString(`,"crashing_thread":null`)
	}

	w.WriteString("}\n")
	if w.err != nil {
		return w.err
	}
	return w.Flush()
}

type jsonWriter struct {
	*bufio.Writer
	r        *walk.Result
	peer     *JSONOptions // not nil: as rust-minidump writes
	unloaded *shown.Unloaded
	buf      bytes.Buffer
	err      error // of encoding
}

// value writes v.
func (w *jsonWriter) value(v any) {
	w.Write(w.encode(v))
}

// open writes v without the brace that ends it.
func (w *jsonWriter) open(v any) {
	b := w.encode(v)
	w.Write(b[:max(0, len(b)-1)])
}

func (w *jsonWriter) encode(v any) []byte {
	w.buf.Reset()
	enc := json.NewEncoder(&w.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	return bytes.TrimSuffix(w.buf.Bytes(), []byte{'\n'})
}

func (w *jsonWriter) thread(s *walk.Stack, index int) {
	t := jsonThread{Name: optional(s.Thread.Name), ID: s.Thread.ID, LastError: optional(s.Thread.LastError),
		Count: len(s.Frames)}
	if w.peer == nil {
		t.Extension = &jsonThreadExtra{s.End, s.Complete}
	} else if s.Thread.Unnamed {
		t.Name = &s.Thread.Name
	}
	if index >= 0 {
		t.Index = &index
	}

	w.open(&t)
	w.WriteString(`,"frames":[`)
	for i := range s.Frames {
		if i > 0 {
			w.WriteByte(',')
		}
		// The first error of the writer stays.
		if _, err := w.Write(nil); err != nil {
			return
		}
		j := w.frame(&s.Frames[i], i)
		if i == 0 && (w.peer == nil || index >= 0) {
			j.Registers = w.registers(s.Thread)
		}
		w.value(&j)
	}
	w.WriteString("]}")
}

func (w *jsonWriter) registers(t *walk.Thread) map[string]string {
	regs := map[string]string{}
	for _, reg := range w.r.Process.Named(&t.Regs) {
		regs[reg.Name] = w.hex(reg.Value)
	}
	return regs
}

// trust returns the schema's word for how a frame was found. On x86-64 rust-minidump finds the
// caller of a leaf by scanning.
func (w *jsonWriter) trust(f *walk.Frame) string {
	if w.peer != nil && f.Trust == walk.TrustLeaf && w.r.Process.CPU == "x86_64" {
		return schemaTrust(walk.TrustScan)
	}
	return schemaTrust(f.Trust)
}

func (w *jsonWriter) frame(f *walk.Frame, i int) jsonFrame {
	at, place := f.Lookup(), f.Place
	j := jsonFrame{Frame: i, Trust: w.trust(f), Offset: w.hex(at), Missing: place.Func == ""}
	if w.peer == nil {
		j.Extension = &jsonFrameExtra{w.hex(f.PC), w.hex(f.SP), f.Trust.Key(), f.Why, f.Exact, f.Signal, place.Public, place.After}
	}
	if f.Module != nil {
		name := f.Module.File()
		j.Module, j.ModuleOffset = &name, w.optional(at-f.Module.Base)
	} else {
		for _, u := range w.unloaded.At(at) {
			j.Unloaded = append(j.Unloaded, w.offsets(u))
		}
	}

	// The function is known only with symbols.
	if place.Func != "" {
		j.Function, j.FuncOffset = &place.Func, w.optional(at-place.FuncAddr)
	}
	j.File, j.Line = position(place.File, place.Line)
	for _, in := range place.Inlines {
		file, line := position(in.File, in.Line)
		j.Inlines = append(j.Inlines, jsonInline{in.Func, file, line})
	}
	return j
}

func (w *jsonWriter) offsets(u shown.UnloadedAt) jsonUnloadedAt {
	out := jsonUnloadedAt{Module: u.Name}
	for _, off := range u.Offsets {
		out.Offsets = append(out.Offsets, w.hex(off))
	}
	return out
}

// report returns the whole report but the threads.
func (w *jsonWriter) report() *jsonReport {
	r, p := w.r, w.r.Process
	j := &jsonReport{Status: "OK", Crash: w.crash(), Count: len(r.Stacks), Modules: []jsonModule{}, Unloaded: []jsonUnloaded{},
		System: jsonSystem{OS: p.OS, Version: optional(p.OSVersion), Arch: shown.CPU(p.CPU), Info: optional(p.Facts.CPUInfo), Microcode: optional(p.Facts.Microcode)},
	}
	if w.peer == nil {
		j.Extension = &jsonProcess{Version: 1, Name: p.Name, Args: p.Args, Signal: p.Crash.Signal, Code: p.Crash.Code, Sender: p.Crash.Sender,
			Signature: optional(p.Facts.Signature), Proto: optional(p.Facts.ProtoSignature),
			Warnings: append([]string{}, p.Warnings...), Crashpad: newJSONCrashpad(p.Facts.Crashpad)}
	} else {
		j.CertInfo = len(w.peer.Signers) > 0
	}

	// Fields that the dump does not have stay null.
	if p.PID != 0 {
		j.PID = &p.PID
	}

	if p.Facts.CPUs > 0 {
		j.System.Count = &p.Facts.CPUs
	}
	if p.Facts.HasUptime {
		j.Uptime = &p.Facts.Uptime
	}
	if n := len(p.Mappings); n > 0 && (p.OS == "Linux" || p.OS == "Android") {
		j.MapCount = &n
	}

	// Modules are listed in the order of the dump.
	for i, m := range inDumpOrder(r) {
		if m.Module == p.Main {
			j.Main = &i
		}
		j.Modules = append(j.Modules, w.module(&m))
	}

	for i := range p.Facts.Unloaded {
		m := &p.Facts.Unloaded[i]
		j.Unloaded = append(j.Unloaded, jsonUnloaded{w.hex(m.Base), w.hex(m.End), optional(strings.ToLower(m.CodeID)), m.Name, w.signer(m.Name)})
	}
	j.facts(&p.Facts, w)
	return j
}

// inDumpOrder returns the modules in the order in which the dump lists them.
func inDumpOrder(r *walk.Result) []walk.ModuleSymbols {
	modules := slices.Clone(r.Modules)
	slices.SortStableFunc(modules, func(a, b walk.ModuleSymbols) int { return cmp.Compare(a.Module.Order, b.Module.Order) })
	return modules
}

// crash returns the reason of the crash.
func (w *jsonWriter) crash() jsonCrash {
	p := w.r.Process
	c := jsonCrash{Type: optional(p.Crash.Reason), Assertion: optional(p.Facts.Assertion)}
	if p.Crash.HasAddress || w.peer != nil && p.Crash.Crashed() {
		c.Address = w.optional(p.Crash.Address)
	}
	if i := w.r.Crashed(); i >= 0 {
		c.Thread = &i
	}

	// The crashing instruction may correct the address.
	f := shown.NewFault(p)
	switch value := w.optional(f.Value); f.Adjusted {
	case "non-canonical":
		c.Adjusted = &jsonAdjusted{Kind: f.Adjusted, Address: value}
	case "null-pointer":
		c.Adjusted = &jsonAdjusted{Kind: f.Adjusted, Offset: value}
	}

	if f.Known {
		// An empty list differs from null: there were no accesses.
		accesses := []jsonAccess{}
		for _, a := range f.Effect.Accesses {
			j := jsonAccess{Address: w.hex(a.Addr), Guard: shown.GuardPage(p, a.Addr), Kind: a.Kind}
			if a.Size > 0 {
				j.Size = &a.Size
			}
			accesses = append(accesses, j)
		}
		c.Accesses = &accesses
	}

	if w.peer == nil || p.CPU == "x86_64" {
		c.Instruction = optional(f.Instruction)
	}
	if p.Crash.Crashed() {
		c.Inconsistencies = f.Inconsistencies()
		c.BitFlips = w.bitFlips(f)
	}
	if f.Effect.Jumps {
		c.Update = &jsonUpdate{w.hex(f.Effect.Target.Addr), shown.GuardPage(p, f.Effect.Target.Addr)}
	}
	return c
}

func (w *jsonWriter) bitFlips(f *shown.Fault) (out []jsonBitFlip) {
	if w.r.Process.Crashed < 0 {
		return nil
	}
	for _, b := range f.BitFlips() {
		out = append(out, jsonBitFlip{w.hex(b.Addr), optional(b.Register), b.FlipDetail, float64(b.Confidence)})
	}
	return out
}

func (w *jsonWriter) module(s *walk.ModuleSymbols) jsonModule {
	m := s.Module
	j := jsonModule{Base: w.hex(m.Base), End: w.hex(m.End), DebugFile: m.DebugFile, DebugID: optional(m.DebugID),
		Filename: m.File(), CodeID: optional(strings.ToLower(m.FileID())), Version: optional(m.Version), Loaded: s.Loaded, Cert: w.signer(m.File()), Extension: &jsonModuleExtra{Path: m.Path}}
	if j.DebugID == nil && w.peer != nil {
		j.DebugID = optional(cmp.Or(m.ShownID, noID))
	}
	if syms := s.Symbols; syms != nil {
		j.Missing = !s.Loaded && len(syms.Tried) > 0 // looked for, and not found
		// Symbols that were loaded may still have damaged lines.
		j.Corrupt = s.BadLines > 0
		j.URL = optional(syms.URL)
		j.Extension.From, j.Extension.BadLines, j.Extension.Damage = syms.From, s.BadLines, syms.Damage
		for _, p := range syms.Tried {
			j.Extension.Tried = append(j.Extension.Tried, jsonProbe{p.Path, p.Err.Error()})
		}
	}
	if w.peer != nil {
		j.Extension = nil
	}
	return j
}

// noID is the id that rust-minidump gives modules without one.
const noID = "000000000000000000000000000000000"

// signer returns the subject of the certificate that a file was signed with, or nil.
func (w *jsonWriter) signer(file string) *string {
	if w.peer == nil {
		return nil
	}
	return optional(w.peer.Signers[file])
}

// hex returns an address in the schema's form, padded to the CPU's width.
func (w *jsonWriter) hex(v uint64) string { return fmt.Sprintf("0x%0*x", 2*w.r.Process.WordSize(), v) }

func (w *jsonWriter) optional(v uint64) *string {
	s := w.hex(v)
	return &s
}
