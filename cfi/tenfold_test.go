package cfi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestTenfold: rules with ten times as much as any file of the corpus has lose nothing. The
// largest numbers are of glibc's signal trampolines. Rules with as much as there can be are
// in TestTooManyRules and TestRefusedExpressions, and those of a program in cmd/dump_syms.
func TestTenfold(t *testing.T) {
	const registers, operands = 10 * 16, 10 * 3
	var src strings.Builder
	for r := range registers {
		fmt.Fprintf(&src, "offset_extended %d %d;", r+17, r)
	}
	b := oneFDE(usualCIE, src.String())
	n := 0
	for f, err := range b.Section.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range f.Rows() {
			if err != nil || len(row.Regs) < registers {
				t.Errorf("%d registers with a rule, %v", len(row.Regs), err)
			}
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d rows", n)
	}

	expr := []byte{exBreg0 + 7, 0}
	for range operands - 1 {
		expr = append(expr, lit(5))
	}
	expr = append(expr, slices.Repeat([]byte{exPlus}, operands-1)...)
	if got, want := compile(&x86_64, exprRule{KindExpr, expr}, true, false), fmt.Sprintf("$rsp %d +", 5*(operands-1)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
