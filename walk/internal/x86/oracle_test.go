//go:build oracle

package x86

import (
	"bufio"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symkit/cfi"
)

// TestOracleInsn: on every instruction of a C library, whether it accesses
// memory and, relative to the program counter, where, is what objdump prints.
func TestOracleInsn(t *testing.T) {
	libs, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_CORPUS"), "libc6", "lib", "x86_64-linux-gnu", "libc.so.6"))
	if err != nil || len(libs) == 0 {
		t.Fatalf("no libc6 in the corpus: run scripts/corpus.sh small, and set SYMKIT_CORPUS (%v)", err)
	}
	cmd := exec.Command("objdump", "-d", "-w", libs[0])
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var (
		line     = regexp.MustCompile(`^ +([0-9a-f]+):\t([0-9a-f ]+)\t(.*)$`)
		relative = regexp.MustCompile(`\(%rip\).*# ([0-9a-f]+)`)
		compared = 0
		wrong    = 0
	)
	for s := bufio.NewScanner(out); s.Scan(); {
		m := line.FindStringSubmatch(s.Text())
		if m == nil || strings.Contains(m[3], "(bad)") {
			continue
		}
		addr, _ := strconv.ParseUint(m[1], 16, 64)
		code, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		r := map[cfi.Reg]uint64{}
		for _, reg := range DWARF64 {
			r[reg] = 0x1000
		}
		in, ok := analyze(memoryMap{addr: code}, addr, r)
		compared++
		if !agrees(m[2], m[3], relative.FindStringSubmatch(m[3]), in, ok) {
			if wrong++; wrong < 30 {
				t.Errorf("%s: %s: %v, %s", m[2], m[3], ok, showInsn(in))
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d instructions, %d differ", compared, wrong)
	if compared < 100000 {
		t.Error("few instructions")
	}
}

// notAccessed begins what has an operand in memory and leaves it alone, or what
// is not decoded: prefetches, nops, lea, segments, VEX gathers, EVEX.
var notAccessed = regexp.MustCompile(`^(lea|nop|prefetch|cldemote|endbr|bnd|v?p?gather|xbegin)|%[fg]s:|\{%k|%zmm|nop[wl]|data16|cs `)

// implicit begins what accesses memory without an operand that says so.
var implicit = regexp.MustCompile(`^(rep\w* |repn?z |lock |notrack |bnd )*(push|pop|call|ret|leave|movs[bwlq]|cmps|stos|lods|scas)`)

// inMemory is an operand in memory: counted from registers, or an address alone.
var inMemory = regexp.MustCompile(`\(,?%|[ ,*]0x[0-9a-f]+(,|$)`)

// agrees reports whether what is known of an instruction fits its text.
func agrees(code, text string, relative []string, in Effect, ok bool) bool {
	if notAccessed.MatchString(text) {
		return true
	}
	if !ok {
		return strings.HasPrefix(code, "62 ") // EVEX, whose displacements of one byte are scaled
	}
	accesses := inMemory.MatchString(text)
	if relative != nil {
		want, _ := strconv.ParseUint(relative[1], 16, 64)
		for _, a := range in.Accesses {
			if a.Addr == want {
				return true
			}
		}
		return false
	}
	return accesses == (len(in.Accesses) > 0) || implicit.MatchString(text)
}
