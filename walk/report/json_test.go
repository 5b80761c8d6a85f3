package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"symkit/walk"
)

// TestJSONFacts: every key of the schema that a dump can fill.
func TestJSONFacts(t *testing.T) {
	name, args, seven := "Event", "-v", uint64(7)
	p := &walk.Process{OS: "Linux", CPU: "x86", Crashed: -1, PID: 9, Memory: memoryMap{}, Mappings: make([]walk.Mapping, 3),
		Modules: []*walk.Module{
			{Path: `C:\a\b.dll`, Base: 0x2000, End: 0x3000, Order: 1, CodeID: "ABC", Version: "1.2"},
			{Path: `C:\a.exe`, Base: 0x4000, End: 0x5000, DebugFile: "a.pdb", DebugID: "AA1"}},
		Facts: walk.Facts{CPUInfo: "family 6", CPUs: 4, Microcode: "0x1f", Uptime: 77, HasUptime: true, Assertion: "x > 0",
			Unloaded:   []walk.UnloadedModule{{Name: "u.dll", Base: 0x6000, End: 0x7000, CodeID: "DEF"}},
			Handles:    []walk.Handle{{Handle: 8, Type: &name, Name: nil}},
			LSB:        &walk.LSBRelease{ID: "Debian", Release: "12", Codename: "bookworm", Description: "Debian 12"},
			Limits:     []walk.Limit{{Name: "Max open files", Soft: "1024", Hard: "unlimited", Unit: "files"}, {Name: "Max x", Soft: "007", Hard: "0", Unit: "n/a"}},
			MacRecords: []walk.MacRecord{{Thread: &seven, Message: "abort() called"}}, MacBootArgs: &args,
			SoftErrors: []byte(`[{"a":1}]`),
			Crashpad: &walk.Crashpad{ReportID: "r-1", Simple: []walk.Annotation{{Name: "k", Value: "v"}},
				Modules: []walk.CrashpadModule{{Module: "m", List: []string{"l"}, Simple: []walk.Annotation{{Name: "s", Value: "t"}}, Objects: []walk.Annotation{{Name: "o", Value: "p"}}}}}},
		Warnings: []string{"torn"}}
	p.Main = p.Modules[1]
	res := &walk.Result{Process: p, Modules: []walk.ModuleSymbols{{Module: p.Modules[0]}, {Module: p.Modules[1]}}}
	var out bytes.Buffer
	if err := JSON(&out, res); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Fatalf("no JSON: %s", &out)
	}
	for _, want := range []string{
		`"pid":9`, `"process_uptime":77`, `"assertion":"x > 0"`, `"linux_memory_map_count":3`, `"main_module":0`, `"crashing_thread":null`,
		`"cpu_info":"family 6","cpu_count":4,"cpu_microcode_version":"0x1f"`,
		`"modules":[{"base_addr":"0x00004000","end_addr":"0x00005000","debug_file":"a.pdb","debug_id":"AA1","filename":"a.exe","code_id":null,"version":null`,
		`"debug_file":"","debug_id":null,"filename":"b.dll","code_id":"abc","version":"1.2"`,
		`"unloaded_modules":[{"base_addr":"0x00006000","end_addr":"0x00007000","code_id":"def","filename":"u.dll","cert_subject":null}]`,
		`"handles":[{"handle":8,"type_name":"Event","object_name":null}]`,
		`"lsb_release":{"id":"Debian","release":"12","codename":"bookworm","description":"Debian 12"}`,
		`"proc_limits":{"limits":[{"name":"Max open files","soft":1024,"hard":"unlimited","unit":"files"},{"name":"Max x","soft":7,"hard":0,"unit":"n/a"}]}`,
		`"mac_crash_info":{"num_records":1,"records":[{"thread":"0x00000007","dialog_mode":null,"abort_cause":null,"module":null,"message":"abort() called"`,
		`"mac_boot_args":"-v"`, `"soft_errors":[{"a":1}]`,
		`"crashpad":{"report_id":"r-1","client_id":null,"annotations":{"k":"v"},"modules":[{"module":"m","list":["l"],"annotations":{"s":"t"},"objects":{"o":"p"}}]}`,
		`"warnings":["torn"]`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
	p.Facts.SoftErrors = []byte("no JSON")
	out.Reset()
	if err := JSON(&out, res); err != nil || !json.Valid(out.Bytes()) || !strings.Contains(out.String(), `"soft_errors":null`) {
		t.Errorf("%v: %s", err, &out)
	}
}
