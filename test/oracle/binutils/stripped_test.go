//go:build oracle

package binutils

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// TestOracleStripped dumps programs without debug information: the dynamic
// symbol table names some functions, the relocations of the PLT its entries.
func TestOracleStripped(t *testing.T) {
	for _, in := range slices.Concat(oracle.FromCorpus(t, "bash/bin/bash", ""), oracle.FromCorpus(t, "sqlite3/usr/bin/sqlite3", "")) {
		t.Run(in.Name, func(t *testing.T) { compareStripped(t, &in) })
	}
}

// compareStripped compares the PUBLIC records with the functions that nm lists
// and the PLT entries that objdump names, in both directions.
func compareStripped(t *testing.T, in *oracle.Input) {
	l := oracle.ReadLayout(t, in.Main)
	s := symfile.Parse(t, oracle.Dump(t, in, dump.Options{}))
	if len(s.Funcs) > 0 {
		t.Errorf("%d FUNC records without debug information", len(s.Funcs))
	}

	want := exportedFunctions(t, in.Main, &l)
	exported := len(want)
	for addr, name := range pltEntries(t, in.Main, &l) {
		want[addr] = append(want[addr], name)
	}

	t.Logf("%d PUBLIC records; %d exported functions, %d PLT entries", len(s.Publics), exported, len(want)-exported)
	wrong := oracle.NewDiffs(t, "PUBLIC records for which there is no symbol, or symbols without a record")
	for _, p := range s.Publics {
		name := string(p.Name)
		if name == ".plt" {
			continue // the head of the section, which no symbol names
		}
		if !slices.Contains(want[p.Addr], name) {
			wrong.Add("%#x %s, want one of %v", p.Addr, name, want[p.Addr])
		}
		delete(want, p.Addr)
	}

	for addr, names := range want {
		wrong.Add("%#x: missing %v", addr, names)
	}
	wrong.Report()
}

// exportedFunctions returns the names of the symbols in code that nm lists, by relative
// address.
func exportedFunctions(t *testing.T, path string, l *oracle.Layout) map[uint64][]string {
	t.Helper()
	out := map[uint64][]string{}
	for line := range strings.Lines(output(t, "nm", "-D", "--defined-only", path)) {
		f := strings.Fields(line)
		addr, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil || len(f) != 3 {
			t.Fatalf("nm: %s", line)
		}
		if name, _, _ := strings.Cut(f[2], "@"); strings.Contains("TtWwi", f[1]) && l.Live(addr) {
			out[addr-l.Load] = append(out[addr-l.Load], name)
		}
	}
	return out
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	text, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, args, err)
	}
	return string(text)
}
