package report

import (
	"encoding/json"
	"strconv"
	"strings"

	"symkit/walk"
	"symkit/walk/internal/shown"
)

// The objects of rust-minidump's schema, and symkit's own within them.

type jsonReport struct {
	Status     string          `json:"status"`
	PID        *int            `json:"pid"`
	Uptime     *uint64         `json:"process_uptime"`
	Crash      jsonCrash       `json:"crash_info"`
	System     jsonSystem      `json:"system_info"`
	MapCount   *int            `json:"linux_memory_map_count"`
	Count      int             `json:"thread_count"`
	Main       *int            `json:"main_module"`
	CertInfo   bool            `json:"modules_contains_cert_info"`
	Modules    []jsonModule    `json:"modules"`
	Unloaded   []jsonUnloaded  `json:"unloaded_modules"`
	Handles    *[]jsonHandle   `json:"handles"`
	LSB        *jsonLSB        `json:"lsb_release"`
	Limits     *jsonLimits     `json:"proc_limits"`
	MacCrash   *jsonMac        `json:"mac_crash_info"`
	BootArgs   *string         `json:"mac_boot_args"`
	SoftErrors json.RawMessage `json:"soft_errors"`
	Extension  *jsonProcess    `json:"symkit,omitempty"`
}

type jsonCrash struct {
	Type            *string       `json:"type"`
	Address         *string       `json:"address"`
	Adjusted        *jsonAdjusted `json:"adjusted_address"`
	Instruction     *string       `json:"instruction"`
	Accesses        *[]jsonAccess `json:"memory_accesses"`
	Update          *jsonUpdate   `json:"instruction_pointer_update"`
	BitFlips        []jsonBitFlip `json:"possible_bit_flips"`
	Inconsistencies []string      `json:"crash_inconsistencies"`
	Thread          *int          `json:"crashing_thread"`
	Assertion       *string       `json:"assertion"`
}

type jsonAdjusted struct {
	Kind    string  `json:"kind"`
	Address *string `json:"address,omitempty"`
	Offset  *string `json:"offset,omitempty"`
}

type jsonBitFlip struct {
	Address    string           `json:"address"`
	Register   *string          `json:"source_register"`
	Details    shown.FlipDetail `json:"details"`
	Confidence float64          `json:"confidence"`
}

type jsonAccess struct {
	Address string `json:"address"`
	Size    *int   `json:"size"`
	Guard   bool   `json:"is_likely_guard_page,omitempty"`
	Kind    string `json:"access_type,omitempty"`
}

type jsonUpdate struct {
	Address string `json:"address"`
	Guard   bool   `json:"is_likely_guard_page,omitempty"`
}

type jsonSystem struct {
	OS        string  `json:"os"`
	Version   *string `json:"os_ver"`
	Arch      string  `json:"cpu_arch"`
	Info      *string `json:"cpu_info"`
	Count     *int    `json:"cpu_count"`
	Microcode *string `json:"cpu_microcode_version"`
}

// jsonThread is a thread without its frames, which are written last.
type jsonThread struct {
	Index     *int             `json:"threads_index,omitempty"`
	Name      *string          `json:"thread_name"`
	ID        int              `json:"thread_id"`
	LastError *string          `json:"last_error_value"`
	Count     int              `json:"frame_count"`
	Extension *jsonThreadExtra `json:"symkit,omitempty"`
}

type jsonFrame struct {
	Frame        int               `json:"frame"`
	Trust        string            `json:"trust"`
	Registers    map[string]string `json:"registers,omitempty"`
	Offset       string            `json:"offset"`
	Module       *string           `json:"module"`
	ModuleOffset *string           `json:"module_offset"`
	Unloaded     []jsonUnloadedAt  `json:"unloaded_modules"`
	Inlines      []jsonInline      `json:"inlines"`
	Function     *string           `json:"function"`
	FuncOffset   *string           `json:"function_offset"`
	File         *string           `json:"file"`
	Line         *uint32           `json:"line"`
	Missing      bool              `json:"missing_symbols"`
	Extension    *jsonFrameExtra   `json:"symkit,omitempty"`
}

type jsonInline struct {
	Function string  `json:"function"`
	File     *string `json:"file"`
	Line     *uint32 `json:"line"`
}

type jsonUnloadedAt struct {
	Module  string   `json:"module"`
	Offsets []string `json:"offsets"`
}

type jsonModule struct {
	Base      string           `json:"base_addr"`
	End       string           `json:"end_addr"`
	DebugFile string           `json:"debug_file"`
	DebugID   *string          `json:"debug_id"`
	Filename  string           `json:"filename"`
	CodeID    *string          `json:"code_id"`
	Version   *string          `json:"version"`
	Cert      *string          `json:"cert_subject"`
	Missing   bool             `json:"missing_symbols"`
	Loaded    bool             `json:"loaded_symbols"`
	Corrupt   bool             `json:"corrupt_symbols"`
	URL       *string          `json:"symbol_url"`
	Extension *jsonModuleExtra `json:"symkit,omitempty"`
}

type jsonUnloaded struct {
	Base     string  `json:"base_addr"`
	End      string  `json:"end_addr"`
	CodeID   *string `json:"code_id"`
	Filename string  `json:"filename"`
	Cert     *string `json:"cert_subject"`
}

type jsonHandle struct {
	Handle uint64  `json:"handle"`
	Type   *string `json:"type_name"`
	Name   *string `json:"object_name"`
}

type jsonLSB struct {
	ID          string `json:"id"`
	Release     string `json:"release"`
	Codename    string `json:"codename"`
	Description string `json:"description"`
}

type jsonLimits struct {
	Limits []jsonLimit `json:"limits"`
}

type jsonLimit struct {
	Name string          `json:"name"`
	Soft json.RawMessage `json:"soft"`
	Hard json.RawMessage `json:"hard"`
	Unit string          `json:"unit"`
}

type jsonMac struct {
	Count   int             `json:"num_records"`
	Records []jsonMacRecord `json:"records"`
}

type jsonMacRecord struct {
	Thread     *string `json:"thread"`
	DialogMode *string `json:"dialog_mode"`
	AbortCause *string `json:"abort_cause"`
	Module     *string `json:"module"`
	Message    *string `json:"message"`
	Signature  *string `json:"signature_string"`
	Backtrace  *string `json:"backtrace"`
	Message2   *string `json:"message2"`
}

// jsonProcess has the values of a dump that are outside of the schema.
type jsonProcess struct {
	Version   int           `json:"version"` // of the symkit keys
	Name      string        `json:"name"`
	Args      string        `json:"args"`
	Signal    int           `json:"signal"`
	Code      int           `json:"si_code"`
	Sender    int           `json:"sender_pid,omitempty"`
	Signature *string       `json:"signature,omitempty"`
	Proto     *string       `json:"proto_signature,omitempty"`
	Crashpad  *jsonCrashpad `json:"crashpad,omitempty"`
	Warnings  []string      `json:"warnings"`
}

type jsonCrashpad struct {
	ReportID *string              `json:"report_id"`
	ClientID *string              `json:"client_id"`
	Simple   map[string]string    `json:"annotations"`
	Modules  []jsonCrashpadModule `json:"modules"`
}

type jsonCrashpadModule struct {
	Module  string            `json:"module"`
	List    []string          `json:"list,omitempty"`
	Simple  map[string]string `json:"annotations,omitempty"`
	Objects map[string]string `json:"objects,omitempty"`
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
	After  bool   `json:"after_symbol,omitempty"`
}

type jsonModuleExtra struct {
	Path     string      `json:"path"`
	From     string      `json:"symbols_from,omitempty"`
	Tried    []jsonProbe `json:"tried,omitempty"`
	BadLines int         `json:"bad_lines,omitempty"`
	Damage   int         `json:"damage,omitempty"`
}

type jsonProbe struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// facts fills in the facts of the process.
func (j *jsonReport) facts(f *walk.Facts, w *jsonWriter) {
	if f.Handles != nil {
		handles := make([]jsonHandle, 0, len(f.Handles))
		for _, h := range f.Handles {
			handles = append(handles, jsonHandle(h))
		}
		j.Handles = &handles
	}
	j.LSB = (*jsonLSB)(f.LSB)
	if f.Limits != nil {
		j.Limits = &jsonLimits{}
		for _, l := range f.Limits {
			j.Limits.Limits = append(j.Limits.Limits, jsonLimit{l.Name, limitValue(l.Soft), limitValue(l.Hard), l.Unit})
		}
	}

	// Absent records are null, and an empty list of records is an object.
	if f.MacRecords != nil {
		j.MacCrash = &jsonMac{Count: len(f.MacRecords)}
		for i := range f.MacRecords {
			j.MacCrash.Records = append(j.MacCrash.Records, w.macRecord(&f.MacRecords[i]))
		}
	}

	j.BootArgs = f.MacBootArgs
	if json.Valid(f.SoftErrors) {
		j.SoftErrors = f.SoftErrors
	}
}

// limitValue returns a number as it is, and any other value as a JSON string.
func limitValue(s string) json.RawMessage {
	if _, err := strconv.ParseUint(s, 10, 64); err == nil {
		return json.RawMessage(strings.TrimLeft(s[:len(s)-1], "0") + s[len(s)-1:])
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return b
}

func (w *jsonWriter) macRecord(m *walk.MacRecord) jsonMacRecord {
	number := func(v *uint64) *string {
		if v == nil {
			return nil
		}
		return w.optional(*v)
	}
	return jsonMacRecord{number(m.Thread), number(m.DialogMode), number(m.AbortCause), optional(m.Module),
		optional(m.Message), optional(m.Signature), optional(m.Backtrace), optional(m.Message2)}
}

func newJSONCrashpad(c *walk.Crashpad) *jsonCrashpad {
	if c == nil {
		return nil
	}
	j := &jsonCrashpad{optional(c.ReportID), optional(c.ClientID), dictionary(c.Simple), []jsonCrashpadModule{}}
	for _, m := range c.Modules {
		j.Modules = append(j.Modules, jsonCrashpadModule{m.Module, m.List, dictionary(m.Simple), dictionary(m.Objects)})
	}
	return j
}

// dictionary returns annotations by name. The last of several with one name counts.
func dictionary(all []walk.Annotation) map[string]string {
	out := make(map[string]string, len(all))
	for _, a := range all {
		out[a.Name] = a.Value
	}
	return out
}

// schemaTrust returns the schema's word for a trust. A trust without a word there has
// the nearest one: that of rules, or of registers.
func schemaTrust(t walk.Trust) string {
	return [...]string{walk.TrustScan: "scan", walk.TrustCFIScan: "cfi_scan", walk.TrustListed: "prewalked", walk.TrustFramePointer: "frame_pointer", walk.TrustCode: "frame_pointer", walk.TrustLeaf: "frame_pointer",
		walk.TrustSignal: "cfi", walk.TrustCFI: "cfi", walk.TrustContext: "context"}[t]
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func position(file string, line uint32) (*string, *uint32) {
	if file == "" {
		return nil, nil
	}
	return &file, &line
}
