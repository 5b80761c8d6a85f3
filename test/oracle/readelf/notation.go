//go:build oracle

package readelf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"symkit/cfi"
)

var (
	exprSum  = regexp.MustCompile(`^(\S+) (-?\d+) \+$`)
	exprLoad = regexp.MustCompile(`^\.cfa (-?\d+) \+ \^$`)
	exprReg  = regexp.MustCompile(`^[$a-z][a-z0-9.]*$`)
	exprNum  = regexp.MustCompile(`^\d+$`)
)

// ourCFA returns our rule for the CFA in readelf's notation, such as "$rsp+8".
func (w *sweep) ourCFA() string {
	if m := exprSum.FindStringSubmatch(w.rules[".cfa"]); m != nil {
		return m[1] + signed(m[2])
	}
	// A register alone is the CFA without an offset.
	if rule := w.rules[".cfa"]; exprReg.MatchString(rule) {
		return rule + "+0"
	}
	return w.rules[".cfa"]
}

// ourRule returns our rule for a register in readelf's notation, with our names of
// registers.
func (w *sweep) ourRule(reg string) string {
	rule, ok := w.rules[reg]
	// readelf has a notation of its own for sums, and for loads from the CFA plus an offset.
	sum, load := exprSum.FindStringSubmatch(rule), exprLoad.FindStringSubmatch(rule)
	switch {
	case !ok || rule == ".undef":
		return "u"
	case reg == ".ra" && exprNum.MatchString(rule):
		if n, _ := strconv.Atoi(rule); n > 0 && n < 4096 {
			return "u" // the text for an undefined return address
		}
	case rule == reg:
		return "s"
	case load != nil:
		return "c" + signed(load[1])
	case rule == ".cfa ^":
		return "c+0"
	case rule == ".cfa":
		return "v+0"
	case sum != nil && sum[1] == ".cfa":
		return "v" + signed(sum[2])
	}
	return rule
}

// signed returns a number with its sign.
func signed(n string) string {
	if n[0] == '-' {
		return n
	}
	return "+" + n
}

var (
	namedSum = regexp.MustCompile(`^([a-z][a-z0-9]*)([+-]\d+)$`)
	numbered = regexp.MustCompile(`^r(\d+)$`)
)

// registerIn returns readelf's CFA ("rsp+8") or rule ("r1", a DWARF number) with our name of
// the register.
func (w *sweep) registerIn(rule string) string {
	if m := namedSum.FindStringSubmatch(rule); m != nil && m[1] != "c" && m[1] != "v" {
		return w.ourName(m[1]) + m[2]
	}
	if m := numbered.FindStringSubmatch(rule); m != nil {
		return w.numberedName(m[1])
	}
	return rule
}

// ourName returns the name in symbol files of a register that readelf names in a CFA or at
// the head of a column. The name is empty if symbol files have none. readelf has names for
// x86, arm64, s390x and RISC-V, and DWARF numbers for the others. (Tests of package cfi
// check which name belongs to which number.)
func (w *sweep) ourName(name string) string {
	switch w.arch.Name {
	case "x86", "x86_64":
		name = "$" + name
	case "riscv", "riscv64":
		if i := slices.Index(riscvFloats, name); i >= 0 {
			name = fmt.Sprintf("f%d", i)
		}
	case "arm64", "s390", "s390x":
	default:
		if m := numbered.FindStringSubmatch(name); m != nil {
			return w.numberedName(m[1])
		}
	}

	if _, ok := w.arch.Reg(name); !ok {
		return ""
	}
	return name
}

// numberedName returns our name of the register with a DWARF number.
func (w *sweep) numberedName(digits string) string {
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return ""
	}
	return w.arch.RegName(cfi.Reg(n))
}

// riscvFloats are the ABI's names of f0 to f31.
var riscvFloats = strings.Fields("ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7" +
	" fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11")
