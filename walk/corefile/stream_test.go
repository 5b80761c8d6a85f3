package corefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/test/mutant"
	"symkit/walk"
)

// readStream reads a core file as a stream that arrives in small parts.
func readStream(t testing.TB, data []byte, memory uint64) (*Core, error) {
	t.Helper()
	c, err := Read(t.Context(), &slow{data: data}, "core", Options{Memory: memory})
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// slow is a reader that gives at most 5000 bytes at a time.
type slow struct{ data []byte }

func (s *slow) Read(p []byte) (int, error) {
	r := bytes.NewReader(s.data[:min(len(s.data), 5000)])
	n, err := r.Read(p)
	s.data = s.data[n:]
	return n, err
}

// equalCores compares the fields of two Cores, and their memory at the beginning, at the end
// and around each boundary of pages.
func equalCores(t *testing.T, got, want *Core) {
	t.Helper()
	p, q := got.Process, want.Process
	if len(p.Threads) != len(q.Threads) || len(p.Modules) != len(q.Modules) || len(p.Mappings) != len(q.Mappings) || p.Crash.Reason != q.Crash.Reason || p.Crash.Address != q.Crash.Address || p.Crashed != q.Crashed ||
		p.PID != q.PID || p.Args != q.Args || p.Entry != q.Entry || got.Size() != want.Size() {
		t.Fatalf("%+v\nwant\n%+v", p, q)
	}
	// The notes of a stream are read first.
	a, b := slices.Sorted(slices.Values(p.Warnings)), slices.Sorted(slices.Values(q.Warnings))
	if !slices.Equal(a, b) {
		t.Errorf("warnings %q, want %q", a, b)
	}
	for i := range q.Modules {
		a, b := p.Modules[i], q.Modules[i]
		if a.Base != b.Base || a.End != b.End || a.DebugID != b.DebugID || a.Name != b.Name || !bytes.Equal(a.Image, b.Image) {
			t.Errorf("module %+v\nwant %+v", a, b)
		}
	}
	for i := range q.Mappings {
		if p.Mappings[i] != q.Mappings[i] {
			t.Errorf("mapping %+v, want %+v", p.Mappings[i], q.Mappings[i])
		}
	}
	for _, m := range q.Mappings {
		for at := m.Begin; at < m.End && at >= m.Begin; at += pageSize / 2 {
			for _, n := range []uint64{1, 8, pageSize, 3 * pageSize} {
				a, b := p.Memory.Bytes(at, n), q.Memory.Bytes(at, n)
				if (a == nil) != (b == nil) || !bytes.Equal(a, b) {
					t.Fatalf("%d bytes at %#x: %d, want %d", n, at, len(a), len(b))
				}
			}
		}
	}
}

// TestStream: a core file that arrives in parts is what it is as a file.
func TestStream(t *testing.T) {
	core := crashCore(t)
	for _, size := range []int{len(core), len(core) - 1, len(core) * 3 / 4, len(core) / 2, 0x1800} {
		want, err := New("core", core[:size], Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readStream(t, core[:size], 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		equalCores(t, got, want)
	}
}

// withoutBuildIDs returns a core file of a program that was linked without a build id.
func withoutBuildIDs(t testing.TB, core []byte) []byte {
	t.Helper()
	const head = "\x04\x00\x00\x00\x14\x00\x00\x00%c\x00\x00\x00GNU\x00"
	old, other := fmt.Sprintf(head, 3), fmt.Sprintf(head, 99)
	if !bytes.Contains(core, []byte(old)) {
		t.Fatal("the core file has no build id")
	}
	return bytes.ReplaceAll(core, []byte(old), []byte(other))
}

// TestStreamWithoutBuildIDs: the plan of a stream does without the memory that is not there yet,
// in which the build id of a program is looked for, wherever the notes are.
func TestStreamWithoutBuildIDs(t *testing.T) {
	core := withoutBuildIDs(t, crashCore(t))
	for name, data := range map[string][]byte{"notes first": core, "notes last": notesLast(core)} {
		for _, size := range []int{len(data), len(data) - 1, 0x1800} {
			want, wantErr := New("core", data[:size], Options{})
			got, err := readStream(t, data[:size], 1<<30)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s, %d bytes: %v, want %v", name, size, err, wantErr)
			}
			if err != nil {
				continue
			}
			if want.Process.Main == nil || want.Process.Main.BuildID != nil {
				t.Errorf("%s: main %+v", name, want.Process.Main)
			}
			equalCores(t, got, want)
		}
	}

	// Without a temporary file the plan is made while memory arrives, before the notes.
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if _, err := readStream(t, notesLast(core), 1<<30); err != nil {
		t.Error(err)
	}
}

// TestStreamManySegments: a core file whose number of program headers is in a section header at
// the end, as the kernel writes it from 65535 mappings on.
func TestStreamManySegments(t *testing.T) {
	core := bytes.Clone(crashCore(t))
	count := binary.LittleEndian.Uint16(core[56:])
	section := make([]byte, 64)
	binary.LittleEndian.PutUint32(section[44:], uint32(count))
	binary.LittleEndian.PutUint64(core[40:], uint64(len(core)))
	for at, v := range map[int]uint16{56: 0xffff, 58: 64, 60: 1, 62: 0} {
		binary.LittleEndian.PutUint16(core[at:], v)
	}
	core = append(core, section...)

	want, err := New("core", core, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readStream(t, core, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	equalCores(t, got, want)
}

// TestStreamRejected: the errors are those of a file.
func TestStreamRejected(t *testing.T) {
	core := crashCore(t)
	patch := func(at int, v ...byte) []byte {
		out := bytes.Clone(core)
		copy(out[at:], v)
		return out
	}
	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("not an ELF file, but long enough to look like one ......................."), "short": core[:51],
		"a program": patch(16, 2), "an unknown machine": patch(18, 50, 0), "no notes": core[:0x270], "no program headers": patch(56, 0, 0),
		"headers at the end": patch(32, 0, 0, 0, 0, 1), "wrong size of headers": patch(54, 8),
	} {
		_, want := New("core", data, Options{})
		_, err := readStream(t, data, 1<<30)
		if err == nil || want == nil || errors.Is(want, ErrNotCore) != errors.Is(err, ErrNotCore) || errors.Is(want, errNoThreads) != errors.Is(err, errNoThreads) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := Read(ctx, bytes.NewReader(core), "core", Options{Memory: 1 << 30}); !errors.Is(err, stop) {
		t.Errorf("canceled: %v", err)
	}
}

// notesLast returns a core file with its notes, which are the first segment, after all others.
func notesLast(core []byte) []byte {
	late := bytes.Clone(core)
	notes := binary.LittleEndian.Uint64(late[64+8:])
	size := binary.LittleEndian.Uint64(late[64+32:])
	binary.LittleEndian.PutUint64(late[64+8:], uint64(len(late)))
	late = append(late, late[notes:notes+size]...)
	clear(late[notes:][:size])
	return late
}

// TestStreamNotesLast: a core file whose notes come after the memory is what it is as a file, also
// if no temporary file can be made.
func TestStreamNotesLast(t *testing.T) {
	late := notesLast(crashCore(t))
	want, err := New("core", late, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readStream(t, late, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	equalCores(t, got, want)

	// The walk is the same, with as little memory as for notes that come first.
	small, err := readStream(t, late, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	first, err := readStream(t, crashCore(t), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(small.Extract(nil)), fmt.Sprint(first.Extract(nil)); a != b {
		t.Errorf("%s\nwant\n%s", a, b)
	}

	// A truncated file has no notes.
	if _, err := readStream(t, late[:len(crashCore(t))], 1<<30); !errors.Is(err, errNoThreads) {
		t.Errorf("without notes: %v", err)
	}

	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	got, err = readStream(t, late, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	n := len(got.Process.Warnings)
	got.Process.Warnings = slices.DeleteFunc(got.Process.Warnings, func(w string) bool { return strings.Contains(w, "TMPDIR") })
	if len(got.Process.Warnings) != n-1 {
		t.Errorf("no warning: %q", got.Process.Warnings)
	}
	equalCores(t, got, want)
}

// TestStreamBombs: hostile core files take little time and memory.
func TestStreamBombs(t *testing.T) {
	for _, name := range []string{"a core whose headers share notes", "a core of files that share headers", "a core of threads that share a stack"} {
		c, err := readStream(t, mutant.Named(name), 1<<20)
		if err != nil && !errors.Is(err, errNoThreads) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && len(c.Process.Threads) == 0 {
			t.Errorf("%s: no threads", name)
		}
	}
}

// TestKept compares with a map of pages: bytes that are kept are right, pages of zeros are
// always known, needed pages are dropped for no others, and the budget holds.
func TestKept(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 8 {
		const pages = 1200
		k := newKept(leastMemory)
		contents := make([][]byte, pages)
		worst := make([]class, pages)
		needs := 0
		for i := range contents {
			data := make([]byte, pageSize)
			c := class(rnd.IntN(int(classes)))
			if rnd.IntN(4) > 0 {
				for j := range data {
					data[j] = byte(rnd.Uint32())
				}
				if c == needed {
					needs++
				}
			}
			contents[i], worst[i] = data, c
			cut := uint64(rnd.IntN(pageSize)) // a page may arrive in two parts
			k.put(uint64(i)<<pageBits, data[:cut], c)
			k.put(uint64(i)<<pageBits+cut, data[cut:], c)
		}

		if len(k.slots)*slotBlock<<pageBits > 4<<20 || k.used > k.most {
			t.Fatalf("%d slots", k.used)
		}
		for i, want := range contents {
			got := k.page(uint64(i))
			switch {
			case got != nil && !bytes.Equal(got, want):
				t.Fatalf("page %d is wrong", i)
			case got == nil && (bytes.Equal(want, zeros[:]) || worst[i] == needed && needs <= int(k.most)):
				t.Fatalf("page %d of class %d was dropped", i, worst[i])
			}
		}
		for range 1000 {
			addr, n := uint64(rnd.IntN(pages-4)<<pageBits+rnd.IntN(pageSize)), uint64(rnd.IntN(3*pageSize))
			got := k.bytes(addr, n)
			for i, b := range got {
				at := addr + uint64(i)
				if contents[at>>pageBits][at%pageSize] != b {
					t.Fatalf("byte at %#x is wrong", at)
				}
			}
			if got != nil && uint64(len(got)) != n {
				t.Fatalf("%d bytes, want %d", len(got), n)
			}
		}
		if err := k.release(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExtract: what is extracted is known, in order, and has the stacks.
func TestExtract(t *testing.T) {
	c, err := readStream(t, crashCore(t), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	x := c.Extract(nil)
	last := uint64(0)
	for _, r := range x.Memory {
		if r.Lo < last || r.Lo >= r.Hi || c.Process.Memory.Bytes(r.Lo, r.Hi-r.Lo) == nil {
			t.Errorf("range %#x-%#x after %#x", r.Lo, r.Hi, last)
		}
		last = r.Hi
	}
	regs := &c.Process.Threads[0].Regs
	sp, _ := regs.Get(7)
	if s := x.Stacks[0]; s.Lo > sp || s.Hi <= sp || sp-s.Lo > 2*pageSize {
		t.Errorf("stack %#x-%#x, stack pointer %#x", s.Lo, s.Hi, sp)
	}
	for _, line := range []string{
		"00400000-00401000 r--p 00000000 00:00 1 /tmp/symkit-crash/crash\n",
		"7ffff7ffd000-7ffff7fff000 r-xp 00000000 00:00 0 [vdso]\n",
	} {
		if !strings.Contains(string(x.Maps), line) {
			t.Errorf("no %q in\n%s", line, x.Maps)
		}
	}
	if len(x.AuxV) == 0 {
		t.Error("no auxiliary vector")
	}
}

// TestExtractFile: a core file that is a file has stacks to extract, too.
func TestExtractFile(t *testing.T) {
	c, err := New("core", crashCore(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := c.Extract(nil)
	if len(x.Memory) != 2 || len(x.Stacks) != 1 || x.Stacks[0].Hi-x.Stacks[0].Lo < pageSize {
		t.Errorf("%+v", x)
	}
}

// FuzzStream: a stream gives the process that the file gives.
func FuzzStream(f *testing.F) {
	core := crashCore(f)
	f.Add(core[:0x1800], uint16(0), byte(0))
	f.Add(core[:0x1800], uint16(64+8), byte(3))
	// In these, the build id is looked for in the memory that PT_NOTE names.
	f.Add(withoutBuildIDs(f, core)[:0x2000], uint16(0), byte(0))
	f.Add(notesLast(withoutBuildIDs(f, core)), uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, v byte) {
		if len(data) == 0 {
			return
		}
		data = bytes.Clone(data)
		data[int(at)%len(data)] ^= v
		want, wantErr := New("core", data, Options{})
		got, err := Read(t.Context(), bytes.NewReader(data), "core", Options{Memory: 1 << 30})
		if err == nil {
			defer got.Close()
		}
		if err != nil || wantErr != nil {
			return
		}
		if overlap(want) {
			return // a byte that two segments share can be read once
		}
		if len(got.Process.Threads) != len(want.Process.Threads) || len(got.Process.Modules) != len(want.Process.Modules) {
			t.Fatalf("%d threads, %d modules, want %d and %d", len(got.Process.Threads), len(got.Process.Modules), len(want.Process.Threads), len(want.Process.Modules))
		}
		var threads []walk.Thread = want.Process.Threads
		for i := range threads {
			if got.Process.Threads[i].Regs != threads[i].Regs {
				t.Fatalf("thread %d: other registers", i)
			}
		}
	})
}

// overlap reports whether parts of a core file overlap, in the file or in memory.
func overlap(c *Core) bool {
	for i, a := range c.file.Segments {
		for j, b := range c.file.Segments {
			if i != j && (a.Offset < b.Offset+b.Filesz && b.Offset < a.Offset+a.Filesz || a.Vaddr < b.Vaddr+max(b.Memsz, b.Filesz) && b.Vaddr < a.Vaddr+max(a.Memsz, a.Filesz)) {
				return true
			}
		}
		head := uint64(64 + 56*len(c.file.Segments))
		if a.Filesz > 0 && a.Offset < head || a.Filesz > a.Memsz {
			return true
		}
	}
	return false
}
