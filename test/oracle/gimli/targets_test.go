//go:build oracle

// Package gimli evaluates every rule of STACK CFI on random registers and memory, and
// compares the values with those that gimli computes of the call frame information.
// Its tests need cargo with Rust 1.88 or later, which fetches gimli.
package gimli

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"symkit/test/oracle"
)

func TestCorpusEvalDebian(t *testing.T) {
	inputs := slices.Concat(
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", ""),
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", ""),
		oracle.FromCorpus(t, "libstdc++6/usr/lib/x86_64-linux-gnu/libstdc++.so.6.*.*", ""),
		oracle.FromCorpus(t, "libssl3/usr/lib/x86_64-linux-gnu/libcrypto.so.3", ""),
		oracle.FromCorpus(t, "libnode108/usr/lib/x86_64-linux-gnu/libnode.so.108", ""),
		oracle.FromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		oracle.FromCorpus(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*", ""),
		[]oracle.Input{{Name: "vdso of this machine", Main: oracle.VDSOFile(t)}},
	)
	if node, err := exec.LookPath("node"); err == nil {
		inputs = append(inputs, oracle.Input{Name: "node, as installed", Main: node})
	}

	evalAll(t, inputs)
}

func TestCorpusEvalFixtures(t *testing.T) { evalAll(t, oracle.Fixtures(t)) }

// TestCorpusEvalDefects has the programs on which Breakpad and Mozilla fail.
func TestCorpusEvalDefects(t *testing.T) {
	evalAll(t, oracle.Defects(t))
}

// TestCorpusEvalTargets has the run-time libraries of the cross compilers, and
// programs compiled with them.
func TestCorpusEvalTargets(t *testing.T) {
	var inputs []oracle.Input
	for _, target := range targets {
		inputs = append(inputs, target.inputs(t)...)
	}
	evalAll(t, inputs)
}

// evalAll compares each input with gimli, and prints the figures.
func evalAll(t *testing.T, inputs []oracle.Input) {
	var table strings.Builder
	fmt.Fprintln(&table, tableHead)
	for i := range inputs {
		in := &inputs[i]
		t.Run(in.Name, func(t *testing.T) {
			fmt.Fprintf(&table, "%-36s %s\n", in.Name, compareValues(t, in))
		})
	}
	t.Logf("compared:\n%s", table.String())
}
