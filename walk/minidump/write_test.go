package minidump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/walk"
)

// patterned is memory in which each byte is a function of its address.
type patterned struct{ from, to uint64 }

func (p patterned) Bytes(addr, n uint64) []byte {
	if addr < p.from || addr+n > p.to {
		return nil
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((addr + uint64(i)) * 7)
	}
	return b
}

// written is a process to write, of a CPU with this name.
func written(cpu string, big bool) *Contents {
	p := &walk.Process{OS: "Linux", CPU: cpu, BigEndian: big, PID: 77, Name: "prog", Args: "prog -x 1", Crashed: 1, Entry: 0x400100,
		Crash: walk.Crash{Signal: 11, Code: 1, Address: 0x1234, HasAddress: true}, Memory: patterned{0x1000, 0x9000}}
	for id := range 2 {
		t := walk.Thread{ID: 70 + id}
		for r := range cfi.Reg(96) {
			t.Regs.Set(r, uint64(r)*0x01010101+uint64(id))
		}
		t.Regs.PC = 0x400200 + uint64(id)
		p.Threads = append(p.Threads, t)
	}
	lib := &walk.Module{Path: "/lib/libx.so.1.2", Name: "libx.so.1", Base: 0x100000, End: 0x140000, BuildID: []byte("0123456789abcdefghij")}
	main := &walk.Module{Path: "/bin/prog ü𝄞", Name: "prog ü𝄞", Base: 0x400000, End: 0x500000}
	vdso := &walk.Module{Path: "[vdso]", Name: "linux-vdso.so.1", Base: 0x600000, End: 0x601000, BuildID: []byte("0123456789abcdef")}
	p.Modules, p.Main = []*walk.Module{lib, main, vdso}, main
	return &Contents{Process: p, Memory: []elfx.Range{{Lo: 0x1000, Hi: 0x3100}, {Lo: 0x8ff0, Hi: 0x9000}},
		Stacks: []elfx.Range{{Lo: 0x1000, Hi: 0x2000}, {Lo: 0x2f00, Hi: 0x3100}}, Maps: []byte("00400000-00500000 r-xp 00000000 00:00 1 /bin/prog\n"),
		Processors: 12}
}

// TestWrite: what is written is read again, for all CPUs and both byte orders.
func TestWrite(t *testing.T) {
	for name := range strings.FieldsSeq("x86 x86_64 arm arm64 mips mips64 ppc ppc64 riscv riscv64 sparc") {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprint(name, big), func(t *testing.T) {
				c := written(name, big)
				var out bytes.Buffer
				if err := Write(&out, c); err != nil {
					t.Fatal(err)
				}
				d, err := New(out.Bytes())
				if err != nil || len(d.file.Losses) > 0 {
					t.Fatal(err, d.file.Losses)
				}
				sameProcess(t, d, c)
			})
		}
	}
}

// sameProcess compares the process of a dump with the contents that were written.
func sameProcess(t *testing.T, d *Dump, c *Contents) {
	t.Helper()
	p, q := c.Process, d.Process()
	if q.Facts.CPUs != c.Processors {
		t.Errorf("%d processors", q.Facts.CPUs)
	}
	if q.CPU != p.CPU || q.BigEndian != p.BigEndian || q.OS != "Linux" || q.PID != p.PID || q.Args != p.Args || q.Crashed != 1 {
		t.Errorf("%+v", q)
	}
	if q.Crash.Signal != 11 || q.Crash.Code != 1 || !q.Crash.HasAddress || q.Crash.Address != 0x1234 || q.Crash.Reason != "SIGSEGV / SEGV_MAPERR" {
		t.Errorf("%+v", q.Crash)
	}
	for i := range p.Threads {
		want, got := &p.Threads[i].Regs, &q.Threads[i].Regs
		if q.Threads[i].ID != p.Threads[i].ID || got.PC != want.PC {
			t.Errorf("thread %d: %+v", i, q.Threads[i])
		}
		known := 0
		for r := range cfi.Reg(96) {
			v, ok := got.Get(r)
			if !ok {
				continue
			}
			known++
			if w, _ := want.Get(r); v != w && v != want.PC {
				t.Errorf("thread %d, register %d: %#x, want %#x", i, r, v, w)
			}
		}
		if known < 9 {
			t.Errorf("thread %d: %d registers", i, known)
		}
		if s := d.file.Stack(&d.file.Threads[i]); s.Base != c.Stacks[i].Lo || !bytes.Equal(s.Data, p.Memory.Bytes(s.Base, c.Stacks[i].Hi-c.Stacks[i].Lo)) {
			t.Errorf("thread %d: stack of %d bytes at %#x", i, len(s.Data), s.Base)
		}
	}
	for _, r := range c.Memory {
		if got := q.Memory.Bytes(r.Lo, r.Hi-r.Lo); !bytes.Equal(got, p.Memory.Bytes(r.Lo, r.Hi-r.Lo)) {
			t.Errorf("memory at %#x: %d bytes", r.Lo, len(got))
		}
	}
	var paths []string
	for _, m := range q.Modules {
		paths = append(paths, m.Path)
	}
	if !slices.Equal(paths, []string{"/lib/libx.so.1", "/bin/prog ü𝄞", "linux-vdso.so.1"}) || q.Main != q.Modules[1] {
		t.Errorf("modules %q", paths)
	}
	if m := q.Modules[0]; m.Base != 0x100000 || m.End != 0x140000 || string(m.BuildID) != "0123456789abcdefghij" || q.Modules[1].BuildID != nil {
		t.Errorf("%+v %+v", m, q.Modules[1])
	}
	if len(q.Mappings) != 1 || q.Mappings[0] != (walk.Mapping{Begin: 0x400000, End: 0x500000, Read: true, Execute: true}) {
		t.Errorf("%+v", q.Mappings)
	}
}

func TestWriteErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Contents)
		want   error
	}{
		{"a machine without registers", func(c *Contents) { c.Process.CPU = "s390x" }, ErrNoContext},
		{"unknown memory", func(c *Contents) { c.Memory[1].Hi++ }, ErrUnmapped},
		{"too much memory", func(c *Contents) { c.Memory[1].Hi = 1 << 33 }, ErrTooLarge},
	} {
		c := written("x86_64", false)
		test.change(c)
		if err := Write(io.Discard, c); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestWriteLittle: a process of which almost nothing is known.
func TestWriteLittle(t *testing.T) {
	c := &Contents{Process: &walk.Process{CPU: "arm64", Crashed: -1, Threads: make([]walk.Thread, 1)}, Stacks: make([]elfx.Range, 1)}
	var out bytes.Buffer
	if err := Write(&out, c); err != nil {
		t.Fatal(err)
	}
	d, err := New(out.Bytes())
	if err != nil || len(d.file.Losses) > 0 {
		t.Fatal(err, d.file.Losses)
	}
	p := d.Process()
	if len(p.Threads) != 1 || p.Crash.Crashed() || p.PID != 0 || len(p.Modules) != 0 || p.Crashed != -1 {
		t.Errorf("%+v", p)
	}
}
