package minidump

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/walk/internal/mdmp"
)

// open decodes a dump of testdata.
func open(t testing.TB, name string) *Dump {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".dmp"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestReal compares with what Breakpad's tool printed for the dump.
func TestReal(t *testing.T) {
	heads, err := filepath.Glob("testdata/*.head")
	if err != nil || len(heads) < 9 {
		t.Fatal(heads, err)
	}
	for _, file := range heads {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			continue
		}
		d := open(t, strings.TrimSuffix(filepath.Base(file), ".head"))
		if d.file.Lost != 0 {
			t.Errorf("%s: %v", file, d.file.Losses)
		}
		if got := machineHead(d); got != strings.TrimSuffix(string(want), "\n") {
			t.Errorf("%s:\n%s", file, diff(got, string(want)))
		}
	}
}

// TestRealDamaged: rust-minidump's damaged dumps have no system information.
func TestRealDamaged(t *testing.T) {
	for _, name := range []string{"invalid-range", "invalid-record-count"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".dmp"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(data); !errors.Is(err, mdmp.ErrMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRealThreadNames(t *testing.T) {
	var names []string
	for _, n := range open(t, "thread_name_list").file.ThreadNames {
		names = append(names, fmt.Sprintf("%d:%s", n.ID, n.Name))
	}
	eq(t, names, "[6564:main thread 8820:sleep thread 10976:overflow thread]")
}

func TestRealCrashpad(t *testing.T) {
	d := open(t, "simple-crashpad")
	eq(t, fmt.Sprintf("%s", d.file.Crashpad.Annotations), "[{hello world}]")
	var modules strings.Builder
	for _, m := range d.file.Crashpad.Modules {
		modules.WriteString(fmt.Sprintf("%d %s %d %d;", m.Module, m.List, len(m.Simple), len(m.Objects)))
	}
	eq(t, modules.String(), "16 [abort() called] 0 0;39 [dyld2 mode] 0 0;")
}

func TestRealLinux(t *testing.T) {
	d := open(t, "linux-mini")
	aux := maps.Collect(d.file.AuxV())
	fields := maps.Collect(mdmp.Fields(d.file.File(mdmp.LinuxLsbReleaseStream), '='))
	eq(t, []any{aux[6], aux[33], len(d.file.Maps), fields["DISTRIB_DESCRIPTION"]}, []any{4096, uint64(0x7fff5aef1000), 35, "Ubuntu 16.04.3 LTS"})
	eq(t, maps.Collect(mdmp.Fields(d.file.File(mdmp.LinuxProcStatusStream), ':'))["Pid"], "1304")
}

// TestRealXSave: contexts with the state that XSAVE writes, and what else
// Windows puts into a dump.
func TestRealXSave(t *testing.T) {
	for _, c := range []struct {
		name                              string
		pc                                uint64
		size                              uint32
		enabled                           uint64
		build                             string
		threads, pages, handles, unloaded int
	}{
		{"tiny-exe-with-cet-xsave", 0x7ff9111e39e4, 1407, 9223372036854777859, "Windows NT 10.0.22000.282", 1, 557, 147, 1},
		{"tiny-exe-with-cet-xsave-x86", 0x7707768c, 1147, 7, "22621.1.amd64fre.ni_release.220506-1250", 3, 0, 0, 0},
	} {
		d := open(t, c.name)
		x, err := d.file.ThreadContext(&d.file.Threads[0])
		if err != nil {
			t.Fatal(err)
		}
		eq(t, x.PC, c.pc)
		m := d.file.Misc
		eq(t, []any{m.XState.ContextSize, m.XState.Enabled, mdmp.TextOf(m.BuildString[:]), mdmp.TextOf(m.TimeZone.Standard.Name[:])}, []any{c.size, c.enabled, c.build, "Pacific Standard Time"})
		eq(t, []int{len(d.file.Threads), len(d.file.MemoryInfo), len(d.file.Handles), len(d.file.UnloadedModules)}, []int{c.threads, c.pages, c.handles, c.unloaded})
	}
}

func BenchmarkNew(b *testing.B) {
	data, err := os.ReadFile("testdata/tiny-exe-with-cet-xsave.dmp")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(data); err != nil {
			b.Fatal(err)
		}
	}
}
