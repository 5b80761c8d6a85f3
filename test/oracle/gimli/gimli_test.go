//go:build oracle

package gimli

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"symkit/cfi"
	"symkit/test/oracle"
)

// rowValues is a row of an FDE, and the values that scripts/oracles/cfieval computed of
// its rules for each seed's registers and memory. Addresses are those of the file.
type rowValues struct {
	oracle.Span
	expressions []string // "REG:BYTES" each
	vals        []stateValues
}

// stateValues are the values of a row at one PC with one seed.
type stateValues struct {
	pc, seed uint64
	cfa      uint64
	failed   bool // the CFA's expression failed; regs is empty then
	regs     []regValue
}

// regValue is the value of a register that a row has a rule for.
type regValue struct {
	reg       cfi.Reg
	undefined bool
	failed    bool // its expression failed
	value     uint64
}

// fdeRange is an FDE.
type fdeRange struct {
	oracle.Span
	offset uint64
	ra     cfi.Reg
}

// buildCFIEval builds the program that evaluates call frame information with
// gimli, and returns its path.
var buildCFIEval = sync.OnceValues(func() (string, error) {
	const dir = "../../../scripts/oracles/cfieval"
	build := exec.Command("cargo", "build", "--release", "--locked", "--message-format=json-render-diagnostics",
		"--manifest-path", dir+"/Cargo.toml")
	var stderr bytes.Buffer
	build.Stderr = &stderr
	out, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("cargo: %w: %s", err, stderr.String())
	}
	const key = `"executable":"`
	_, path, ok := strings.Cut(string(out), key)
	path, _, _ = strings.Cut(path, `"`)
	if !ok || path == "" {
		return "", fmt.Errorf("cargo names no executable: %s", out)
	}
	return path, nil
})

// reader calls fde and row with what cfieval prints of a section, by address.
type reader struct {
	t   *testing.T
	fde func(*fdeRange)
	row func(*rowValues) // the row is reused

	cur  rowValues
	open bool
}

func (g *reader) read(path, section string, seeds int) {
	g.t.Helper()
	program, err := buildCFIEval()
	if err != nil {
		g.t.Fatal(err)
	}

	cmd := exec.Command(program, section, strconv.Itoa(seeds), path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.t.Fatal(err)
	}

	sc := bufio.NewScanner(pipe)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		g.line(strings.Fields(sc.Text()))
	}

	g.closeRow()
	if err := sc.Err(); err != nil {
		g.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		g.t.Fatalf("cfieval %s %s: %v: %s", section, path, err, stderr.String())
	}
}

func (g *reader) line(f []string) {
	switch f[0] {
	case "fde":
		g.closeRow()
		g.fde(&fdeRange{oracle.Span{Lo: g.hex(f[2]), Hi: g.hex(f[3])}, g.hex(f[1]), g.reg(f[4])})
	case "row":
		g.closeRow()
		g.open = true
		g.cur.Span = oracle.Span{Lo: g.hex(f[1]), Hi: g.hex(f[2])}
		g.cur.expressions = slices.Clone(f[3:])
		g.cur.vals = g.cur.vals[:0]
	case "val":
		g.val(f)
	default:
		g.t.Fatalf("cfieval: %v", f)
	}
}

func (g *reader) val(f []string) {
	n := len(g.cur.vals)
	if n < cap(g.cur.vals) {
		g.cur.vals = g.cur.vals[:n+1] // with the storage of an earlier row
	} else {
		g.cur.vals = append(g.cur.vals, stateValues{})
	}

	v := &g.cur.vals[n]
	v.pc, v.seed, v.failed, v.regs = g.hex(f[1]), g.hex(f[2]), f[3] == "?", v.regs[:0]
	if !v.failed {
		v.cfa = g.hex(f[3])
	}

	for _, pair := range f[4:] {
		name, value, _ := strings.Cut(pair, "=")
		r := regValue{reg: g.reg(name), undefined: value == "undef", failed: value == "?"}
		if !r.undefined && !r.failed {
			r.value = g.hex(value)
		}
		v.regs = append(v.regs, r)
	}
}

func (g *reader) closeRow() {
	if g.open {
		g.row(&g.cur)
	}
	g.open = false
}

func (g *reader) hex(s string) uint64 {
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		g.t.Fatalf("cfieval: %v", err)
	}
	return v
}

func (g *reader) reg(s string) cfi.Reg {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		g.t.Fatalf("cfieval: %v", err)
	}
	return cfi.Reg(v)
}
