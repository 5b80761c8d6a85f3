package walk

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
)

// The JSON output has the schema of rust-minidump (minidump-processor,
// json-schema.md). Addresses are hexadecimal strings; what a dump does not
// tell is null. What only symkit knows is under the keys "symkit".

type jsonReport struct {
	Status    string        `json:"status"`
	PID       *int          `json:"pid"`
	Crash     jsonCrash     `json:"crash_info"`
	System    jsonSystem    `json:"system_info"`
	MapCount  *int          `json:"linux_memory_map_count"`
	Count     int           `json:"thread_count"`
	Threads   []*jsonThread `json:"threads"`
	Crashed   *jsonCrashed  `json:"crashing_thread"`
	Main      *int          `json:"main_module"`
	Modules   []jsonModule  `json:"modules"`
	Unloaded  []struct{}    `json:"unloaded_modules"`
	CertInfo  bool          `json:"modules_contains_cert_info"`
	Extension jsonProcess   `json:"symkit"`
}

type jsonCrash struct {
	Type    *string `json:"type"`
	Address *string `json:"address"`
	Thread  *int    `json:"crashing_thread"`
}

type jsonSystem struct {
	OS      string  `json:"os"`
	Version *string `json:"os_ver"`
	Arch    string  `json:"cpu_arch"`
	Info    *string `json:"cpu_info"`
	Count   *int    `json:"cpu_count"`
}

type jsonThread struct {
	Name      *string         `json:"thread_name"`
	ID        int             `json:"thread_id"`
	Count     int             `json:"frame_count"`
	Frames    []jsonFrame     `json:"frames"`
	Extension jsonThreadExtra `json:"symkit"`
}

type jsonCrashed struct {
	Index int `json:"threads_index"`
	*jsonThread
}

type jsonFrame struct {
	Frame        int               `json:"frame"`
	Trust        string            `json:"trust"`
	Registers    map[string]string `json:"registers,omitempty"`
	Offset       string            `json:"offset"`
	Module       *string           `json:"module"`
	ModuleOffset *string           `json:"module_offset"`
	Inlines      []jsonInline      `json:"inlines"`
	Function     *string           `json:"function"`
	FuncOffset   *string           `json:"function_offset"`
	File         *string           `json:"file"`
	Line         *uint32           `json:"line"`
	Missing      bool              `json:"missing_symbols"`
	Extension    jsonFrameExtra    `json:"symkit"`
}

type jsonInline struct {
	Function string  `json:"function"`
	File     *string `json:"file"`
	Line     *uint32 `json:"line"`
}

type jsonModule struct {
	Base      string          `json:"base_addr"`
	End       string          `json:"end_addr"`
	DebugFile string          `json:"debug_file"`
	DebugID   *string         `json:"debug_id"`
	Filename  string          `json:"filename"`
	CodeID    *string         `json:"code_id"`
	Version   *string         `json:"version"`
	Missing   bool            `json:"missing_symbols"`
	Loaded    bool            `json:"loaded_symbols"`
	Corrupt   bool            `json:"corrupt_symbols"`
	URL       *string         `json:"symbol_url"`
	Extension jsonModuleExtra `json:"symkit"`
}

// jsonProcess is what a core file tells and the schema has no place for.
type jsonProcess struct {
	Version  int      `json:"version"` // of the symkit keys
	Name     string   `json:"name"`
	Args     string   `json:"args"`
	Signal   int      `json:"signal"`
	Code     int      `json:"si_code"`
	Sender   int      `json:"sender_pid,omitempty"`
	Warnings []string `json:"warnings"`
}

type jsonThreadExtra struct {
	End      string `json:"end"`
	Complete bool   `json:"complete"`
}

type jsonFrameExtra struct {
	PC     string `json:"pc"`
	SP     string `json:"sp"`
	Trust  string `json:"trust"`
	Why    string `json:"why,omitempty"`
	Exact  bool   `json:"exact"`
	Signal bool   `json:"signal_frame"`
	Public bool   `json:"public_symbol"`
}

type jsonModuleExtra struct {
	From     string      `json:"symbols_from,omitempty"`
	Tried    []jsonProbe `json:"tried,omitempty"`
	BadLines int         `json:"bad_lines,omitempty"`
	Damage   int         `json:"damage,omitempty"`
}

type jsonProbe struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// WriteJSON writes the result in the schema of rust-minidump.
func (r *Result) WriteJSON(out io.Writer) error {
	p := r.Process
	j := jsonReport{
		Status: "OK", Crash: jsonCrash{Type: optional(p.Crash.Reason)},
		System: jsonSystem{OS: p.OS, Version: optional(p.OSVersion), Arch: schemaCPU(p.CPU)},
		Count:  len(r.Stacks), Threads: []*jsonThread{}, Modules: []jsonModule{}, Unloaded: []struct{}{},
		Extension: jsonProcess{1, p.Name, p.Args, p.Crash.Signal, p.Crash.Code, p.Crash.Sender, append([]string{}, p.Warnings...)},
	}
	if p.PID != 0 {
		j.PID = &p.PID
	}
	if p.Crash.HasAddress {
		j.Crash.Address = r.hex(p.Crash.Address)
	}
	if n := len(p.Mappings); n > 0 {
		j.MapCount = &n
	}
	for i := range r.Stacks {
		j.Threads = append(j.Threads, r.jsonThread(&r.Stacks[i], i == r.crashed()))
	}
	if i := r.crashed(); i >= 0 {
		j.Crash.Thread = &i
		j.Crashed = &jsonCrashed{i, j.Threads[i]}
	}
	for i, m := range p.Modules {
		if m == p.Main {
			j.Main = &i
		}
		j.Modules = append(j.Modules, r.jsonModule(m))
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(&j)
}

// schemaCPU is the schema's name of a CPU.
func schemaCPU(cpu string) string {
	if cpu == "x86_64" {
		return "amd64"
	}
	return cpu
}

// schemaTrust is the schema's word for how a frame was found; what it has no
// word for has the nearest: rules, or registers.
func schemaTrust(t Trust) string {
	return [...]string{TrustScan: "scan", TrustCFIScan: "cfi_scan", TrustFramePointer: "frame_pointer", TrustLeaf: "frame_pointer",
		TrustSignal: "cfi", TrustCFI: "cfi", TrustContext: "context"}[t]
}

// key is the trust's name under the symkit key.
func (t Trust) key() string {
	return [...]string{"scan", "cfi_scan", "frame_pointer", "leaf", "signal_frame", "cfi", "context"}[t]
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// hex is an address as the schema has it, padded to the CPU's width.
func (r *Result) hex(v uint64) *string {
	s := fmt.Sprintf("0x%0*x", 2*r.Process.WordSize(), v)
	return &s
}

func (r *Result) jsonThread(s *Stack, crashed bool) *jsonThread {
	t := &jsonThread{Name: optional(s.Thread.Name), ID: s.Thread.ID, Count: len(s.Frames),
		Frames: make([]jsonFrame, len(s.Frames)), Extension: jsonThreadExtra{s.End, s.Complete}}
	for i := range s.Frames {
		t.Frames[i] = r.jsonFrame(&s.Frames[i], i)
	}
	if crashed && len(s.Frames) > 0 {
		regs := map[string]string{}
		for _, reg := range r.Process.Named(&s.Thread.Regs) {
			regs[reg.Name] = *r.hex(reg.Value)
		}
		t.Frames[0].Registers = regs
	}
	return t
}

func (r *Result) jsonFrame(f *Frame, i int) jsonFrame {
	at, place := f.Lookup(), f.Place
	j := jsonFrame{Frame: i, Trust: schemaTrust(f.Trust), Offset: *r.hex(at), Missing: true,
		Extension: jsonFrameExtra{*r.hex(f.PC), *r.hex(f.SP), f.Trust.key(), f.Why, f.Exact, f.Signal, place.Public}}
	if f.Module != nil {
		name := path.Base(f.Module.Path)
		j.Module, j.ModuleOffset, j.Missing = &name, r.hex(at-f.Module.Base), !r.Loaded[f.Module]
	}
	if place.Func != "" {
		j.Function, j.FuncOffset = &place.Func, r.hex(at-place.FuncAddr)
	}
	j.File, j.Line = position(place.File, place.Line)
	for _, in := range place.Inlines {
		file, line := position(in.File, in.Line)
		j.Inlines = append(j.Inlines, jsonInline{in.Func, file, line})
	}
	return j
}

func position(file string, line uint32) (*string, *uint32) {
	if file == "" {
		return nil, nil
	}
	return &file, &line
}

func (r *Result) jsonModule(m *Module) jsonModule {
	j := jsonModule{Base: *r.hex(m.Base), End: *r.hex(m.End), DebugFile: m.DebugFile, DebugID: optional(m.DebugID),
		Filename: m.Path, CodeID: optional(hex.EncodeToString(m.BuildID)), Loaded: r.Loaded[m]}
	if syms := r.Symbols[m]; syms != nil {
		j.Missing = !r.Loaded[m]
		j.Corrupt = r.BadLines[m] > 0
		j.Extension = jsonModuleExtra{From: syms.From, BadLines: r.BadLines[m], Damage: syms.Damage}
		for _, p := range syms.Tried {
			j.Extension.Tried = append(j.Extension.Tried, jsonProbe{p.Path, p.Err.Error()})
		}
	}
	return j
}
