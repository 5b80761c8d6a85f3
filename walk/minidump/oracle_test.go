//go:build oracle

package minidump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

// Where the dumps of Breakpad and rust-minidump are, below $SYMKIT_CRASHDUMPS.
const (
	breakpadDumps = "breakpad/src/processor/testdata"
	rustDumps     = "rust-minidump/testdata"
)

// dumps are the dumps of one of them, as scripts/crashdumps.sh has put them
// there. The test is skipped where it could not fetch them.
func dumps(t *testing.T, where string) []string {
	t.Helper()
	root := os.Getenv("SYMKIT_CRASHDUMPS")
	files, err := filepath.Glob(filepath.Join(root, where, "*.dmp"))
	if err != nil || len(files) > 0 {
		return files
	}
	project, _, _ := strings.Cut(where, "/")
	why, err := os.ReadFile(filepath.Join(root, project, "SKIPPED"))
	if err != nil {
		t.Fatalf("run scripts/crashdumps.sh, and set SYMKIT_CRASHDUMPS to where it fetches to: %v", err)
	}
	t.Skipf("%s: %s", project, why)
	return nil
}

// placed asserts that an error has a place in the data.
func placed(t *testing.T, err error, size int) {
	var e *wire.Error
	if !errors.As(err, &e) || e.Offset < 0 || e.Offset > size || e.Section != mdmp.Section {
		t.Fatalf("error without a place: %v", err)
	}
}

// TestOracleMutations: 200 damaged copies of each dump give processes, or errors with a place.
func TestOracleMutations(t *testing.T) {
	files := append(dumps(t, breakpadDumps), dumps(t, rustDumps)...)
	random, n := rand.New(rand.NewPCG(1, 2)), 0
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(whole, []byte("MDMP")) {
			continue
		}
		for range 200 {
			data := slices.Clone(whole[:len(whole)-random.IntN(2)*random.IntN(len(whole))])
			for range 1 + random.IntN(30) {
				// The streams' structures are mostly at the start.
				if at := random.IntN(1 + min(len(data)-1, 1<<(5+random.IntN(16)))); at < len(data) {
					data[at] = byte(random.IntN(256))
				}
			}
			n++
			d, err := New(data)
			if err == nil {
				for _, l := range d.file.Losses {
					placed(t, l, len(data))
				}
				d.Process()
				continue
			}
			placed(t, err, len(data))
		}
	}
	t.Logf("%d damaged dumps", n)
}

// TestOracleDump compares with Breakpad's expected output of minidump_dump for
// minidump2.dmp: the fields that it has of each structure.
func TestOracleDump(t *testing.T) {
	dir := filepath.Dir(dumps(t, breakpadDumps)[0])
	text, err := os.ReadFile(filepath.Join(dir, "minidump2.dump.out"))
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, "minidump2")
	got := dumpFields(t, d)
	want, compared := dumpSections(string(text)), 0
	for title, sections := range got {
		if len(want[title]) != len(sections) {
			t.Errorf("%d of %s, want %d", len(sections), title, len(want[title]))
			continue
		}
		for i, s := range sections {
			for k, v := range s {
				compared++
				if want[title][i][k] != v {
					t.Errorf("%s %d: %s = %s, want %s", title, i, k, v, want[title][i][k])
				}
			}
		}
	}
	t.Logf("%d fields compared", compared)
}

type fieldsOf = map[string][]map[string]string

// dumpSections reads "TITLE" and lines "  NAME = VALUE".
func dumpSections(text string) fieldsOf {
	out, title := fieldsOf{}, ""
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), " = ")
		switch {
		case !strings.HasPrefix(line, " "):
			title = strings.TrimSpace(line)
			out[title] = append(out[title], map[string]string{})
		case ok:
			value, _, _ = strings.Cut(value, " (")
			out[title][len(out[title])-1][strings.TrimSpace(name)] = strings.Trim(value, `"`)
		}
	}
	return out
}

// dumpFields is the dump in the same form.
func dumpFields(t *testing.T, d *Dump) fieldsOf {
	out := fieldsOf{}
	add := func(title string, pairs ...any) {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = fmt.Sprint(pairs[i+1])
		}
		out[title] = append(out[title], m)
	}
	hex := func(v any) string { return fmt.Sprintf("0x%x", v) }
	context := func(l mdmp.Location) {
		for _, fields := range dumpSections(string(d.file.AppendContext(nil, l)))["CONTEXT_X86"] {
			maps.DeleteFunc(fields, func(name, _ string) bool { return strings.Contains(name, "[") })
			out["MDRawContextX86"] = append(out["MDRawContextX86"], fields)
		}
	}
	for _, s := range d.file.Directory {
		add("MDRawDirectory", "stream_type", hex(uint32(s.Type)), "location.data_size", s.Location.Size, "location.rva", hex(s.Location.RVA))
	}
	for i := range d.file.Threads {
		th := &d.file.Threads[i]
		add("MDRawThread", "thread_id", hex(th.ID), "suspend_count", th.SuspendCount, "teb", hex(th.TEB), "priority", hex(th.Priority),
			"stack.start_of_memory_range", hex(th.Stack.Base), "stack.memory.data_size", hex(len(d.file.Stack(th).Data)), "thread_context.rva", hex(th.Context.RVA))
		context(th.Context)
	}
	context(d.file.Exception.Context)
	for i := range d.file.Modules {
		m := &d.file.Modules[i]
		add("MDRawModule", "base_of_image", hex(m.Base), "size_of_image", hex(m.Size), "checksum", hex(m.Checksum), "version_info.signature", hex(m.Version.Signature),
			"version_info.file_version", fmt.Sprintf("0x%x:0x%x", m.Version.File[0], m.Version.File[1]), "version_info.file_os", hex(m.Version.OS),
			"version_info.file_date", fmt.Sprintf("0x%x:0x%x", m.Version.Date[0], m.Version.Date[1]),
			"(code_file)", m.Name, "(code_identifier)", d.file.CodeID(m), "(cv_record).age", m.CodeView.Age, "(cv_record).pdb_file_name", string(m.CodeView.File),
			"(debug_file)", m.DebugFile(), "(debug_identifier)", d.file.DebugID(m), "(version)", d.file.Version(m))
	}
	for _, r := range d.file.Memory.Ranges {
		add("MDMemoryDescriptor", "start_of_memory_range", hex(r.Base), "memory.data_size", hex(len(r.Data)), "memory.rva", hex(r.Off))
	}
	e, s := d.file.Exception, &d.file.System
	add("MDException", "thread_id", hex(e.ThreadID), "exception_record.exception_code", hex(e.Code), "exception_record.exception_flags", hex(e.Flags),
		"exception_record.exception_address", hex(e.Address), "exception_record.number_parameters", len(e.Parameters),
		"exception_record.exception_information[ 0]", hex(e.Parameters[0]), "exception_record.exception_information[ 1]", hex(e.Parameters[1]))
	add("MDRawSystemInfo", "processor_architecture", hex(uint16(s.CPU)), "processor_level", s.Level, "processor_revision", hex(s.Revision),
		"number_of_processors", s.Processors, "product_type", s.ProductType, "major_version", s.Major, "minor_version", s.Minor, "build_number", s.Build,
		"platform_id", hex(uint32(s.OS)), "suite_mask", hex(s.SuiteMask), "(csd_version)", s.ServicePack, "(cpu_vendor)", s.Vendor())
	m := d.file.Misc
	add("MDRawMiscInfo", "size_of_info", m.Size, "flags1", hex(m.Flags), "process_id", m.ProcessID, "process_user_time", m.UserTime, "process_kernel_time", m.KernelTime)
	add("MDRawBreakpadInfo", "dump_thread_id", hex(d.file.Breakpad.DumpThread), "requesting_thread_id", hex(d.file.Breakpad.RequestingThread))
	return out
}

// TestOracleSnapshots compares with the JSON that rust-minidump's tool wrote:
// system, crash, modules, threads.
func TestOracleSnapshots(t *testing.T) {
	dir := filepath.Dir(dumps(t, rustDumps)[0])
	for snapshot, file := range map[string]string{"json-pretty": "test", "linux_json_pretty": "linux-mini", "macos_inlines_json_pretty": "pipeline-inlines-macos-segv"} {
		text, err := os.ReadFile(filepath.Join(dir, "../minidump-stackwalk/tests/snapshots/test_minidump_stackwalk__"+snapshot+".snap"))
		if err != nil {
			t.Fatal(err)
		}
		var want snap
		if err := json.Unmarshal(text[bytes.Index(text, []byte("\n{")):], &want); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, file+".dmp"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := New(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, snapshotOf(d)); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

// snap is a part of the JSON.
type snap struct {
	CrashInfo struct{ Type, Address string } `json:"crash_info"`
	System    struct {
		OS     string `json:"os"`
		OSVer  string `json:"os_ver"`
		CPU    string `json:"cpu_arch"`
		Info   string `json:"cpu_info"`
		Number int    `json:"cpu_count"`
	} `json:"system_info"`
	PID      *uint32      `json:"pid"`
	Mappings *int         `json:"linux_memory_map_count"`
	Modules  []snapModule `json:"modules"`
	Crashing struct {
		ID   uint32  `json:"thread_id"`
		Name *string `json:"thread_name"`
	} `json:"crashing_thread"`
}

type snapModule struct {
	Base    string  `json:"base_addr"`
	End     string  `json:"end_addr"`
	Debug   string  `json:"debug_file"`
	DebugID string  `json:"debug_id"`
	File    string  `json:"filename"`
	CodeID  string  `json:"code_id"`
	Version *string `json:"version"`
}

func snapshotOf(d *Dump) (s snap) {
	digits := 8
	if d.file.System.CPU.Wide() {
		digits = 16
	}
	hex := func(v uint64) string { return fmt.Sprintf("0x%0*x", digits, v) }
	s.CrashInfo.Type, s.CrashInfo.Address = crashReason(d.file, styleRust), hex(crashAddress(d.file))
	version, build := d.file.System.VersionBuild()
	s.System.OS, s.System.OSVer = d.file.System.OS.String(), strings.TrimSpace(version+" "+build)
	s.System.CPU, s.System.Info, s.System.Number = d.file.System.CPU.String(), d.file.System.CPUInfo(), int(d.file.System.Processors)
	if d.file.Misc != nil && d.file.Misc.Flags&mdmp.MiscProcessID != 0 {
		s.PID = &d.file.Misc.ProcessID
	}
	if pid, ok := maps.Collect(mdmp.Fields(d.file.File(mdmp.LinuxProcStatusStream), ':'))["Pid"]; ok {
		n, _ := strconv.Atoi(pid)
		s.PID = new(uint32)
		*s.PID = uint32(n)
	}
	if n := len(d.file.Maps); n > 0 {
		s.Mappings = &n
	}
	th := &d.file.Threads[d.file.RequestingThread()]
	s.Crashing.ID = th.ID
	for _, n := range d.file.ThreadNames {
		if n.ID == th.ID {
			name := n.Name.String()
			s.Crashing.Name = &name
		}
	}
	for i := range d.file.Modules {
		m := &d.file.Modules[i]
		r := snapModule{Base: hex(m.Base), End: hex(m.End()), Debug: leaf(m.DebugFile()), File: leaf(m.Name.String()), CodeID: strings.ToLower(d.file.CodeID(m))}
		if m.CodeView.Identified() {
			r.DebugID = d.file.DebugID(m)
		}
		if v := d.file.Version(m); v != "" {
			r.Version = &v
		}
		s.Modules = append(s.Modules, r)
	}
	return s
}
