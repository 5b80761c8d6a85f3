package mdmp_test

import (
	"errors"
	"strings"
	"testing"

	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// entry is the place of a stream's location in the directory.
func entry(i int) int { return 32 + 12*i + 4 }

// TestRejectedDumps: what makes a dump useless (MINIDUMP_HEADER,
// MINIDUMP_DIRECTORY, the required streams).
func TestRejectedDumps(t *testing.T) {
	for _, c := range []struct {
		name, text string
		cut        int // bytes to keep, 0 for all
		err        error
		at         any // an offset or a label
	}{
		{"no bytes", "", -1, mdmp.ErrSignature, 0},
		{"another signature", "header 0x12345678 0xa793 0", 0, mdmp.ErrSignature, 0},
		{"header cut", "", 20, wire.ErrTruncated, 20},
		{"another version", "header 0x504d444d 0xa794 0", 0, mdmp.ErrVersion, 4},
		{"directory outside", "directory 33", 0, wire.ErrOffset, 12},
		{"directory larger than the file", synth.Base + "header 0x504d444d 0xa793 12", 0, mdmp.ErrCount, 32},
		{"no system info", "stream ThreadList u32 0", 0, mdmp.ErrMissing, 0},
		{"no threads", synth.System(mdmp.CPUAMD64, mdmp.OSLinux), 0, mdmp.ErrMissing, 0},
		{"system info cut", "stream SystemInfo zero 55 end:", 0, wire.ErrTruncated, 44 + 52},
		{"threads cut", synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u16 0", 0, wire.ErrTruncated, "ThreadList"},
		{"more threads than fit", synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u32 2 zero 48", 0, mdmp.ErrCount, "ThreadList"},
		{"threads with a tail", synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u32 1 zero 56", 0, mdmp.ErrCount, "ThreadList"},
	} {
		for _, big := range []bool{false, true} {
			s := synth.Assemble(t, big, c.text)
			if c.cut != 0 {
				s.Data = s.Data[:max(c.cut, 0)]
			}
			d, err := readAll(s.Data)
			if d != nil || err == nil {
				t.Errorf("%s: read", c.name)
				continue
			}
			located(t, s, c.name, err, c.err, c.at)
		}
	}
}

// located asserts an error and its place.
func located(t *testing.T, s synth.Dump, name string, err, want error, at any) {
	t.Helper()
	offset, ok := at.(int)
	if !ok {
		if offset, ok = s.Labels[at.(string)]; !ok {
			t.Fatalf("%s: no label %v", name, at)
		}
	}
	var e *wire.Error
	if !errors.Is(err, want) || !errors.As(err, &e) || e.Offset != offset || e.Section != mdmp.Section {
		t.Errorf("%s: %v, want %v at %#x", name, err, want, offset)
	}
}

// TestLosses: damage that costs a stream or a record, one row for each branch
// that rejects. "kept" is the number of records left.
func TestLosses(t *testing.T) {
	kept := map[string]func(*mdmp.Dump) int{
		"threads": func(d *mdmp.Dump) int { return len(d.Threads) }, "names": func(d *mdmp.Dump) int { return len(d.ThreadNames) },
		"modules": func(d *mdmp.Dump) int { return len(d.Modules) }, "unloaded": func(d *mdmp.Dump) int { return len(d.UnloadedModules) },
		"memory": func(d *mdmp.Dump) int { return len(d.Memory.Ranges) }, "pages": func(d *mdmp.Dump) int { return len(d.MemoryInfo) },
		"handles": func(d *mdmp.Dump) int { return len(d.Handles) }, "maps": func(d *mdmp.Dump) int { return len(d.Maps) },
		"mac": func(d *mdmp.Dump) int { return len(d.MacCrashInfo) }, "infos": func(d *mdmp.Dump) int { return set(d.Has(mdmp.ThreadInfoListStream)) },
		"misc": func(d *mdmp.Dump) int { return set(d.Misc != nil) }, "exception": func(d *mdmp.Dump) int { return set(d.Exception != nil) },
		"breakpad": func(d *mdmp.Dump) int { return set(d.Breakpad != nil) }, "assertion": func(d *mdmp.Dump) int { return set(d.Assertion != nil) },
		"crashpad": func(d *mdmp.Dump) int { return set(d.Crashpad != nil) }, "bootargs": func(d *mdmp.Dump) int { return d.MacBootArgs.Len() },
		"annotations": func(d *mdmp.Dump) int { return len(d.Crashpad.Annotations) },
		"text":        func(d *mdmp.Dump) int { return set(d.File(mdmp.LinuxProcStatusStream) != nil) },
	}
	for _, c := range losses {
		for _, big := range []bool{false, true} {
			text := synth.Base + c.text
			if strings.Contains(c.text, "stream ThreadList") {
				text = c.text
			}
			s := synth.Assemble(t, big, text)
			d, err := readAll(s.Data)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if d.Lost != 1 || len(d.Losses) != 1 {
				t.Errorf("%s: %d losses: %v", c.name, d.Lost, d.Losses)
				continue
			}
			located(t, s, c.name, d.Losses[0], c.err, c.at)
			if !strings.HasPrefix(d.Losses[0].Error(), d.Losses[0].Stream.String()+": minidump+0x") {
				t.Errorf("%s: %v", c.name, d.Losses[0])
			}
			if n := kept[c.kept](d); n != c.n {
				t.Errorf("%s: %d %s left, want %d", c.name, n, c.kept, c.n)
			}
		}
	}
}

func set(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What the records of the rows below point to.
const (
	name = "block s str \"name\"\n"
	none = " u32 0 0 "
)

func thread(stack string) string {
	return synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u32 1 7 0 0 0 u64 0 at: " + stack + none
}

func module(begin, rva, cv, misc string) string {
	return "stream ModuleList u32 1 range: " + begin + " u32 0 0 at: " + rva + " zero 52 cvat: " + cv + " miscat: " + misc + " zero 16\n"
}

// image is a module with nothing wrong before its CodeView record.
func image(cv, misc string) string { return module("u64 0x1000 u32 0x1000", "rva s", cv, misc) + name }

// crashpad is a CrashpadInfoStream with annotations and modules.
func crashpad(annotations, modules string) string {
	return "stream CrashpadInfo u32 1 zero 32 " + annotations + " " + modules + "\n"
}

// crashpadModule is one with the lists of one module.
func crashpadModule(list, simple, objects string) string {
	return crashpad(none, "loc links") + "block links u32 1 5 loc m\nblock m u32 1 " + list + simple + objects + "\n"
}

type lossRow struct {
	name, text string
	err        error
	at         any
	kept       string
	n          int
}

var losses = []lossRow{
	{"stream outside", "entry LinuxProcStatus 8 0xffffff00", wire.ErrOffset, entry(2), "text", 0},
	{"stream past the end", "entry LinuxProcStatus 0xffffffff 0xffffffff", wire.ErrOffset, entry(2), "text", 0},
	{"duplicate stream", "stream LinuxProcStatus bytes \"a\" stream LinuxProcStatus bytes \"b\"", mdmp.ErrDuplicate, entry(3) - 4, "text", 1},

	{"MINIDUMP_THREAD stack outside", thread("u64 0x1000 stack: u32 16 0x1000000"), wire.ErrOffset, "stack", "threads", 1},
	{"MINIDUMP_THREAD stack past the last address", thread("u64 0xfffffffffffffff0 loc s") + "block s zero 32", mdmp.ErrRange, "at", "threads", 1},

	{"MINIDUMP_THREAD_NAME outside", "stream ThreadNames u32 2 1 at: u64 0x10000000 u32 2 rva64 s\n" + name, wire.ErrOffset, "at", "names", 1},
	{"MINIDUMP_THREAD_NAME far outside", "stream ThreadNames u32 1 1 at: u64 0xffffffffffffffff", wire.ErrOffset, "at", "names", 0},
	{"MINIDUMP_STRING odd", "stream ThreadNames u32 1 1 rva64 s\nblock s u32 3 zero 4", mdmp.ErrString, "s", "names", 0},
	{"MINIDUMP_STRING too long", "stream ThreadNames u32 1 1 rva64 s\nblock s u32 65538 zero 65540", mdmp.ErrString, "s", "names", 0},
	{"MINIDUMP_STRING cut", "stream ThreadNames u32 1 1 rva64 s\nblock s u32 8 end: zero 6", wire.ErrTruncated, "end", "names", 0},
	{"MINIDUMP_THREAD_NAME_LIST count", "stream ThreadNames u32 1 zero 20", mdmp.ErrCount, "ThreadNames", "names", 0},

	{"MINIDUMP_THREAD_INFO_LIST header too small", "stream ThreadInfoList u32 11 64 0", mdmp.ErrRecordSize, "ThreadInfoList", "infos", 0},
	{"MINIDUMP_THREAD_INFO_LIST entry too small", "stream ThreadInfoList u32 12 at: u32 63 0", mdmp.ErrRecordSize, "at", "infos", 0},
	{"MINIDUMP_THREAD_INFO_LIST header past the end", "stream ThreadInfoList u32 16 64 0 at:", wire.ErrTruncated, "at", "infos", 0},
	{"MINIDUMP_THREAD_INFO_LIST count", "stream ThreadInfoList u32 12 64 at: u32 2 zero 64", mdmp.ErrCount, "at", "infos", 0},
	{"MINIDUMP_THREAD_INFO_LIST cut", "stream ThreadInfoList u32 12 64 at: u16 0", wire.ErrTruncated, "at", "infos", 0},

	{"MINIDUMP_MODULE empty", module("u64 0x1000 u32 0", "rva s", none, none) + name, mdmp.ErrRange, "range", "modules", 0},
	{"MINIDUMP_MODULE past the last address", module("u64 0xfffffffffffff000 u32 0x1001", "rva s", none, none) + name, mdmp.ErrRange, "range", "modules", 0},
	{"MINIDUMP_MODULE name outside", module("u64 0x1000 u32 0x1000", "u32 0x1000000", none, none), wire.ErrOffset, "at", "modules", 1},
	{"MINIDUMP_MODULE CodeView outside", image("u32 24 0x1000000", none), wire.ErrOffset, "cvat", "modules", 1},
	{"MINIDUMP_MODULE_LIST count", "stream ModuleList u32 3 zero 216", mdmp.ErrCount, "ModuleList", "modules", 0},
	{"CodeView cut", image("loc cv", none) + "block cv u16 1", wire.ErrTruncated, "cv", "modules", 1},
	{"CodeView PDB 7.0 cut", image("loc cv", none) + "block cv u32 0x53445352 zero 16 at: u16 0", wire.ErrTruncated, "at", "modules", 1},
	{"CodeView PDB 2.0 cut", image("loc cv", none) + "block cv u32 0x3031424e 0 1 at: u16 0", wire.ErrTruncated, "at", "modules", 1},
	{"IMAGE_DEBUG_MISC outside", image(none, "u32 24 0x1000000"), wire.ErrOffset, "miscat", "modules", 1},
	{"IMAGE_DEBUG_MISC cut", image(none, "loc m") + "block m u32 1 8 u8 0 at: u16 0", wire.ErrTruncated, "at", "modules", 1},
	{"IMAGE_DEBUG_MISC size", image(none, "loc m") + "block m u32 1 at: u32 99 0 bytes \"a.dbg\"", mdmp.ErrRecordSize, "at", "modules", 1},
	{"IMAGE_DEBUG_MISC too long", image(none, "loc m") + "block m u32 1 at: u32 65549 0 zero 65537", mdmp.ErrString, "at", "modules", 1},
	{"IMAGE_DEBUG_MISC of two modules", "stream ModuleList u32 2 u64 0x1000 u32 1 0 0 rva s zero 52 u32 0 0 loc m zero 16 u64 0x2000 u32 1 0 0 rva s zero 52 u32 0 0 loc m zero 16\n" +
		name + "block m u32 1 60012 0 at: zero 60000", mdmp.ErrOverlap, "at", "modules", 2},

	{"MINIDUMP_UNLOADED_MODULE empty", "stream UnloadedModuleList u32 12 24 1 at: u64 0x1000 u32 0 0 0 rva s\n" + name, mdmp.ErrRange, "at", "unloaded", 0},
	{"MINIDUMP_UNLOADED_MODULE name outside", "stream UnloadedModuleList u32 12 24 1 u64 0x1000 u32 1 0 0 at: u32 0x1000000", wire.ErrOffset, "at", "unloaded", 0},
	{"MINIDUMP_UNLOADED_MODULE_LIST entry too small", "stream UnloadedModuleList u32 12 at: u32 20 0", mdmp.ErrRecordSize, "at", "unloaded", 0},

	{"MINIDUMP_MEMORY_DESCRIPTOR outside", "stream MemoryList u32 2 u64 0x1000 at: u32 8 0x1000000 u64 0x2000 loc s\n" + name, wire.ErrOffset, "at", "memory", 1},
	{"MINIDUMP_MEMORY_DESCRIPTOR past the last address", "stream MemoryList u32 1 at: u64 0xfffffffffffffff9 loc s\n" + name, mdmp.ErrRange, "at", "memory", 0},
	{"MINIDUMP_MEMORY_LIST count", "stream MemoryList u32 0x10000001 zero 16", mdmp.ErrCount, "MemoryList", "memory", 0},
	{"MINIDUMP_MEMORY64_LIST cut", "stream Memory64List u64 0 at: u32 0", wire.ErrTruncated, "at", "memory", 0},
	{"MINIDUMP_MEMORY64_LIST count", "stream Memory64List u64 0x1000000000000001 0 zero 16", mdmp.ErrCount, "Memory64List", "memory", 0},
	{"MINIDUMP_MEMORY64_LIST base outside", "stream Memory64List u64 1 at: u64 0x1000000 1 1", wire.ErrOffset, "at", "memory", 0},
	{"MINIDUMP_MEMORY64_LIST range past the last address", "stream Memory64List u64 2 rva64 s u64 0x1000 4 at: u64 0xffffffffffffffff 2\n" + name, mdmp.ErrRange, "at", "memory", 1},
	{"MINIDUMP_MEMORY64_LIST range past the end of the file", "stream Memory64List u64 2 rva64 s u64 0x1000 at: u64 99 0x2000 4\n" + name, wire.ErrTruncated, "at", "memory", 1},

	{"MINIDUMP_MEMORY_INFO empty", "stream MemoryInfoList u32 16 48 u64 1 at: zero 48", mdmp.ErrRange, "at", "pages", 0},
	{"MINIDUMP_MEMORY_INFO past the last address", "stream MemoryInfoList u32 16 48 u64 1 at: u64 0x1000 0 0 0xfffffffffffff001 zero 16", mdmp.ErrRange, "at", "pages", 0},
	{"MINIDUMP_MEMORY_INFO_LIST header too small", "stream MemoryInfoList u32 15 48 u64 0", mdmp.ErrRecordSize, "MemoryInfoList", "pages", 0},
	{"MINIDUMP_MEMORY_INFO_LIST count", "stream MemoryInfoList u32 16 48 at: u64 0x8000000000000000", mdmp.ErrCount, "at", "pages", 0},

	{"MINIDUMP_MISC_INFO too small", "stream MiscInfo u32 20 zero 20", mdmp.ErrRecordSize, "MiscInfo", "misc", 0},
	{"MINIDUMP_MISC_INFO larger than the stream", "stream MiscInfo u32 44 zero 20", mdmp.ErrRecordSize, "MiscInfo", "misc", 0},
	{"MINIDUMP_MISC_INFO cut", "stream MiscInfo u16 20", wire.ErrTruncated, "MiscInfo", "misc", 0},

	{"MINIDUMP_EXCEPTION_STREAM cut", "stream Exception zero 164 at: zero 3", wire.ErrTruncated, "at", "exception", 0},
	{"MINIDUMP_EXCEPTION parameters", "stream Exception u32 1 0 11 1 u64 0 0x45 at: u32 16 0 zero 128", mdmp.ErrCount, "at", "exception", 1},

	{"MINIDUMP_HANDLE_DESCRIPTOR type outside", "stream HandleData u32 16 32 1 0 u64 4 at: u32 0x1000000 0 zero 16", wire.ErrOffset, "at", "handles", 1},
	{"MINIDUMP_HANDLE_DESCRIPTOR name outside", "stream HandleData u32 16 32 1 0 u64 4 u32 0 at: u32 0x1000000 zero 16", wire.ErrOffset, "at", "handles", 1},
	{"MINIDUMP_HANDLE_DESCRIPTOR_2 information outside", "stream HandleData u32 16 40 1 0 u64 4 u32 0 0 zero 16 at: u32 0x1000000 0", wire.ErrOffset, "at", "handles", 1},
	{"MINIDUMP_HANDLE_OBJECT_INFORMATION in a circle", "stream HandleData u32 16 40 1 0 u64 4 u32 0 0 zero 16 rva i u32 0\nblock i rva i u32 1 0", mdmp.ErrOverlap, "i", "handles", 1},
	{"MINIDUMP_HANDLE_OBJECT_INFORMATION cut", "stream HandleData u32 16 40 1 0 u64 4 u32 0 0 zero 16 rva i u32 0\nblock i u32 0 1 5 at: u32 0", wire.ErrTruncated, "at", "handles", 1},
	{"MINIDUMP_HANDLE_DATA_STREAM entry too small", "stream HandleData u32 16 at: u32 31 0 0", mdmp.ErrRecordSize, "at", "handles", 0},

	{"MDRawBreakpadInfo cut", "stream BreakpadInfo u32 3 1 at: u16 1", wire.ErrTruncated, "at", "breakpad", 0},
	{"MDRawAssertionInfo cut", "stream AssertionInfo zero 772 at: u8 0", wire.ErrTruncated, "at", "assertion", 0},

	{"MinidumpCrashpadInfo cut", "stream CrashpadInfo zero 48 at: zero 3", wire.ErrTruncated, "at", "crashpad", 0},
	{"MinidumpSimpleStringDictionary outside", crashpad("at: u32 4 0x1000000", none), wire.ErrOffset, "at", "annotations", 0},
	{"MinidumpSimpleStringDictionary count", crashpad("loc d", none) + "block d u32 2 zero 8", mdmp.ErrCount, "d", "annotations", 0},
	{"MinidumpSimpleStringDictionary key outside", crashpad("loc d", none) + "block d u32 2 rva v v at: u32 0x1000000 0\nblock v utf8 \"v\"", wire.ErrOffset, "at", "annotations", 1},
	{"MinidumpSimpleStringDictionary value outside", crashpad("loc d", none) + "block d u32 1 rva v at: u32 0x1000000\nblock v utf8 \"v\"", wire.ErrOffset, "at", "annotations", 0},
	{"MinidumpUTF8String cut", crashpad("loc d", none) + "block d u32 1 rva v v\nblock v u32 2 at: u8 0", wire.ErrTruncated, "at", "annotations", 0},
	{"MinidumpModuleCrashpadInfoList count", crashpad(none, "loc links") + "block links u32 2 zero 12", mdmp.ErrCount, "links", "crashpad", 1},
	{"MinidumpModuleCrashpadInfo cut", crashpad(none, "loc links") + "block links u32 1 5 loc m\nblock m zero 24 at: zero 3", wire.ErrTruncated, "at", "crashpad", 1},
	{"MinidumpRVAList count", crashpadModule("loc l", none, none) + "block l u32 1", mdmp.ErrCount, "l", "crashpad", 1},
	{"MinidumpRVAList string outside", crashpadModule("loc l", none, none) + "block l u32 1 at: u32 0x1000000", wire.ErrOffset, "at", "crashpad", 1},
	{"MinidumpModuleCrashpadInfo simple annotations", crashpadModule(none, "loc l", none) + "block l u32 1 at: u32 0x1000000 0", wire.ErrOffset, "at", "crashpad", 1},
	{"MinidumpAnnotation name outside", crashpadModule(none, none, "loc l") + "block l u32 1 at: u32 0x1000000 1 0", wire.ErrOffset, "at", "crashpad", 1},
	{"MinidumpAnnotation value outside", crashpadModule(none, none, "loc l") + "block l u32 1 rva v u32 1 at: u32 0x1000000\nblock v utf8 \"v\"", wire.ErrOffset, "at", "crashpad", 1},

	{"/proc/PID/maps outside", "entry LinuxMaps 8 0xffffff00", wire.ErrOffset, entry(2), "maps", 0},
	{"/proc/PID/maps line", "stream LinuxMaps bytes \"1000-2000 r-xp 0 08:01 5 /a\\n\" at: bytes \"1000 r-xp\\n2000-3000 rw-p 0 0:0 0\\n\"", mdmp.ErrLine, "at", "maps", 2},
	{"/proc/PID/maps empty range", "stream LinuxMaps bytes \"2000-2000 r-xp 0 08:01 5 /a\\n\"", mdmp.ErrLine, "LinuxMaps", "maps", 0},
	{"/proc/PID/maps device", "stream LinuxMaps bytes \"1000-2000 r-xp 0 08 5 /a\\n\"", mdmp.ErrLine, "LinuxMaps", "maps", 0},

	{"MozMacosCrashInfo cut", "stream MozMacosCrashInfo u32 0 0 at: u16 0", wire.ErrTruncated, "at", "mac", 0},
	{"MozMacosCrashInfo too many records", "stream MozMacosCrashInfo u32 0 at: u32 21 40 zero 168", mdmp.ErrCount, "at", "mac", 0},
	{"MozMacosCrashInfo count", "stream MozMacosCrashInfo u32 0 at: u32 2 40 zero 8", mdmp.ErrCount, "at", "mac", 0},
	{"MozMacosCrashInfo record outside", "stream MozMacosCrashInfo u32 0 1 40 at: u32 40 0x1000000", wire.ErrOffset, "at", "mac", 0},
	{"MozMacosCrashInfo record cut", "stream MozMacosCrashInfo u32 0 1 40 loc r\nblock r u64 0 5 0 0 at: u32 0", wire.ErrTruncated, "at", "mac", 0},
	{"MozMacosCrashInfo strings inside the numbers", "stream MozMacosCrashInfo u32 0 1 32 loc r\nblock r u64 0 5 0 0 0", mdmp.ErrRecordSize, "r", "mac", 0},
	{"MozMacosCrashInfo string without end", "stream MozMacosCrashInfo u32 0 1 32 loc r\nblock r u64 0 4 0 0 bytes \"a\\x00b\\x00\" at: bytes \"c\"", wire.ErrUnterminated, "at", "mac", 0},
	{"MozMacosBootargs cut", "stream MozMacosBootargs u32 0 at: u32 0", wire.ErrTruncated, "at", "bootargs", 0},
	{"MozMacosBootargs outside", "stream MozMacosBootargs u32 0 at: u64 0x1000000", wire.ErrOffset, "at", "bootargs", 0},
}
