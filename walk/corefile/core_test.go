package corefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/identity"
	"symkit/internal/wire"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// crashCore is the kernel's core of testdata/elf/crash.
func crashCore(t testing.TB) []byte {
	t.Helper()
	data, err := testfile.Read("../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const crashExe = "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"

func TestKernelCore(t *testing.T) {
	files := &sources.Files{Exe: crashExe}
	defer files.Close()
	c, err := New("core", crashCore(t), Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	p := c.Process
	if p.CPU != "x86_64" || p.OS != "Linux" || len(p.Threads) != 1 || p.Crashed != 0 || p.Name != "crash" || p.PID != p.Threads[0].ID {
		t.Errorf("%+v", p)
	}
	crash := p.Crash
	if crash.Reason != "SIGSEGV / SEGV_MAPERR" || !crash.HasAddress || crash.Address != 0x10 {
		t.Errorf("crash %+v", crash)
	}
	if len(p.Modules) != 2 || p.Main != p.Modules[0] || p.Modules[1].Name != "linux-vdso.so.1" {
		t.Fatalf("modules %+v", p.Modules)
	}
	exe, err := elfx.Open(crashExe)
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	m := p.Main
	id := identity.ModuleID(exe.BuildID(), exe.BigEndian)
	if m.DebugID != id || m.Base != 0x400000 || m.Bias != 0 || filepath.Base(m.Path) != "crash" {
		t.Errorf("main %+v, want id %s", m, id)
	}
	if vdso := p.Modules[1]; len(vdso.Image) != 0x2000 || vdso.BuildID == nil {
		t.Errorf("vdso: %d bytes, build id %x", len(vdso.Image), vdso.BuildID)
	}
	if len(p.Warnings) != 0 {
		t.Error(p.Warnings)
	}
	// The code is not in the core; it comes from the file.
	if got, want := p.Memory.Bytes(exe.Entry, 8), exe.BytesAt(exe.Entry, 8); want == nil || !bytes.Equal(got, want) {
		t.Errorf("code % x, want % x", got, want)
	}
	if got := p.Memory.Bytes(0x400000, 4); string(got) != "\x7fELF" {
		t.Errorf("dumped page % x", got)
	}
	for _, at := range [][2]uint64{{0, 1}, {0x401000 - 4, 8}, {^uint64(0), 1}, {0x7ffffffde000, 1 << 40}, {0x500000, 1}} {
		if p.Memory.Bytes(at[0], at[1]) != nil {
			t.Errorf("memory at %#x, %#x bytes", at[0], at[1])
		}
	}
}

// Without the program's file: no code bytes, all else is the same.
func TestKernelCoreAlone(t *testing.T) {
	c, err := New("core", crashCore(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Process.Modules) != 2 || c.Process.Main == nil || c.Process.Main.DebugID == "" {
		t.Errorf("modules %+v", c.Process.Modules)
	}
	if c.Process.Memory.Bytes(0x401000, 1) != nil {
		t.Error("code from nowhere")
	}
}

func TestRejected(t *testing.T) {
	core := crashCore(t)
	patch := func(at int, v ...byte) []byte {
		out := bytes.Clone(core)
		copy(out[at:], v)
		return out
	}
	freeBSD := bytes.ReplaceAll(core, []byte("CORE\x00\x00\x00\x00"), []byte("FreeBSD\x00"))
	freeBSD = bytes.ReplaceAll(freeBSD, []byte("\x05\x00\x00\x00\x50\x01"), []byte("\x08\x00\x00\x00\x50\x01")) // NT_PRSTATUS
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, nil},
		{"text", []byte("not an ELF file, but long enough to look like one ......................."), elfx.ErrNotELF},
		{"a program", patch(16, 2), ErrNotCore},
		{"an unknown machine", patch(18, 50, 0), errMachine},
		{"of a virtual machine", bytes.Replace(core, []byte("CORE\x00"), []byte("QEMU\x00"), 1), errSystem},
		{"of FreeBSD", freeBSD, errSystem},
		{"no notes", core[:0x270], errNoThreads},
		{"no program headers", patch(56, 0), errNoThreads},
	} {
		_, err := New("core", test.data, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "core: ") || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	if _, err := Open("testdata/missing", Options{}); err == nil {
		t.Error("missing file")
	}
}

// TestDamaged: damage that leaves threads is a warning with its place.
func TestDamaged(t *testing.T) {
	core := crashCore(t)
	note := bytes.Index(core, []byte("\x05\x00\x00\x00\xa0\x00\x00\x00ELIF"))
	if note < 0 {
		t.Fatal("no NT_FILE")
	}
	huge := bytes.Clone(core)
	binary.LittleEndian.PutUint64(huge[note+20:], 1<<60) // entries
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"cut in the notes", `core notes\+0x[0-9a-f]+: truncated`, core[:0x1000]},
		{"cut in memory", `the core file is cut short: 135 kB of memory are missing, the first at 0x7ffff[0-9a-f]*$`, core[:0xf000]},
		{"NT_FILE count", `note 0x46494c45 at core notes\+0x[0-9a-f]+: note\+0x0: truncated`, huge},
	} {
		c, err := New("core", test.data, Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if all := strings.Join(c.Process.Warnings, "\n"); !regexp.MustCompile(test.want).MatchString(all) {
			t.Errorf("%s: warnings:\n%s", test.name, all)
		}
	}
}

// TestCutEverywhere cuts the core at every byte of its headers and notes.
func TestCutEverywhere(t *testing.T) {
	core := crashCore(t)
	for n := range 0x800 {
		c, err := New("core", core[:n], Options{})
		if err == nil && len(c.Process.Warnings) == 0 {
			t.Fatalf("cut at %#x: no error and no warning", n)
		}
	}
}

// TestLeftOut: gdb's gcore has no segment for the read-only mappings of files.
func TestLeftOut(t *testing.T) {
	core := crashCore(t)
	var text uint64
	for at := 64; at < 64+56*int(core[56]); at += 56 { // the program headers
		flags, addr := core[at+4], binary.LittleEndian.Uint64(core[at+16:])
		if core[at] == 1 && flags == 5 && addr>>32 == 0 {
			core[at], text = 0, addr // PT_NULL
		}
	}
	files := &sources.Files{Exe: crashExe}
	defer files.Close()
	c, err := New("core", core, Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Process.Main; m == nil || m.Base != 0x400000 {
		t.Fatalf("modules %+v", c.Process.Modules)
	}
	exe, err := elfx.Open(crashExe)
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	if got := c.Process.Memory.Bytes(text, 8); got == nil || !bytes.Equal(got, exe.BytesAt(text, 8)) {
		t.Errorf("code at %#x: % x", text, got)
	}
	// A file that is mapped, but not for execution, is no module.
	note := bytes.Index(core, []byte("ELIFCORE"))
	binary.LittleEndian.PutUint64(core[note+12+16+24+16:], 77) // the offset of its second mapping
	if c, err = New("core", core, Options{}); err != nil || len(c.Process.Modules) != 1 {
		t.Errorf("%v, modules %+v", err, c.Process.Modules)
	}
}

// TestDeleted: the kernel marks the path of a program that is no longer there.
func TestDeleted(t *testing.T) {
	core := bytes.ReplaceAll(crashCore(t), []byte("/tmp/symkit-crash/crash\x00"), []byte("/tmp/symkit12 (deleted)\x00"))
	c, err := New("core", core, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Process.Main; m.Path != "/tmp/symkit12" || m.Name != "symkit12" {
		t.Errorf("%+v", m)
	}
	if len(c.Process.Warnings) != 1 || c.Process.Warnings[0] != "/tmp/symkit12: was deleted or replaced while the process ran" {
		t.Error(c.Process.Warnings)
	}
}

func TestReason(t *testing.T) {
	for _, test := range []struct {
		signal, code int
		known        bool
		want         string
		fault        bool
	}{
		{11, 2, true, "SIGSEGV / SEGV_ACCERR", true},
		{11, 128, true, "SIGSEGV / SI_KERNEL", false},
		{6, -6, true, "SIGABRT / SI_TKILL", false},
		{7, 2, true, "SIGBUS / BUS_ADRERR", true},
		{8, 1, true, "SIGFPE / FPE_INTDIV", true},
		{11, 99, true, "SIGSEGV / code 99", true},
		{4, 0, false, "SIGILL", false},
		{40, 0, true, "SIGRTMIN+8 / SI_USER", false},
		{99, 0, false, "signal 99", false},
	} {
		if got := walk.LinuxReason(test.signal, test.code, test.known); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
		if got := walk.LinuxFault(test.signal, test.code); got != test.fault {
			t.Errorf("%s: fault %v", test.want, got)
		}
	}
}

// TestMIPSSignals: other numbers, and si_code before si_errno.
func TestMIPSSignals(t *testing.T) {
	info := make([]byte, 128)
	copy(info, []byte{10, 0, 0, 0, 2, 0, 0, 0, 99, 0, 0, 0, 0x10, 0x20})
	for _, l := range []*layout{mipsLayout, amd64Layout} {
		c := &Core{layout: l}
		if err := c.sigInfo(wire.New("", info, false)); err != nil {
			t.Fatal(err)
		}
		want := "SIGBUS / BUS_ADRERR"
		if l == amd64Layout {
			want = "SIGUSR1 / code 99"
		}
		if got := walk.LinuxReason(c.fault.signal, c.fault.code, c.fault.known); got != want {
			t.Errorf("%s: %s, want %s", l.cpu, got, want)
		}
	}
}

func FuzzCore(f *testing.F) {
	core := crashCore(f)
	f.Add(core[:0x900])
	for _, machine := range []byte{3, 40, 183, 243, 22, 8, 20, 21} {
		other := bytes.Clone(core[:0x900])
		other[18] = machine
		f.Add(other)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := New("core", data, Options{})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "core: ") {
				t.Fatalf("error without the file: %v", err)
			}
			return
		}
		p := c.Process
		if len(p.Threads) == 0 || p.Crashed >= len(p.Threads) || len(p.Warnings) > 100 {
			t.Fatalf("%d threads, crashed %d, %d warnings", len(p.Threads), p.Crashed, len(p.Warnings))
		}
		for i, m := range p.Modules {
			if m.End < m.Base || i > 0 && p.Modules[i-1].End > m.Base || m.Name == "" {
				t.Fatalf("module %+v", m)
			}
		}
		for i, m := range p.Mappings {
			if m.End <= m.Begin || i > 0 && p.Mappings[i-1].End > m.Begin {
				t.Fatalf("mapping %+v", m)
			}
			if b := p.Memory.Bytes(m.Begin, 8); b != nil && len(b) != 8 {
				t.Fatal("length")
			}
		}
	})
}

// TestReallyDeleted: the end that the kernel adds to the paths of deleted files can be part of a
// name.
func TestReallyDeleted(t *testing.T) {
	exe, err := testfile.Read(crashExe)
	if err != nil {
		t.Fatal(err)
	}
	core := crashCore(t)
	const name, long = "/tmp/symkit-crash/crash\x00", "/tmp/s/crash (deleted)\x00\x00"
	if bytes.Count(core, []byte(name)) == 0 {
		t.Fatal("no such path")
	}
	core = bytes.ReplaceAll(core, []byte(name), []byte(long[:len(name)]))
	for _, there := range []bool{true, false} {
		root := t.TempDir()
		path := filepath.Join(root, "tmp/s/crash (deleted)")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if there {
			err = os.WriteFile(path, exe, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		files := &sources.Files{Search: companion.Search{Sysroots: []string{root}}}
		c, err := New("core", core, Options{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		m := c.Process.Main
		if want := map[bool]string{true: "/tmp/s/crash (deleted)", false: "/tmp/s/crash"}[there]; m == nil || m.Path != want {
			t.Errorf("%+v, want %s", m, want)
		}
		warned := strings.Contains(strings.Join(c.Process.Warnings, "\n"), "was deleted or replaced")
		if warned == there {
			t.Errorf("%v: %q", there, c.Process.Warnings)
		}
		files.Close()
	}
}
