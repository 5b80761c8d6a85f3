package minidump

import (
	"encoding/json"
	"testing"

	"symkit/walk"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// facts is Process().Facts as JSON, which prints what pointers point to.
func facts(t *testing.T, d *Dump) string {
	t.Helper()
	f := d.Process().Facts
	f.VersionLine, f.CPUInfo, f.CPUs, f.GPU = "", "", 0, ""
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for k, v := range m {
		if v == nil || v == "" || v == 0.0 || v == false {
			delete(m, k)
		}
	}
	b, err = json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFacts: what is only shown, of each stream that has some.
func TestFacts(t *testing.T) {
	for text, want := range map[string]string{
		"": `{}`,
		"stream HandleData u32 16 32 1 0 u64 8 rva s u32 0 zero 16\nblock s str \"Event\"":                    `{"Handles":[{"Handle":8,"Name":null,"Type":"Event"}]}`,
		"stream HandleData u32 16 32 0 0":                                                                     `{"Handles":[]}`,
		"stream MiscInfo u32 24 2 0 0x45d35f70 0 0":                                                           `{"HasUptime":true,"Uptime":3}`,
		"stream MiscInfo u32 24 2 0 0x55d35f70 0 0":                                                           `{"HasUptime":true}`,
		"stream MiscInfo u32 24 1 0 0x45d35f70 0 0":                                                           `{}`,
		`stream AssertionInfo units 128 "x" units 128 "f" units 128 "a.c" u32 12 1`:                           `{"Assertion":"Invalid parameter passed to library function x in function f, in file a.c at line 12"}`,
		`stream AssertionInfo units 128 "" units 128 "" units 128 "" u32 0 2`:                                 `{"Assertion":"Pure virtual function called"}`,
		`stream AssertionInfo units 128 "" units 128 "" units 128 "" u32 0 9`:                                 `{"Assertion":"Unknown assertion type 0x00000009"}`,
		`stream LinuxCpuInfo bytes "a : 1\nmicrocode : 0x5c\n"`:                                               `{"Microcode":"0x5c"}`,
		`stream LinuxCpuInfo bytes "microcode : none\n"`:                                                      `{}`,
		`stream LinuxLsbRelease bytes "ID=debian\nVERSION_ID=12\nVERSION_CODENAME=b\nPRETTY_NAME=\"D 12\"\n"`: `{"LSB":{"Codename":"b","Description":"D 12","ID":"debian","Release":"12"}}`,
		"stream MozLinuxLimits bytes \"Limit   Soft Limit   Hard Limit   Units  \\n\\nMax cpu time   unlimited    7   seconds   \\nMax nice priority  0  1   \\nbad  1\\n\"": `{"Limits":[{"Hard":"7","Name":"Max cpu time","Soft":"unlimited","Unit":"seconds"},{"Hard":"1","Name":"Max nice priority","Soft":"0","Unit":"n/a"}]}`,
		`stream MozMacosCrashInfo u32 0 2 48 loc a b
block a u64 0 5 1 2 3 zero 8 bytes "/m\x00msg\x00\x00\x00\x00"
block b u64 0 4 1 2 zero 16 bytes "\x00\x00\x00\x00\x00"
stream MozMacosBootargs u32 0 rva64 s block s str "-v"`: `{"MacBootArgs":"-v","MacRecords":[{"AbortCause":3,"Backtrace":"","DialogMode":2,"Message":"msg","Message2":"","Module":"/m","Signature":"","Thread":1},` +
			`{"AbortCause":null,"Backtrace":"","DialogMode":2,"Message":"","Message2":"","Module":"","Signature":"","Thread":1}]}`,
		`stream CrashpadInfo u32 1 0x11223344 u16 0x5566 0x7788 u8 1 2 3 4 5 6 7 8 zero 16 loc d loc links
block d u32 1 rva k v
block links u32 2 0 loc m u32 9 loc m
block m u32 1 loc l loc d loc o
block l u32 1 rva k
block o u32 2 rva k u16 1 0 rva v k u16 0x8001 0 u32 0
block k utf8 "ver" block v utf8 "1.\xff"
stream ModuleList u32 1 u64 0x1000 u32 0x1000 0 0 rva n zero 52 u32 0 0 0 0 zero 16 block n str "/lib/a.so"`: `{"Crashpad":{"ClientID":"","Modules":[` +
			`{"List":["ver"],"Module":"a.so","Objects":[{"Name":"ver","Value":"1.` + "\uFFFD" + `"}],"Simple":[{"Name":"ver","Value":"1.` + "\uFFFD" + `"}]},` +
			`{"List":["ver"],"Module":"","Objects":[{"Name":"ver","Value":"1.` + "\uFFFD" + `"}],"Simple":[{"Name":"ver","Value":"1.` + "\uFFFD" + `"}]}],` +
			`"ReportID":"11223344-5566-7788-0102-030405060708","Simple":[{"Name":"ver","Value":"1.` + "\uFFFD" + `"}]}}`,
	} {
		decoded(t, text, func(t *testing.T, d *Dump) { eq(t, facts(t, d), want) })
	}
}

// TestLastError: GetLastError's value is 13 words into the TEB.
func TestLastError(t *testing.T) {
	for _, c := range []struct {
		cpu  mdmp.CPU
		os   mdmp.OS
		want string
	}{{mdmp.CPUAMD64, mdmp.OSWinNT, "ERROR_ACCESS_DENIED"}, {mdmp.CPUX86, mdmp.OSWinNT, "ERROR_FILE_NOT_FOUND"}, {mdmp.CPUAMD64, mdmp.OSLinux, ""}} {
		decoded(t, synth.System(c.cpu, c.os)+"stream ThreadList u32 2 1 0 0 0 u64 0x5000 0 u32 0 0 0 0 2 0 0 0 u64 0x9000 0 u32 0 0 0 0\n"+
			"stream MemoryList u32 1 u64 0x5000 loc teb block teb zero 52 u32 2 zero 48 u32 5", func(t *testing.T, d *Dump) {
			p := d.Process()
			eq(t, []string{p.Threads[0].LastError, p.Threads[1].LastError}, []string{c.want, ""})
		})
	}
}

// TestForeign: only modules of ELF systems whose build id is known are looked
// for by their paths.
func TestForeign(t *testing.T) {
	module := "stream ModuleList u32 1 u64 0x1000 u32 0x1000 0 0 rva n zero 52 loc cv u32 0 0 zero 16 block n str \"/bin/sh\"\n"
	for _, c := range []struct {
		os      mdmp.OS
		cv      string
		foreign bool
		id      string
	}{
		{mdmp.OSLinux, "u32 0x4270454c u8 1 2 3 4 zero 16", false, "04030201000000000000000000000000" + "0"},
		{mdmp.OSAndroid, "u32 0x4270454c u8 1 2 3 4 zero 16", false, "04030201000000000000000000000000" + "0"},
		{mdmp.OSLinux, "u32 0x4270454c zero 20", true, ""},
		{mdmp.OSMac, "u32 0x53445352 u8 4 3 2 1 zero 12 u32 0 bytes \"sh\\x00\"", true, "010203040000000000000000000000000"},
	} {
		s := synth.Assemble(t, false, synth.System(mdmp.CPUAMD64, c.os)+"stream ThreadList u32 0\n"+module+"block cv "+c.cv)
		d, err := New(s.Data)
		if err != nil {
			t.Fatal(err)
		}
		var m *walk.Module = d.Process().Modules[0]
		eq(t, []any{m.Foreign, m.DebugID}, []any{c.foreign, c.id})
	}
}
