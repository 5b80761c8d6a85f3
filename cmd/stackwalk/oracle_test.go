//go:build oracle

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"symkit/dump"
	"symkit/elfx"
	"symkit/emit"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
)

// The oracles: eu-stack (elfutils) for the return addresses, gdb for names and
// inlined calls. The cores are those of scripts/cores.sh, made anew, or, when
// SYMKIT_CORES is set, found in that directory.

// level is one line of a backtrace.
type level struct {
	pc   uint64 // 0: not told
	name string
}

// cores is the directory of the cores, which no test writes to.
func cores(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("SYMKIT_CORES"); dir != "" {
		return dir
	}
	out, err := makeCores()
	if err != nil {
		t.Fatalf("cores.sh: %v\n%s", err, out)
	}
	if len(out) > 0 {
		t.Logf("cores.sh: %s", out)
	}
	return shared
}

// makeCores makes the cores once for all tests, in the directory shared.
var makeCores = sync.OnceValues(func() (out []byte, err error) {
	shared, err = os.MkdirTemp("", "cores")
	if err != nil {
		return nil, err
	}
	return exec.Command("../../scripts/cores.sh", shared).CombinedOutput()
})

// TestOracleCores walks real crashes: all threads of the kernel's cores against
// eu-stack and gdb, those of other machines against gdb.
func TestOracleCores(t *testing.T) {
	dir := cores(t)
	t.Run("native", func(t *testing.T) {
		for _, dir := range subdirectories(t, dir, "x86_64-*", "i386-*") {
			t.Run(filepath.Base(dir), func(t *testing.T) { nativeCore(t, dir) })
		}
	})
	t.Run("cross", func(t *testing.T) {
		for _, dir := range subdirectories(t, dir, "aarch64-*", "arm-*", "s390x-*", "riscv64-*", "ppc64-*", "mips-*") {
			t.Run(filepath.Base(dir), func(t *testing.T) { crossCore(t, dir) })
		}
	})
	t.Run("back chain", func(t *testing.T) { backChain(t, subdirectories(t, dir, "ppc64-*")) })
	t.Run("faster", func(t *testing.T) { fasterThanEuStack(t, filepath.Join(dir, "x86_64-threads")) })
}

// subdirectories lists those that match one of the patterns. Each pattern must
// have some.
func subdirectories(t *testing.T, dir string, patterns ...string) (dirs []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(found) == 0 {
			t.Fatalf("no %s in %s", pattern, dir)
		}
		dirs = append(dirs, found...)
	}
	return dirs
}

// ours walks a core with the dumping supplier.
func ours(t *testing.T, dir string) *walk.Result {
	t.Helper()
	return walkCore(t, filepath.Join(dir, "prog"), filepath.Join(dir, "core"))
}

func walkCore(t *testing.T, exe, path string) *walk.Result {
	t.Helper()
	return walkWith(t, exe, path, func(files *sources.Files) walk.Supplier {
		return &elfsyms.Supplier{Files: files}
	})
}

// walkWith walks a core with symbols from a supplier of ELF files.
func walkWith(t *testing.T, exe, path string, supplier func(*sources.Files) walk.Supplier) *walk.Result {
	t.Helper()
	files := &sources.Files{Exe: exe}
	if strings.HasSuffix(filepath.Dir(exe), "-stripped") {
		files.Search.DebugDirs = []string{} // the debug files of the libraries are not looked for
	}
	t.Cleanup(func() { files.Close() })
	core, err := corefile.Open(path, corefile.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { core.Close() })
	res, err := walk.Walk(t.Context(), core.Process, supplier(files), walk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// tool runs an oracle and returns its standard output.
func tool(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed: %v", name, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=", "LC_ALL=C")
	out, _ := cmd.Output() // eu-stack exits with 1 when any stack ends in an error
	return out
}

var (
	euThread = regexp.MustCompile(`^TID (\d+):`)
	euFrame  = regexp.MustCompile(`^#\d+ +0x([0-9a-f]+)(?: - \d+)?(?: (.*))?$`)
)

func euStack(t *testing.T, dir string) map[int][]level {
	t.Helper()
	out := tool(t, "eu-stack", "--core="+filepath.Join(dir, "core"), "-e", filepath.Join(dir, "prog"), "-n", "0")
	stacks, id := map[int][]level{}, 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if m := euThread.FindStringSubmatch(line); m != nil {
			id, _ = strconv.Atoi(m[1])
		} else if m := euFrame.FindStringSubmatch(line); m != nil {
			pc, _ := strconv.ParseUint(m[1], 16, 64)
			stacks[id] = append(stacks[id], level{pc, m[2]})
		}
	}
	return stacks
}

var (
	gdbThread = regexp.MustCompile(`^Thread \d+ \((?:.*LWP |process |Thread )?(\d+)[).]`)
	gdbFrame  = regexp.MustCompile(`^#\d+ +(?:0x([0-9a-f]+) in )?(.*)$`)
)

// parseGDB reads what `thread apply all bt` prints.
func parseGDB(out []byte) map[int][]level {
	stacks, id := map[int][]level{}, 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := gdbThread.FindStringSubmatch(line); m != nil {
			id, _ = strconv.Atoi(m[1])
		} else if m := gdbFrame.FindStringSubmatch(line); m != nil {
			pc, _ := strconv.ParseUint(m[1], 16, 64)
			stacks[id] = append(stacks[id], level{pc, baseName(m[2])})
		}
	}
	return stacks
}

func gdbStacks(t *testing.T, dir string) map[int][]level {
	t.Helper()
	args := []string{"-batch", "-nx", "-ex", "set print frame-arguments none", "-ex", "set width 0", "-ex", "set backtrace past-main on"}
	if strings.HasSuffix(dir, "-stripped") {
		args = append(args, "-iex", "set debug-file-directory /nonexistent")
	}
	return parseGDB(tool(t, "gdb", append(args, "-ex", "thread apply all bt", filepath.Join(dir, "prog"), filepath.Join(dir, "core"))...))
}

// baseName is the last part of a function's name, without template and other
// arguments: gdb and demanglers spell those differently. Lambdas and closures
// have none. glibc's hidden aliases have the name of what they are aliases of.
func baseName(name string) string {
	if strings.HasPrefix(name, "<signal handler") {
		return "<signal>"
	}
	name, _, _ = strings.Cut(name, "@") // versions
	name = strings.NewReplacer("(anonymous namespace)", "", "operator()", "operator", "operator<", "operator", "->", "").Replace(name)
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		if depth == 0 && strings.HasPrefix(name[i:], " (") { // gdb's arguments
			break
		}
		switch c := name[i]; c {
		case '<', '(', '{', '[':
			depth++
		case '>', ')', '}', ']':
			depth--
		default:
			if depth == 0 {
				b.WriteByte(c)
			}
		}
	}
	s := strings.TrimSuffix(strings.TrimSpace(b.String()), " const")
	s = s[strings.LastIndexByte(s, ' ')+1:]
	s = s[strings.LastIndexByte(s, ':')+1:]
	s = strings.TrimLeft(strings.TrimPrefix(s, "__GI_"), "_")
	if s == "rust_begin_unwind" { // the linkage name
		return "panic_handler"
	}
	return s
}

// levels lists our frames as a debugger does.
func levels(s *walk.Stack) (out []level) {
	for i := range s.Frames {
		f := &s.Frames[i]
		for _, in := range f.Place.Inlines {
			out = append(out, level{0, baseName(in.Func)})
		}
		name := baseName(f.Place.Func)
		if f.Signal {
			name = "<signal>"
		}
		out = append(out, level{f.PC, name})
	}
	return out
}

func pcs(list []level) (out []uint64) {
	for _, l := range list {
		if l.pc != 0 {
			out = append(out, l.pc)
		}
	}
	return out
}

func render(list []level) string {
	var b strings.Builder
	for i, l := range list {
		if i == 40 {
			b.WriteString("  ...\n")
			break
		}
		fmt.Fprintf(&b, "  %#x %s\n", l.pc, l.name)
	}
	return b.String()
}

// What no oracle walks to the end, by the last part of the core's name, and why.
// Of eu-stack's frames then all but the last, which may be anything, must be the
// first of ours; ours must be complete.
var (
	euStops = map[string]string{
		"null":       "does not return from a call to what is no code",
		"garbage":    "the same",
		"data":       "the same",
		"heap":       "the same",
		"frameless":  "code of no module has no rules",
		"assembly":   "it has no rules",
		"smashed":    "the return address is gone",
		"coroutine":  "goes on after __start_context",
		"musl":       "the start of musl's programs has no rules",
		"muslnoid":   "the same",
		"muslstatic": "the same",
		"musllean":   "the same", "muslhandler": "the same", "musloverflow": "the same",
		"go": "the signal trampoline has no rules; invents callers of runtime.clone",
	}
	gdbStops = map[string]string{
		"frameless":  "code of no module has no rules",
		"heap":       "the same, on i386",
		"assembly":   "it has no rules",
		"smashed":    "the return address is gone",
		"coroutine":  "goes on after __start_context",
		"go":         "invents callers of runtime.clone",
		"musl":       "the start of musl's programs has no rules",
		"muslnoid":   "the same",
		"muslstatic": "the same",
		"musllean":   "the same", "muslhandler": "the same", "musloverflow": "the same",
	}
)

// elsewhere are the kinds of kinds.cc whose stack is not main's.
var elsewhere = map[string]bool{"threads": true, "future": true, "coroutine": true, "cloned": true, "atend": true,
	"smashed":   true, // it wrote over some frames
	"frameless": true, // found by scanning: a word left on the stack may come first
}

func kindOf(dir string) string { return dir[strings.LastIndexByte(dir, '-')+1:] }

// nativeCore compares the stacks of all threads of one core.
func nativeCore(t *testing.T, dir string) {
	res, eu, gdb := ours(t, dir), euStack(t, dir), gdbStacks(t, dir)
	if len(eu) != len(res.Stacks) {
		t.Fatalf("%d threads, eu-stack shows %d", len(res.Stacks), len(eu))
	}
	kind := kindOf(dir)
	if strings.HasSuffix(dir, "-nodwarf-go") {
		throughFramePointers(t, &res.Stacks[res.Crashed()], eu)
		return
	}
	for i := range res.Stacks {
		s := &res.Stacks[i]
		compareAddresses(t, s, eu[s.Thread.ID], euStops[kind] != "")
		if gdbStops[kind] == "" {
			compareNames(t, s, gdb[s.Thread.ID])
		}
	}
	if strings.Contains(dir, "-gcc-") || strings.Contains(dir, "-clang-") {
		throughMain(t, &res.Stacks[0], !elsewhere[kind])
	}
}

// throughFramePointers compares a stack with that of eu-stack, which has no rules of the program and
// follows frame pointers: the callers of functions that push none are missing there.
func throughFramePointers(t *testing.T, s *walk.Stack, eu map[int][]level) {
	t.Helper()
	want := pcs(eu[s.Thread.ID])
	n := 0
	for _, pc := range pcs(levels(s)) {
		if n < len(want) && pc == want[n] {
			n++
		}
	}
	if n < len(want) || n < 10 || !s.Complete {
		t.Errorf("thread %d:\n%send: %s\neu-stack:\n%s", s.Thread.ID, render(levels(s)), s.End, render(eu[s.Thread.ID]))
	}
}

// compareAddresses compares with eu-stack, which may find fewer frames.
func compareAddresses(t *testing.T, s *walk.Stack, want []level, stops bool) {
	t.Helper()
	got := levels(s)
	a, b := pcs(got), pcs(want)
	if slices.Equal(a, b) {
		return
	}
	if stops && (isPrefix(b[:max(len(b)-1, 0)], a) || isPrefix(a, b)) {
		return
	}
	t.Errorf("thread %d:\n%send: %s\neu-stack:\n%s", s.Thread.ID, render(got), s.End, render(want))
}

func isPrefix(a, b []uint64) bool { return len(a) <= len(b) && slices.Equal(a, b[:len(a)]) }

// throughMain holds what every crash of kinds.cc is like: the stack is complete,
// and, unless it is another's than main's, has the frames down to _start.
func throughMain(t *testing.T, s *walk.Stack, onMain bool) {
	t.Helper()
	if !s.Complete {
		t.Errorf("stack ends: %s\n%s", s.End, render(levels(s)))
	}
	if !onMain {
		return
	}
	var names []string
	for _, l := range levels(s) {
		names = append(names, l.name)
	}
	if all := strings.Join(names, " "); !strings.Contains(all, " descend descend descend descend main ") || !strings.HasSuffix(all, " start") {
		t.Errorf("not through main: %s", all)
	}
}

// compareNames compares functions and inlined calls. What gdb shows beyond:
// frames of tail calls, made up from call sites (their PC is in no stack of
// eu-stack's), and frames without a name after the outermost function.
func compareNames(t *testing.T, s *walk.Stack, want []level) {
	t.Helper()
	got := levels(s)
	if len(want) == 0 {
		t.Errorf("thread %d: the oracle shows nothing", s.Thread.ID)
		return
	}
	mine := map[uint64]bool{}
	for _, l := range got {
		mine[l.pc] = true
	}
	var shown []level
	for i, l := range want {
		if i > 0 && l.pc == 0 && l.name != "<signal>" { // of the group of the line before
			l.pc = want[i-1].pc
		}
		want[i] = l
		if l.pc == 0 || mine[l.pc] {
			shown = append(shown, l)
		}
	}
	for len(shown) > 0 && s.Complete && strings.TrimLeft(shown[len(shown)-1].name, "?") == "" {
		shown = shown[:len(shown)-1]
	}
	same := len(got) == len(shown)
	for i := range min(len(got), len(shown)) {
		if name := shown[i].name; name != "" && got[i].name != "" && !sameName(got[i].name, name) {
			same = false
		}
	}
	if !same {
		t.Errorf("thread %d:\n%send: %s\noracle:\n%s", s.Thread.ID, render(got), s.End, render(shown))
	}
}

// fasterThanEuStack walks the core of 301 threads.
func fasterThanEuStack(t *testing.T, dir string) {
	program := filepath.Join(t.TempDir(), "stackwalk")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := func(name string, args ...string) time.Duration {
		start := time.Now()
		tool(t, name, args...)
		return time.Since(start)
	}
	core, exe := filepath.Join(dir, "core"), filepath.Join(dir, "prog")
	ours, eu := took(program, "--exe", exe, core), took("eu-stack", "--core="+core, "-e", exe, "-n", "0")
	t.Logf("stackwalk %v, eu-stack %v", ours, eu)
	if ours > eu {
		t.Errorf("stackwalk takes %v, eu-stack %v", ours, eu)
	}
}

// crossOdd are the cores of other machines in which gdb finds fewer frames, and why.
var crossOdd = map[string]string{
	"null":           "gdb does not return from a call through a null pointer",
	"s390x-handler":  "gdb does not know qemu's trampoline",
	"s390x-altstack": "gdb does not know qemu's trampoline",
	"ppc64-handler":  "gdb does not know qemu's trampoline",
	"ppc64-altstack": "gdb does not know qemu's trampoline",
	"arm-frames":     "gdb's analysis of prologues guesses",
	"arm-overflow":   "gdb 13 dies of it",
}

// crossScanned are the cores with a function that has no rules, where gdb reads
// prologues and stackwalk scans: words left on the stack may come between.
var crossScanned = map[string]string{"mips-uncaught": "glibc's abort"}

// goTraceback compares the stack of a Go program's core with the traceback that the program wrote:
// the frames of the goroutine that panicked, which two signal frames follow.
func goTraceback(t *testing.T, dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "traceback"))
	if err != nil {
		t.Fatal(err)
	}
	_, running, _ := strings.Cut(string(text), " [running]:\n")
	running, _, _ = strings.Cut(running, "\n\n")
	var want []uint64
	for _, m := range regexp.MustCompile(` pc=0x([0-9a-f]+)`).FindAllStringSubmatch(running, -1) {
		pc, _ := strconv.ParseUint(m[1], 16, 64)
		want = append(want, pc)
	}

	res := ours(t, dir)
	s := &res.Stacks[res.Crashed()]
	got := pcs(levels(s))
	if !s.Complete || len(want) < 10 || len(got) <= len(want) || !slices.Equal(got[len(got)-len(want):], want) {
		t.Errorf("%send: %s\ntraceback:\n%s", render(levels(s)), s.End, running)
	}
}

// crossCore walks qemu's own core, and the one made of what gdb saw.
func crossCore(t *testing.T, dir string) {
	if kindOf(dir) == "go" {
		goTraceback(t, dir)
		return
	}
	out, err := os.ReadFile(filepath.Join(dir, "gdb.out"))
	if err != nil {
		t.Fatal(err)
	}
	want := parseGDB(out)[0]
	if last := len(want) - 1; last >= 0 && want[last] == (level{0, "??"}) { // PowerPC's chain ends in 0
		want = want[:last]
	}
	cpu, _, _ := strings.Cut(filepath.Base(dir), "-")
	if cpu != "riscv64" { // qemu 7.2 writes none
		t.Run("qemu", func(t *testing.T) { crossWalk(t, dir, filepath.Join(dir, "core"), want) })
	}
	switch {
	case cpu == "ppc64", cpu == "mips": // dump.gdb does not know their registers
	case filepath.Base(dir) == "arm-overflow": // gdb 13 dies before it can dump anything
	default:
		t.Run("gdb", func(t *testing.T) { crossWalk(t, dir, makeCore(t, dir), want) })
	}
}

// withoutRules gives symbols that have lost their unwind rules.
type withoutRules struct{ files *sources.Files }

func (s withoutRules) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	f, _ := s.files.Binary(m)
	if f == nil {
		return &walk.Symbols{}
	}
	mod, err := dump.Dump(ctx, &elfx.Image{Main: f}, dump.Options{Inlines: true})
	if err != nil {
		return &walk.Symbols{}
	}
	var text bytes.Buffer
	if err := mod.Write(&text); err != nil {
		return &walk.Symbols{}
	}
	rules := regexp.MustCompile(`(?m)^(STACK CFI|INFO SIGNAL_FRAME) .*\n`)
	return &walk.Symbols{Index: emit.NewIndex(rules.ReplaceAll(text.Bytes(), nil))}
}

// TestBackChain: PowerPC's back chain leads to the same frames as the rules do,
// through leaf functions and signal handlers too.
func backChain(t *testing.T, dirs []string) {
	for _, dir := range dirs {
		switch kindOf(dir) {
		case "overflow": // the instruction that failed would have made the frame
			continue
		case "go": // Go keeps no back chain
			continue
		}
		exe := filepath.Join(dir, "prog")
		want := levels(&walkCore(t, exe, filepath.Join(dir, "core")).Stacks[0])
		got := levels(&walkWith(t, exe, filepath.Join(dir, "core"), func(f *sources.Files) walk.Supplier { return withoutRules{f} }).Stacks[0])
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%swith rules:\n%s", filepath.Base(dir), render(got), render(want))
		}
	}
}

func crossWalk(t *testing.T, dir, core string, want []level) {
	t.Helper()
	res := walkCore(t, filepath.Join(dir, "prog"), core)
	s := &res.Stacks[0]
	got := levels(s)
	name := filepath.Base(dir)
	if crossOdd[name] != "" || strings.HasSuffix(name, "-null") {
		// Ours must go on to the end, and the oracle's be its beginning.
		n := min(len(want)-1, len(got))
		if strings.HasSuffix(name, "-null") {
			n = 1
		}
		got, want = got[:max(n, 0)], want[:max(n, 0)]
		if !s.Complete {
			t.Errorf("stack ends: %s", s.End)
		}
	}
	if crossScanned[name] != "" {
		n := 0
		for _, g := range got {
			if n < len(want) && g.pc == want[n].pc {
				n++
			}
		}
		if n < len(want) || !s.Complete {
			t.Errorf("%send: %s\noracle:\n%s", render(got), s.End, render(want))
		}
		return
	}
	// gdb, stopped at the first instruction of an inlined call, shows the call
	// as still to come.
	for range s.Frames[0].Place.Inlines {
		if len(got) > len(want) && !sameName(got[0].name, want[0].name) {
			got = got[1:]
		}
	}
	ok := len(got) == len(want) && s.Complete
	for i := range min(len(got), len(want)) {
		g, o := got[i], want[i]
		if o.name != "" && !sameName(g.name, o.name) || o.pc != 0 && g.pc != 0 && g.pc != o.pc {
			ok = false
		}
	}
	if !ok {
		t.Errorf("%send: %s\noracle:\n%s", render(levels(s)), s.End, render(want))
	}
}

// sameName: clones and aliases of one function have the name of either.
func sameName(a, b string) bool {
	return strings.HasPrefix(b, "??") || plainName(a) == plainName(b)
}

// plainName is a name without the clone's suffix and without what glibc's and
// the vdso's hidden aliases have before or after it.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ".")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "libc_"), "vdso_")
	return strings.TrimSuffix(name, "_impl")
}

// makeCore writes a core file of dump.txt: one thread, the memory that gdb
// read, and the program's segments without their bytes.
func makeCore(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "dump.txt"))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := elfx.Open(filepath.Join(dir, "prog"))
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	regs, pages := map[string]uint64{}, map[uint64][]byte{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case f[0] == "reg":
			regs[f[1]], _ = strconv.ParseUint(f[2], 16, 64)
		case f[0] == "mem":
			addr, _ := strconv.ParseUint(f[1], 16, 64)
			pages[addr], _ = hex.DecodeString(f[2])
		}
	}
	path := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, buildCore(exe, regs, pages), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
