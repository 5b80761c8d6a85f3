//go:build oracle

// Package binutils compares PUBLIC records with what nm and objdump print.
package binutils

import (
	"bytes"
	"debug/elf"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// pltLabel is the first line of an entry of a procedure linkage table in objdump's output:
// "0000000000401030 <puts@plt>:".
var pltLabel = regexp.MustCompile(`(?m)^([0-9a-f]+) <(.+)@plt>:$`)

// pltEntries returns the names that objdump finds, from relocations too, by relative
// address.
func pltEntries(t *testing.T, path string, l *oracle.Layout) map[uint64]string {
	t.Helper()
	args := []string{"--disassemble", "--no-show-raw-insn"}
	for _, section := range []string{".plt", ".plt.sec", ".plt.got", ".iplt"} {
		args = append(args, "--section="+section)
	}

	// objdump fails for a file that has none of these sections.
	out, err := exec.Command("objdump", append(args, path)...).CombinedOutput()
	if err != nil && !bytes.Contains(out, []byte("but not found in any input file")) {
		t.Fatalf("objdump: %v: %s", err, out)
	}

	entries := map[uint64]string{}
	for _, m := range pltLabel.FindAllSubmatch(out, -1) {
		addr, err := strconv.ParseUint(string(m[1]), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		entries[addr-l.Load] = demangle.Filter(string(m[2])) + "@plt"
	}
	return entries
}

// TestOraclePLT compares the names of PLT entries.
func TestOraclePLT(t *testing.T) {
	inputs := slices.Concat(
		oracle.FromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
		oracle.FromCorpus(t, "valgrind/usr/libexec/valgrind/vgpreload_memcheck-*-linux.so", "valgrind-dbg"),
		slices.DeleteFunc(oracle.Fixtures(t), func(in oracle.Input) bool { return !strings.HasSuffix(in.Name, ".so") }),
	)
	for i := range inputs {
		in := &inputs[i]
		t.Run(in.Name, func(t *testing.T) { comparePLT(t, in) })
	}
}

func comparePLT(t *testing.T, in *oracle.Input) {
	l := oracle.ReadLayout(t, in.Main)
	want := pltEntries(t, in.Main, &l)
	wrong := oracle.NewDiffs(t, "PLT entries with another name than objdump's")
	n := len(want)
	for _, p := range symfile.Parse(t, oracle.Dump(t, in, dump.Options{})).Publics {
		name := string(p.Name)
		if !strings.HasSuffix(name, "@plt") {
			continue
		}
		if want[p.Addr] != name && !namesResolver(t, in, want[p.Addr], name) {
			wrong.Add("%#x: %q, want %q", p.Addr, name, want[p.Addr])
		}
		delete(want, p.Addr)
	}

	for addr, name := range want {
		wrong.Add("%#x: missing, want %q", addr, name)
	}
	wrong.Report()
	t.Logf("%d PLT entries", n)
}

// namesResolver reports whether the entry that objdump calls *ABS*+0x9f550@plt,
// of an IRELATIVE relocation, has the name of a symbol at that address.
func namesResolver(t *testing.T, in *oracle.Input, want, got string) bool {
	t.Helper()
	digits, ok := strings.CutPrefix(strings.TrimSuffix(want, "@plt"), "*ABS*+0x")
	addr, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return false
	}

	f, err := elf.Open(in.DWARFFile())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		name, _, _ := strings.Cut(s.Name, "@")
		return s.Value == addr && demangle.Filter(name)+"@plt" == got
	})
}
