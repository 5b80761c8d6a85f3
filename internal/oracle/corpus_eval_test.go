//go:build oracle

package oracle_test

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// These tests evaluate every rule of STACK CFI, and by other code the DWARF it
// comes from, on random registers and memory. They need cargo with Rust 1.88 or
// later, which fetches gimli.

func TestCorpusEvalDebian(t *testing.T) {
	inputs := slices.Concat(
		fromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", ""),
		fromCorpus(t, "libc6/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", ""),
		fromCorpus(t, "libstdc++6/usr/lib/x86_64-linux-gnu/libstdc++.so.6.*.*", ""),
		fromCorpus(t, "libssl3/usr/lib/x86_64-linux-gnu/libcrypto.so.3", ""),
		fromCorpus(t, "libnode108/usr/lib/x86_64-linux-gnu/libnode.so.108", ""),
		fromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		fromCorpus(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*", ""),
		[]input{{name: "vdso of this machine", main: vdsoFile(t)}},
	)
	if node, err := exec.LookPath("node"); err == nil {
		inputs = append(inputs, input{name: "node, as installed", main: node})
	}
	evalAll(t, inputs)
}

func TestCorpusEvalFixtures(t *testing.T) { evalAll(t, fixtures(t)) }

// TestCorpusEvalDefects has the programs that show where Breakpad and Mozilla
// fail.
func TestCorpusEvalDefects(t *testing.T) {
	evalAll(t, defects(t))
}

// evalTarget is a machine to compile programs for.
type evalTarget struct {
	triplet  string
	variants map[string]string // further options, by name
	input    string            // of the compiler, instead of evalProgram
}

var evalTargets = []evalTarget{
	{triplet: "x86_64-linux-gnu", variants: map[string]string{
		"drap":    "-mavx2",
		"lazy":    "-Wl,-z,lazy -fcf-protection=none",
		"ibtplt":  "-Wl,-z,ibtplt -Wl,-z,lazy -fcf-protection",
		"ibtnow":  "-Wl,-z,ibtplt -Wl,-z,now -fcf-protection",
		"realign": "-mpreferred-stack-boundary=6 -mstackrealign",
	}},
	{triplet: "i686-linux-gnu", variants: map[string]string{
		"drap":   "-mavx2 -mstackrealign",
		"lazy":   "-Wl,-z,lazy -fcf-protection=none -no-pie",
		"pic":    "-Wl,-z,lazy -fPIC -fcf-protection=none",
		"ibtplt": "-Wl,-z,ibtplt -Wl,-z,lazy -fcf-protection",
	}},
	{triplet: "aarch64-linux-gnu", variants: map[string]string{
		"pac":  "-mbranch-protection=standard",
		"leaf": "-mbranch-protection=pac-ret+leaf+b-key",
		"sve":  "-march=armv8.2-a+sve -O3",
	}},
	{triplet: "arm-linux-gnueabihf", variants: map[string]string{"arm": "-marm"}},
	{triplet: "riscv64-linux-gnu"},
	{triplet: "s390x-linux-gnu", variants: map[string]string{"z15": "-march=z15"}},
	{triplet: "powerpc64le-linux-gnu"},
	{triplet: "mips-linux-gnu", variants: map[string]string{"lazy": "-Wl,-z,lazy"}},
}

// TestCorpusEvalTargets has the run-time libraries of the cross compilers, and
// programs compiled with them.
func TestCorpusEvalTargets(t *testing.T) {
	var inputs []input
	for _, target := range evalTargets {
		inputs = append(inputs, target.inputs(t)...)
	}
	evalAll(t, inputs)
}

func (e *evalTarget) inputs(t *testing.T) (inputs []input) {
	t.Helper()
	dir := t.TempDir()
	add := func(name, path string) {
		inputs = append(inputs, input{name: e.triplet[:strings.Index(e.triplet, "-")] + " " + name, main: path})
	}
	variants := map[string]string{"O2": "", "O0": "-O0", "static": "-static"}
	for name, options := range e.variants {
		variants[name] = options
	}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		out := filepath.Join(dir, name)
		e.run(t, "gcc", append(strings.Fields("-w -g -O2 ../../testdata/src/lang.c -x c -D_GNU_SOURCE - -o "+out), strings.Fields(variants[name])...)...)
		add(name, out)
	}
	out := filepath.Join(dir, "cxx")
	e.run(t, "g++", "-w", "-g", "-O2", "../../testdata/src/cxx.cc", "../../testdata/src/other.cc", "-x", "c++", "-D_GNU_SOURCE", "-", "-o", out)
	add("cxx", out)
	for _, lib := range []string{"libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", filepath.Base(interpreter(t, out))} {
		path := strings.TrimSpace(e.run(t, "gcc", "-print-file-name="+lib))
		if !filepath.IsAbs(path) {
			t.Fatalf("%s has no %s", e.triplet, lib)
		}
		add(lib, path)
	}
	return inputs
}

// run runs a compiler of the target.
func (e *evalTarget) run(t *testing.T, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(e.triplet+"-"+tool, args...)
	cmd.Stdin = strings.NewReader(cmp.Or(e.input, evalProgram))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, stderr.String())
	}
	return string(out)
}

// evalProgram is linked to each program: it makes the linker write a PLT and,
// where that is static, take in signal handling, threads and clone.
const evalProgram = `
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C"
#endif
int run(int argument);
static void handler(int signal) { write(1, "x", signal != 0); }
static void *thread(void *argument) { return strdup((char *)argument); }
int main(int argc, char **argv) {
	pthread_t id;
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, 0);
	pthread_create(&id, 0, thread, argv[0]);
	pthread_join(id, 0);
	return printf("%d\n", run(argc)) + atoi(argv[0]);
}
`

// interpreter is the dynamic linker that a program asks for.
func interpreter(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".interp")
	if s == nil {
		t.Fatalf("%s has no .interp", path)
	}
	name, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(name), "\x00")
}

// vdso returns the kernel's vDSO, as it is mapped into this process.
func vdso(t *testing.T) []byte {
	t.Helper()
	mappings, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var lo, hi int64
	for line := range strings.Lines(string(mappings)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			fmt.Sscanf(line, "%x-%x", &lo, &hi)
		}
	}

	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	data, err := io.ReadAll(io.NewSectionReader(mem, lo, hi-lo))
	if err != nil || len(data) == 0 {
		t.Fatalf("vDSO at %#x–%#x: %d bytes, %v", lo, hi, len(data), err)
	}
	return data
}

// vdsoFile writes the vDSO to a file.
func vdsoFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "linux-vdso.so.1")
	if err := os.WriteFile(path, vdso(t), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// evalAll compares each input with gimli, and prints the figures.
func evalAll(t *testing.T, inputs []input) {
	var table strings.Builder
	fmt.Fprintln(&table, evalHead)
	for i := range inputs {
		in := &inputs[i]
		t.Run(in.name, func(t *testing.T) {
			fmt.Fprintf(&table, "%-36s %s\n", in.name, checkValues(t, in))
		})
	}
	t.Logf("compared:\n%s", table.String())
}
