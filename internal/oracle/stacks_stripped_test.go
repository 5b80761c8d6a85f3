//go:build oracle

package oracle_test

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/dump"
)

// TestOracleStripped has programs without debug information: the dynamic
// symbol table names some functions, the relocations of the PLT its entries.
func TestOracleStripped(t *testing.T) {
	for _, in := range slices.Concat(fromCorpus(t, "bash/bin/bash", ""), fromCorpus(t, "sqlite3/usr/bin/sqlite3", "")) {
		t.Run(in.name, func(t *testing.T) { compareStripped(t, &in) })
	}
}

// compareStripped compares the PUBLIC records with the functions that nm lists
// and the PLT entries that objdump names, both ways.
func compareStripped(t *testing.T, in *input) {
	l := readLayout(t, in.main)
	s := parseSym(t, dumpText(t, in, dump.Options{}))
	if len(s.funcs) > 0 {
		t.Errorf("%d FUNC records without debug information", len(s.funcs))
	}
	want := exportedFunctions(t, in.main, &l)
	exported := len(want)
	for addr, name := range pltEntries(t, in.main, &l) {
		want[addr] = append(want[addr], name)
	}
	t.Logf("%d PUBLIC records; %d exported functions, %d PLT entries", len(s.publics), exported, len(want)-exported)
	wrong := newDiffs(t, "PUBLIC records for which there is no symbol, or the other way round")
	for _, p := range s.publics {
		name := string(p.Name)
		if name == ".plt" {
			continue // the head of the section, which no symbol names
		}
		if !slices.Contains(want[p.Addr], name) {
			wrong.add("%#x %s, want one of %v", p.Addr, name, want[p.Addr])
		}
		delete(want, p.Addr)
	}
	for addr, names := range want {
		wrong.add("%#x: missing %v", addr, names)
	}
	wrong.report()
}

// exportedFunctions are the names, by relative address, of what nm lists in code.
func exportedFunctions(t *testing.T, path string, l *layout) map[uint64][]string {
	t.Helper()
	out := map[uint64][]string{}
	for line := range strings.Lines(output(t, "nm", "-D", "--defined-only", path)) {
		f := strings.Fields(line)
		addr, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil || len(f) != 3 {
			t.Fatalf("nm: %s", line)
		}
		if name, _, _ := strings.Cut(f[2], "@"); strings.Contains("TtWwi", f[1]) && l.live(addr) {
			out[addr-l.load] = append(out[addr-l.load], name)
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
