//go:build oracle

package gimli

import (
	"cmp"
	"debug/elf"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/test/oracle"
)

// target is a machine to compile programs for.
type target struct {
	triplet  string
	variants map[string]string // further options, by name
	input    string            // of the compiler, instead of program
}

var targets = []target{
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

func (e *target) inputs(t *testing.T) (inputs []oracle.Input) {
	t.Helper()
	dir := t.TempDir()
	add := func(name, path string) {
		inputs = append(inputs, oracle.Input{Name: e.triplet[:strings.Index(e.triplet, "-")] + " " + name, Main: path})
	}
	variants := map[string]string{"O2": "", "O0": "-O0", "static": "-static"}
	for name, options := range e.variants {
		variants[name] = options
	}

	for _, name := range slices.Sorted(maps.Keys(variants)) {
		out := filepath.Join(dir, name)
		e.run(t, "gcc", append(strings.Fields("-w -g -O2 ../../../testdata/src/lang.c -x c -D_GNU_SOURCE - -o "+out), strings.Fields(variants[name])...)...)
		add(name, out)
	}

	out := filepath.Join(dir, "cxx")
	e.run(t, "g++", "-w", "-g", "-O2", "../../../testdata/src/cxx.cc", "../../../testdata/src/other.cc", "-x", "c++", "-D_GNU_SOURCE", "-", "-o", out)
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
func (e *target) run(t *testing.T, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(e.triplet+"-"+tool, args...)
	cmd.Stdin = strings.NewReader(cmp.Or(e.input, program))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, stderr.String())
	}
	return string(out)
}

// program is the main function of each program that is built. It makes the linker
// write a PLT and, in static programs, link signal handling, threads and clone.
const program = `
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

// interpreter returns the dynamic linker that a program asks for.
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
