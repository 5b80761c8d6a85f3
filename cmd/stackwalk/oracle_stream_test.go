//go:build oracle

package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/compare"
	"symkit/walk/corefile"
	"symkit/walk/symbols/sources"
)

// corePaths lists the cores of scripts/cores.sh with the directories that have the programs.
// qemu writes no cores of riscv64, so these are made of what gdb read.
func corePaths(t *testing.T, root string) (cores, dirs []string) {
	t.Helper()
	for _, core := range subdirectories(t, root, "*-*/core") {
		cores, dirs = append(cores, core), append(dirs, filepath.Dir(core))
	}
	for _, dir := range subdirectories(t, root, "riscv64-*") {
		cores, dirs = append(cores, makeCore(t, dir)), append(dirs, dir)
	}
	return cores, dirs
}

// streamed runs the program with a core file as standard input, by the command line of the
// program alone, and returns both outputs.
func streamed(t *testing.T, core string, args ...string) (stdout, stderr string) {
	t.Helper()
	in, err := os.Open(core)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	go func() {
		defer write.Close()
		_, _ = io.Copy(write, in) // the program may stop to read
	}()

	var out, messages bytes.Buffer
	cmd := exec.Command("stackwalk", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read, &out, &messages
	err = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 2 {
		t.Fatalf("%s: exit code %d: %s", core, code, &messages)
	}
	return out.String(), messages.String()
}

// TestOracleStreams: a core file through a pipe gives the JSON that the file gives, byte by
// byte, in the usual memory, and in 1 MiB unless a warning says what is missing: of stacks of
// 1 MiB and more, and of hundreds of threads.
func TestOracleStreams(t *testing.T) {
	cut := 0
	paths, dirs := corePaths(t, cores(t))
	for i, dir := range dirs {
		core, exe := paths[i], filepath.Join(dir, "prog")
		args := []string{"--format=json", "--max-frames=20000", "--exe", exe}
		var want, messages bytes.Buffer
		run(t.Context(), append(slices.Clone(args), core), &want, &messages)
		got, _ := streamed(t, core, append(slices.Clone(args), "-")...)
		if got != want.String() {
			t.Errorf("%s: the output is not that of the file", dir)
		}

		// Notes at the end, as some writers put them.
		late, _ := streamed(t, notesLast(t, core), append(slices.Clone(args), "-")...)
		if late != want.String() {
			t.Errorf("%s: the output with the notes at the end is not that of the file", dir)
		}
		got, warnings := streamed(t, core, append(slices.Clone(args), "--memory=1M", "-")...)
		switch {
		case got == want.String():
		case !strings.Contains(warnings, "of the memory that a walk may need did not fit into --memory"):
			t.Errorf("%s: the output with 1 MiB is not that of the file", dir)
		default:
			cut++
		}
	}
	t.Logf("%d cores; %d need more than 1 MiB", len(dirs), cut)
	if cut > 12 || len(dirs) < 100 {
		t.Errorf("%d of %d cores need more than 1 MiB", cut, len(dirs))
	}
}

// notesLast copies a core file with its notes, which are the first segment, after all others.
func notesLast(t *testing.T, path string) string {
	t.Helper()
	core, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(core))
	if err != nil || f.Progs[0].Type != elf.PT_NOTE {
		t.Fatalf("%s: %v, or the notes are not the first segment", path, err)
	}
	notes, end := f.Progs[0], uint64(len(core))
	core = append(core, core[notes.Off:][:notes.Filesz]...)
	clear(core[notes.Off:][:notes.Filesz])
	if f.Class == elf.ELFCLASS64 {
		f.ByteOrder.PutUint64(core[f.ByteOrder.Uint64(core[32:])+8:], end)
	} else {
		f.ByteOrder.PutUint32(core[f.ByteOrder.Uint32(core[28:])+4:], uint32(end))
	}
	late := filepath.Join(t.TempDir(), "core")
	err = os.WriteFile(late, core, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	return late
}

// TestOracleHugeStream: a core file of 20 GiB, all zeros or full, through a pipe in less than
// 300 MB, with the stacks of the core file without the 20 GiB.
func TestOracleHugeStream(t *testing.T) {
	const size = 20 << 30
	dir := filepath.Join(cores(t), "x86_64-inline")
	core, err := os.ReadFile(filepath.Join(dir, "core"))
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "prog")
	want := output(t, "--format=json", "--exe", exe, filepath.Join(dir, "core"))
	for name, fill := range map[string]byte{"zeros": 0, "full": 0xa5} {
		head, tail := withSegment(t, core, size)
		cmd := exec.Command("stackwalk", "--format=json", "--exe", exe, "-")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out, messages bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &messages
		err = testfile.ForgetPeak()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		page := bytes.Repeat([]byte{fill}, 1<<20)
		_, err = in.Write(head)
		for n := 0; n < size && err == nil; n += len(page) {
			_, err = in.Write(page)
		}
		if err == nil {
			_, err = in.Write(tail)
		}
		in.Close()
		if waitErr := cmd.Wait(); err != nil || waitErr != nil {
			t.Fatalf("%v, %v: %s", err, waitErr, &messages)
		}
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		t.Logf("%s: %d KiB", name, peak)
		if peak > 300_000_000/1024 {
			t.Errorf("%s: %d KiB", name, peak)
		}
		d, err := compare.Paths(resultFile(t, want), resultFile(t, out.String()))
		if err != nil {
			t.Fatal(err)
		}
		if d.Frames < 5 || slices.ContainsFunc(compare.Kinds(), func(k compare.Kind) bool { return d.Count(k) > 0 }) {
			t.Errorf("%s: other stacks", name)
		}
	}
}

// resultFile writes a result to a file, whose path it returns.
func resultFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "result.json")
	err := os.WriteFile(path, []byte(text), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// withSegment adds a segment of memory to a core file of x86-64, before all others: head goes
// before its bytes, tail after them.
func withSegment(t *testing.T, core []byte, size uint64) (head, tail []byte) {
	t.Helper()
	const entry = 56
	order := binary.LittleEndian
	count := int(order.Uint16(core[56:]))
	off := order.Uint64(core[32:])
	header := bytes.Clone(core[:off])
	order.PutUint16(header[56:], uint16(count+1))
	clear(header[40:48])
	clear(header[58:64])
	programs := core[off:][:count*entry]
	notes := order.Uint64(programs[8:])
	end := notes + order.Uint64(programs[32:])
	if order.Uint32(programs) != 4 || notes != off+uint64(count*entry) {
		t.Fatal("the notes do not follow the headers")
	}

	head = header
	for i := range count {
		p := bytes.Clone(programs[i*entry:][:entry])
		shift := entry + size
		if i == 0 {
			shift = entry
		}
		order.PutUint64(p[8:], order.Uint64(p[8:])+shift)
		head = append(head, p...)
		if i > 0 {
			continue
		}
		added := make([]byte, entry)
		order.PutUint32(added, 1)
		order.PutUint32(added[4:], 6)
		order.PutUint64(added[8:], end+entry)
		order.PutUint64(added[16:], 0x100000000000)
		order.PutUint64(added[32:], size)
		order.PutUint64(added[40:], size)
		head = append(head, added...)
	}
	return append(head, core[notes:end]...), core[end:]
}

// TestOracleMinidumps: the minidumps of all cores, read by Breakpad's and rust-minidump's tools
// with our symbols, have the frames of the core, up to where a stack needs a technique that
// the tools do not have (see sameFrames).
func TestOracleMinidumps(t *testing.T) {
	tools := []struct {
		name string
		read func(t *testing.T, cpu, dmp, store string) [][]outline
	}{
		{"rust-minidump", readRust(peer(t, "minidump-stackwalk"))},
		{"breakpad", readBreakpad(peer(t, "minidump_stackwalk"))},
	}
	root, store := cores(t), t.TempDir()
	compared, equal, stacks := map[string]int{}, map[string]int{}, 0
	paths, dirs := corePaths(t, root)
	for at, dir := range dirs {
		if strings.HasPrefix(filepath.Base(dir), "s390x-") {
			continue // minidumps have no registers of s390x
		}
		core, exe, dmp := paths[at], filepath.Join(dir, "prog"), filepath.Join(t.TempDir(), "dmp")
		p, res := walkStored(t, exe, core, store)
		streamed(t, core, "--exe", exe, "--no-elf", "--symbols", store, "--max-frames=1000", "--brief", "--minidump", dmp, "-")

		stacks += len(res.Stacks)
		for _, tool := range tools {
			theirs := tool.read(t, p.CPU, dmp, store)
			for i := range res.Stacks {
				s := &res.Stacks[i]
				var stack []outline
				if i < len(theirs) {
					stack = theirs[i]
				}
				n, whole := sameFrames(t, tool.name+" "+filepath.Base(dir), p, s, stack)
				compared[tool.name] += n
				if whole {
					equal[tool.name]++
				}
			}
		}
	}
	for _, tool := range tools {
		t.Logf("%s: %d of %d stacks are equal to their ends, %d frames compared", tool.name, equal[tool.name], stacks, compared[tool.name])
		if stacks < 600 || equal[tool.name] < stacks*9/10 {
			t.Errorf("%s: only %d of %d stacks are equal", tool.name, equal[tool.name], stacks)
		}
	}
}

// outline has the facts about a frame that a tool prints. Inlined calls are outlines of their own.
type outline struct {
	addr                   uint64 // 0: the tool does not print it
	module, function, file string
	line                   uint32
}

// outlines lists our frames, the frame that each comes from, and whether the frame is a trampoline.
func outlines(p *walk.Process, s *walk.Stack) (out []outline, from []*walk.Frame) {
	for i := range s.Frames {
		f := &s.Frames[i]
		o := outline{addr: thumb(p.CPU, f.Lookup())}
		if f.Module != nil {
			o.module = f.Module.Name
		}
		add := func(function, file string, line uint32) {
			o.function, o.file, o.line = function, file, line
			out, from = append(out, o), append(from, f)
		}
		for _, in := range f.Place.Inlines {
			add(in.Func, in.File, in.Line)
		}
		add(f.Place.Func, f.Place.File, f.Place.Line)
	}
	return out, from
}

// thumb removes the bit of an address of ARM code that rust-minidump leaves set.
func thumb(cpu string, addr uint64) uint64 {
	if cpu == "arm" {
		return addr &^ 1
	}
	return addr
}

// readRust reads the stacks of a minidump as rust-minidump's tool finds them, by thread.
func readRust(path string) func(t *testing.T, cpu, dmp, store string) [][]outline {
	return func(t *testing.T, cpu, dmp, store string) (stacks [][]outline) {
		t.Helper()
		out, err := exec.Command(path, "--json", dmp, store).Output()
		if err != nil {
			t.Fatalf("%s: %v", dmp, err)
		}
		type call struct {
			Function, File string
			Line           uint32
		}
		var result struct {
			Threads []struct {
				Frames []struct {
					call
					Offset, Module string
					Inlines        []call
				}
			}
		}
		err = json.Unmarshal(out, &result)
		if err != nil {
			t.Fatalf("%s: %v", dmp, err)
		}

		for _, thread := range result.Threads {
			var frames []outline
			for _, f := range thread.Frames {
				addr, err := strconv.ParseUint(f.Offset, 0, 64)
				if err != nil {
					t.Fatalf("%s: %v", dmp, err)
				}
				for _, c := range append(f.Inlines, f.call) {
					frames = append(frames, outline{thumb(cpu, addr), f.Module, c.Function, c.File, c.Line})
				}
			}
			stacks = append(stacks, frames)
		}
		return stacks
	}
}

// readBreakpad reads the stacks of a minidump as Breakpad's tool finds them, by thread.
func readBreakpad(path string) func(t *testing.T, cpu, dmp, store string) [][]outline {
	return func(t *testing.T, _, dmp, store string) (stacks [][]outline) {
		t.Helper()
		out, err := exec.Command(path, "-m", dmp, store).Output()
		if err != nil {
			t.Fatalf("%s: %v", dmp, err)
		}
		_, body, _ := strings.Cut(string(out), "\n\n")
		for text := range strings.Lines(body) {
			// Thread, frame, module, function, file, line, offset.
			f := strings.Split(strings.TrimSuffix(text, "\n"), "|")
			if len(f) != 7 {
				continue
			}
			thread, err1 := strconv.Atoi(f[0])
			line, err2 := strconv.ParseUint(cmp.Or(f[5], "0"), 10, 32)
			if err1 != nil || err2 != nil || thread > 1<<20 {
				t.Fatalf("%s: %q", dmp, text)
			}
			for len(stacks) <= thread {
				stacks = append(stacks, nil)
			}
			stacks[thread] = append(stacks[thread], outline{0, f[2], f[3], f[4], uint32(line)})
		}
		return stacks
	}
}

// sameFrames compares a stack of ours with that of a tool, and returns how many frames are
// equal and whether the whole stacks are. Differences are errors but for these:
//   - the tools do not know signal frames;
//   - from the first frame on that ours finds without rules, by machine code, link register, frame
//     pointer or scanning, theirs may be others, and so from the entry of a coroutine on;
//   - a function without FUNC has for them the name of the nearest PUBLIC below, also where
//     rules of another function begin between;
//   - they may go on where a stack ends;
//   - they do not use rules on ppc64, and rust-minidump reads no registers of riscv64.
func sameFrames(t *testing.T, what string, p *walk.Process, s *walk.Stack, theirs []outline) (n int, whole bool) {
	t.Helper()
	ours, from := outlines(p, s)
	known := !(p.CPU == "riscv64" && strings.HasPrefix(what, "rust"))
	for i, o := range ours {
		if from[i].Signal && from[i] != &s.Frames[0] {
			return i, false
		}
		f := from[i]
		known = known && (f.Trust == walk.TrustContext || f.Trust == walk.TrustCFI && !f.Exact && p.CPU != "ppc64")
		if i == len(theirs) {
			if known {
				t.Errorf("%s: thread %d ends after %d frames, ours goes on with %+v", what, s.Thread.ID, i, o)
			}
			return i, false
		}
		u := theirs[i]
		if u.addr == 0 {
			o.addr = 0
		}
		if o.function == "" && o.file == "" {
			u.function = "" // a PUBLIC
		}
		if o != u {
			if known {
				t.Errorf("%s: thread %d, frame %d: %+v, ours is %+v", what, s.Thread.ID, i, theirs[i], o)
			}
			return i, false
		}
	}
	return len(ours), len(ours) == len(theirs)
}

// walkStored walks a core with the symbols of a store, to which it adds those of the modules
// in the stacks.
func walkStored(t *testing.T, exe, core, store string) (*walk.Process, *walk.Result) {
	t.Helper()
	files := &sources.Files{Exe: exe}
	t.Cleanup(func() { files.Close() })
	c, err := corefile.Open(core, corefile.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for _, m := range c.Process.Modules {
		addToStore(t, store, m, files)
	}
	supplier, err := sources.NewStore([]string{store})
	if err != nil {
		t.Fatal(err)
	}
	res, err := walk.Walk(t.Context(), c.Process, supplier, walk.Options{MaxFrames: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return c.Process, res
}

// addToStore dumps a module, unless the store has it.
func addToStore(t *testing.T, store string, m *walk.Module, files *sources.Files) {
	t.Helper()
	path := filepath.Join(store, m.Name, m.DebugID, m.Name+".sym")
	if _, err := os.Stat(path); err == nil || m.DebugID == "" {
		return
	}
	f, _ := elfx.NewFile(m.Path, m.Image)
	if m.Image == nil {
		f, _ = files.Binary(m)
	}
	if f == nil {
		t.Logf("%s: no symbols", m.Path)
		return
	}
	mod, err := dump.Dump(t.Context(), &elfx.Image{Main: f}, dump.Options{Inlines: true, Name: m.Name})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := mod.Write(&text); err != nil {
		t.Fatal(err)
	}

	// Breakpad's tool reads build ids of big-endian processes in the order of its own machine.
	for _, id := range []string{m.DebugID, identity.ModuleID(m.BuildID, false)} {
		dir := filepath.Join(store, m.Name, id)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, m.Name+".sym"), text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
