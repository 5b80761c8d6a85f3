//go:build oracle

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
)

// noTables is a machine that the programs of tables.c and generated.c are built
// for, with frame pointers and without unwind tables.
type noTables struct {
	name, cc string
	flags    []string
	qemu     string // empty: the machine runs here, and gdb writes the cores
	sysroot  string
}

// farApart are clang's flags for pages of 64 KiB.
var farApart = []string{"-fuse-ld=lld", "-Wl,-z,max-page-size=65536", "-momit-leaf-frame-pointer"}

var noTablesMachines = []noTables{
	{"x86_64-gcc", "gcc", []string{"-momit-leaf-frame-pointer"}, "", ""},
	{"x86_64-clang", "clang", []string{"-momit-leaf-frame-pointer"}, "", ""},
	{"aarch64", "aarch64-linux-gnu-gcc", []string{"-momit-leaf-frame-pointer"}, "qemu-aarch64", "/usr/aarch64-linux-gnu"},
	{"aarch64-pac", "aarch64-linux-gnu-gcc", []string{"-momit-leaf-frame-pointer", "-mbranch-protection=standard"}, "qemu-aarch64", "/usr/aarch64-linux-gnu"},
	// Segments that lie apart.
	{"x86_64-64k", "clang", farApart, "", ""},
	{"aarch64-64k", "clang", append([]string{"--target=aarch64-linux-gnu"}, farApart...), "qemu-aarch64", "/usr/aarch64-linux-gnu"},
	{"arm-64k", "clang", append([]string{"--target=arm-linux-gnueabihf", "-marm"}, farApart...), "qemu-arm", "/usr/arm-linux-gnueabihf"},
	{"thumb", "arm-linux-gnueabihf-gcc", []string{"-mthumb"}, "qemu-arm", "/usr/arm-linux-gnueabihf"},
	{"arm", "arm-linux-gnueabihf-gcc", []string{"-marm"}, "qemu-arm", "/usr/arm-linux-gnueabihf"},
}

// gdbLost are the machines on which gdb 13 does not walk these programs, and why.
var gdbLost = map[string]string{
	"aarch64-pac": "qemu does not tell gdb of pointer authentication",
	"aarch64-64k": "gdb reads clang's prologues wrong, and shows one frame for ever",
	"arm-64k":     "the same",
}

// TestOracleNoTables: the chain of functions that each program dies in, from its
// source, and where gdb walks it, gdb's frames.
func TestOracleNoTables(t *testing.T) {
	for _, m := range noTablesMachines {
		t.Run(m.name, func(t *testing.T) {
			dir := m.build(t)
			for _, test := range []struct {
				how, want string
				gdb       bool // gdb walks it, too
			}{
				{"qsort", "die big cmp * main * _start", true},
				{"library", "die big check each twice main * _start", false},
				{"callback", "leaf each twice main * _start", false},
				{"strlen", "* length main * _start", false},
				{"alloca", "die big grow main * _start", true},
				{"large", "die big large main * _start", true},
				{"switch", "die big choose main * _start", false},
				{"tail", "die big passed * main * _start", true},
			} {
				s := m.crash(t, dir, "prog", test.how)
				if !s.Complete || !chainIs(levels(s), strings.Fields(test.want)) {
					t.Errorf("%s: want %s:\n%send: %s", test.how, test.want, render(levels(s)), s.End)
				}
				if !test.gdb || gdbLost[m.name] != "" {
					continue
				}
				want := m.gdb(t, dir, test.how)
				if got := pcs(levels(s)); !slices.Equal(got, pcs(want)[:min(len(got), len(pcs(want)))]) || len(want) < 5 {
					t.Errorf("%s:\n%sgdb:\n%s", test.how, render(levels(s)), render(want))
				}
			}
		})
	}
}

// TestOracleGenerated: frames of code in anonymous memory, which pushes return
// addresses and jumps.
func TestOracleGenerated(t *testing.T) {
	for _, m := range noTablesMachines {
		if m.name == "thumb" {
			continue // gcc's frame pointer is no record there
		}
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			args := append(slices.Clone(m.flags), "-O1", "-fno-omit-frame-pointer", "-z", "noexecstack", sourceTree(t, "generated.c"), "-o", "prog")
			compile(t, dir, m.cc, args...)
			s := m.crash(t, dir, "prog", "")
			want := "die method method method method stub run main * _start"
			if !s.Complete || !chainIs(levels(s), strings.Fields(want)) {
				t.Errorf("want %s:\n%send: %s", want, render(levels(s)), s.End)
			}
		})
	}
}

func sourceTree(t *testing.T, name string) string {
	path, err := filepath.Abs("../../walk/testdata/src/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func compile(t *testing.T, dir, cc string, args ...string) {
	t.Helper()
	cmd := exec.Command(cc, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", cc, args, err, out)
	}
}

// build makes tables.c and its library in a directory of their own, below that
// of the machine's libraries.
func (m *noTables) build(t *testing.T) string {
	dir, src := t.TempDir(), sourceTree(t, "tables.c")
	no := []string{"-fno-asynchronous-unwind-tables", "-fno-unwind-tables"}
	args := slices.Concat(m.flags, no, []string{"-O2", "-fomit-frame-pointer", "-fPIC", "-shared", "-DLIBRARY", src, "-o", "libtables.so"})
	compile(t, dir, m.cc, slices.DeleteFunc(args, func(a string) bool { return a == "-momit-leaf-frame-pointer" })...)
	args = slices.Concat(m.flags, no, []string{"-O1", "-fno-builtin", "-fno-omit-frame-pointer", "-foptimize-sibling-calls", src, "-o", "prog", "-L.", "-ltables", "-Wl,-rpath," + dir})
	compile(t, dir, m.cc, args...)
	return dir
}

// crash runs a program and walks the core of its crash.
func (m *noTables) crash(t *testing.T, dir, prog, how string) *walk.Stack {
	t.Helper()
	os.Remove(filepath.Join(dir, "core"))
	script := "ulimit -c unlimited; " + m.qemu + " -L " + m.sysroot + " ./" + prog + " " + how + "; rm -f core; mv qemu_*.core core"
	if m.qemu == "" {
		script = "gdb -batch -nx -iex 'set debuginfod enabled off' -ex run -ex 'generate-core-file core' -ex kill --args ./" + prog + " " + how
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	files := &sources.Files{Exe: filepath.Join(dir, prog)}
	if m.sysroot != "" {
		files.Search.Sysroots = []string{m.root(t, dir)}
	}
	t.Cleanup(func() { files.Close() })
	core, err := corefile.Open(filepath.Join(dir, "core"), corefile.Options{Files: files})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { core.Close() })
	opt := walk.Options{}
	if data, err := os.ReadFile(filepath.Join(dir, "perf.map")); err == nil {
		opt.Generated = &walk.Generated{}
		if err := opt.Generated.Add(data); err != nil {
			t.Fatal(err)
		}
	}
	res, err := walk.Walk(t.Context(), core.Process, &elfsyms.Supplier{Files: files}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return &res.Stacks[0]
}

// root is a directory that has the machine's libraries, and dir, at the paths
// that qemu's process knows them by.
func (m *noTables) root(t *testing.T, dir string) string {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(dir)), 0o777); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"lib": m.sysroot + "/lib", "usr": m.sysroot, dir: dir} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// gdb is the frames that gdb shows of the same crash: of the core, or of the
// process in qemu, whose cores it cannot read.
func (m *noTables) gdb(t *testing.T, dir, how string) []level {
	t.Helper()
	args := []string{"-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "set print frame-arguments none", "-ex", "set backtrace past-main on"}
	prog, name := filepath.Join(dir, "prog"), "gdb"
	if m.qemu == "" {
		args = append(args, "-ex", "bt", prog, filepath.Join(dir, "core"))
	} else {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		socket := filepath.Join(t.TempDir(), "gdb")
		cmd := exec.CommandContext(ctx, m.qemu, "-L", m.sysroot, "-g", socket, prog, how)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		for ctx.Err() == nil {
			if _, err := os.Stat(socket); err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		name, args = "gdb-multiarch", append(args, "-ex", "set sysroot "+m.sysroot, "-ex", "file "+prog, "-ex", "target remote "+socket,
			"-ex", "continue", "-ex", "bt", "-ex", "kill")
	}
	var out []level
	for line := range strings.Lines(string(tool(t, name, args...))) {
		if f := gdbFrame.FindStringSubmatch(strings.TrimSpace(line)); f != nil {
			var pc uint64
			fmt.Sscanf(f[1], "%x", &pc)
			out = append(out, level{pc, baseName(f[2])})
		}
	}
	if m.qemu == "" && len(out) > 0 {
		out = out[1:] // the frame that gdb shows when it opens the core
	}
	return out
}

// chainIs compares names; a star stands for any frames.
func chainIs(got []level, want []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "*" {
		for i := range len(got) + 1 {
			if chainIs(got[i:], want[1:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && strings.TrimLeft(got[0].name, "_") == strings.TrimLeft(want[0], "_") && chainIs(got[1:], want[1:])
}
