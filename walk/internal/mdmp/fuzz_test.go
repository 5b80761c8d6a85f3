package mdmp_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
	"symkit/walk/minidump"
)

// FuzzMinidump: any bytes give a dump or an error with a place inside them;
// losses have a place too; what was decoded is a small multiple of the bytes;
// every accessor ends and stays inside.
func FuzzMinidump(f *testing.F) {
	files, _ := filepath.Glob("../../minidump/testdata/*.dmp")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 32<<10 {
			f.Add(data)
		}
	}
	for _, c := range losses {
		f.Add(synth.Assemble(f, false, synth.Base+c.text).Data)
	}
	for i, c := range contexts {
		s := synth.Assemble(f, i%2 == 0, synth.System(c.cpu, mdmp.OSLinux)+"stream ThreadList u32 1 7 0 0 0 u64 0 0 u32 0 0 loc ctx\nblock ctx "+c.text)
		f.Add(s.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := readAll(data)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(32*len(data))+1<<20 {
			t.Fatalf("%d bytes allocated for %d", n, len(data))
		}
		if err != nil {
			placed(t, err, len(data))
			return
		}
		if len(d.Losses) > mdmp.MaxLosses || d.Lost < len(d.Losses) {
			t.Fatalf("%d of %d losses", len(d.Losses), d.Lost)
		}
		for _, l := range d.Losses {
			placed(t, l, len(data))
		}
		use(t, d, len(data))
		process(t, data)
	})
}

// placed asserts that an error has a place in the data.
func placed(t *testing.T, err error, size int) {
	var e *wire.Error
	if !errors.As(err, &e) || e.Offset < 0 || e.Offset > size || e.Section != mdmp.Section {
		t.Fatalf("error without a place: %v", err)
	}
}

// use calls the accessors.
func use(t *testing.T, d *mdmp.Dump, size int) {
	total := 0
	for i := range d.Threads {
		th := &d.Threads[i]
		_, err := d.ThreadContext(th)
		if err != nil {
			placed(t, err, size)
			continue
		}
		if s := d.Stack(th); len(s.Data) > 0 && d.Memory.At(s.End()-1) == nil {
			t.Fatal("a stack that is not in the memory")
		}
		if i > 100 {
			break
		}
	}
	for i := range d.Modules {
		m := &d.Modules[i]
		if total += m.Name.Len(); total > 1<<20 || i > 1000 {
			break
		}
		_, _, _, _ = d.DebugID(m), d.CodeID(m), m.DebugFile(), d.Version(m)
	}
	for range d.AuxV() {
	}
	for range mdmp.Fields(d.File(mdmp.LinuxProcStatusStream), ':') {
	}
	_, _ = d.System.Version(), d.System.CPUInfo()
	d.System.VersionBuild()
}

// process makes the process of a dump.
func process(t *testing.T, data []byte) {
	d, err := minidump.New(data)
	if err != nil {
		t.Fatal(err)
	}
	p := d.Process()
	if p.Crashed >= len(p.Threads) {
		t.Fatal("crashed thread")
	}
	for i, m := range p.Mappings {
		if i > 0 && m.Begin < p.Mappings[i-1].End {
			t.Fatal("mappings overlap")
		}
	}
}
