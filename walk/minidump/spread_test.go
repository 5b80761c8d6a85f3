package minidump

import (
	"fmt"
	"strings"
	"testing"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// TestSpread: modules that are later parts of files whose segments lie apart.
// The program is loaded at 0x10000, its code at 0x30000.
func TestSpread(t *testing.T) {
	const (
		maps = `10000-11000 r--p 0 8:1 5 /a/app\n` +
			`11000-30000 ---p 0 0:0 0\n` +
			`30000-31000 r-xp 1000 8:1 5 /a/app\n` +
			`50000-51000 rw-p 2000 8:1 5 /a/app\n`
		auxv = "stream LinuxAuxv u64 3 0x10040 9 0x30010 0 0\n"
	)
	for _, test := range []struct{ name, maps, modules, more, want string }{
		{"a later part alone", maps, "0x30000 0x1000 /a/app 1", "", "10000-31000 /a/app main"},
		{"both parts", maps, "0x10000 0x1000 /a/app 1; 0x30000 0x1000 /a/app/libx.so 1", "", "10000-31000 /a/app main"},
		{"both parts, the entry's first, as Breakpad has it", maps, "0x30000 0x1000 /a/app/libx.so 1; 0x10000 0x1000 /a/app 1", "", "10000-31000 /a/app main"},
		{"the first part alone", maps, "0x10000 0x1000 /a/app 1", "", "10000-31000 /a/app main"},
		{"all of it, up to its code", maps, "0x10000 0x21000 /a/app 1", "", "10000-31000 /a/app main"},
		{"all of it, with its data", maps, "0x10000 0x41000 /a/app 1", "", "10000-51000 /a/app main"},
		{"the file is loaded twice", maps + `60000-61000 r--p 0 8:1 5 /a/app\n80000-81000 r-xp 1000 8:1 5 /a/app\n`,
			"0x30000 0x1000 /a/app 1; 0x80000 0x1000 /a/app 1", "", "10000-31000 /a/app main; 60000-81000 /a/app"},
		{"another module between", maps, "0x30000 0x1000 /a/app 1; 0x20000 0x1000 /a/other 2", "", "20000-21000 /a/other; 30000-31000 /a/app main"},
		{"another file between", strings.Replace(maps, "0 0:0 0", "0 8:1 6 /a/other", 1), "0x30000 0x1000 /a/app 1", "", "30000-31000 /a/app main"},
		{"code of no file between", strings.Replace(maps, "---p 0 0:0 0", "r-xp 0 0:0 0", 1), "0x30000 0x1000 /a/app 1", "", "30000-31000 /a/app main"},
		{"another file of that name", strings.Replace(maps, "r--p 0 8:1 5", "r--p 0 8:1 6", 1), "0x30000 0x1000 /a/app 1", "", "30000-31000 /a/app main"},
		{"a library in an archive", maps, "0x30000 0x1000 /a/app/libx.so 1", "stream MemoryList u32 1 u64 0x30000 loc elf\nblock elf bytes \"\\x7fELF\"\n", "30000-31000 /a/app/libx.so main"},
		{"closer to the beginning than in the file", `10000-11000 r--p 0 8:1 5 /a/app\n11000-12000 r-xp 30000 8:1 5 /a/app\n`, "0x11000 0x1000 /a/app 1", "", "11000-12000 /a/app main"},
		{"parts that differ", maps, "0x10000 0x1000 /a/app 1; 0x30000 0x1000 /a/app 2", "", "10000-11000 /a/app main; 30000-31000 /a/app"},
		{"no mappings", "", "0x30000 0x1000 /a/app 1", auxv, "10000-31000 /a/app main"},
		{"no mappings, a library", "", "0x90000 0x1000 /a/lib 1; 0x30000 0x1000 /a/app 1", auxv, "30000-31000 /a/app; 90000-91000 /a/lib main"},
		{"no mappings, program headers elsewhere", "", "0x30000 0x1000 /a/app 1", strings.Replace(auxv, "0x10040", "0x10058", 1), "30000-31000 /a/app main"},
		{"no mappings, another module between", "", "0x30000 0x1000 /a/app 1; 0x20000 0x1000 /a/other 2", auxv, "20000-21000 /a/other; 30000-31000 /a/app main"},
		{"nothing to go by", "", "0x30000 0x1000 /a/app 1", "", "30000-31000 /a/app main"},
	} {
		text := synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u32 0\n" + test.more
		if test.maps != "" {
			text += "stream LinuxMaps bytes \"" + test.maps + "\"\n"
		}
		parts := strings.Split(test.modules, "; ")
		list, blocks := fmt.Sprintf("stream ModuleList u32 %d ", len(parts)), ""
		for i, part := range parts {
			f := strings.Fields(part)
			list += fmt.Sprintf("u64 %s u32 %s 0 0 rva n%d zero 52 loc c%d u32 0 0 zero 16\n", f[0], f[1], i, i)
			blocks += fmt.Sprintf("block n%d str %q\nblock c%d u32 0x4270454c %s 2 3 4 5\n", i, f[2], i, f[3])
		}
		d, err := New(synth.Assemble(t, false, list+text+blocks).Data)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		p := d.Process()
		var got []string
		for _, m := range p.Modules {
			s := fmt.Sprintf("%x-%x %s", m.Base, m.End, m.Path)
			if m == p.Main {
				s += " main"
			}
			if m.Bias != m.Base {
				s += fmt.Sprintf(" bias %x", m.Bias)
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != test.want {
			t.Errorf("%s: %s, want %s", test.name, s, test.want)
		}
	}
}
