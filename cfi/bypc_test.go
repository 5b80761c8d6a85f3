package cfi

import (
	"debug/elf"
	"fmt"
	"slices"
	"testing"
)

// Operations on the PC that postfix has not: the row is written by stretches.
func TestByPC(t *testing.T) {
	const pc, rsp = exBreg0 + 16, exBreg0 + 7
	low := []byte{pc, 0, lit(15), exAnd} // $rip & 15
	at := func(tail ...byte) string { return fmt.Sprintf("def_cfa_expression %x", append(low[:4:4], tail...)) }
	for _, c := range []struct {
		name, insns string
		want        []string
	}{
		{"xor", at(lit(8), exXor, lit(11), exGe, rsp, 8, exPlus) + "; advance_loc 32; def_cfa 7 8", []string{
			"INIT 1000 3 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"INIT 1003 5 .cfa: $rsp 9 + .ra: .cfa -8 + ^",
			"INIT 1008 b .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"INIT 1013 5 .cfa: $rsp 9 + .ra: .cfa -8 + ^",
			"INIT 1018 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"INIT 1020 e0 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		}},
		{"bra", at(lit(8), exGe, exBra, 5, 0, rsp, 8, exSkip, 2, 0, rsp, 16) + "; advance_loc 16; def_cfa 7 8", []string{
			"INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"INIT 1008 8 .cfa: $rsp 16 + .ra: .cfa -8 + ^",
			"INIT 1010 f0 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		}},
		{"a register", fmt.Sprintf("advance_loc 4; val_expression 3 %x; advance_loc 4; same_value 3", append(low[:4:4], lit(6), exXor, rsp, 0, exPlus)), []string{
			"INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"INIT 1004 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rsp 2 +",
			"INIT 1005 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rsp 3 +",
			"INIT 1006 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rsp",
			"INIT 1007 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rsp 1 +",
			"INIT 1008 f8 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rbx",
		}},
		{"one that holds at some PCs only", at(exBra, 1, 0, 0xff, rsp, 8) + "; advance_loc 18; def_cfa 7 8", []string{
			"INIT 1001 f .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"INIT 1011 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
			"INIT 1012 ee .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := rowsText(&x86_64, elf.EM_X86_64, 16, usualCIE, c.insns)
			wantLines(t, got, c.want...)
		})
	}
}

// A rule that depends on the module's load address cannot be expressed, nor one that takes
// more work than ByPC allows.
func TestByPCRefused(t *testing.T) {
	const pc, rsp = exBreg0 + 16, exBreg0 + 7
	absolute := fmt.Sprintf("def_cfa_expression %x", []byte{pc, 0, exConst4u, 8, 0x10, 0, 0, exGe, rsp, 8, exPlus})
	long := fmt.Sprintf("def_cfa_expression %x", slices.Concat([]byte{pc, 0, lit(15), exAnd, lit(1), exXor, rsp, 8, exPlus}, slices.Repeat([]byte{exNop}, maxByPCExpr)))
	for name, insns := range map[string]string{"absolute": absolute, "long": long} {
		got, stats := rowsText(&x86_64, elf.EM_X86_64, 16, usualCIE, insns)
		if len(got) != 0 || name == "absolute" && stats[cfaInexpressible] != 1 {
			t.Errorf("%s: %q, %v", name, got, stats)
		}
	}
	b := oneFDE(usualCIE, fmt.Sprintf("def_cfa_expression %x", []byte{pc, 0, lit(15), exAnd, lit(1), exXor, rsp, 8, exPlus}))
	text := NewText(&x86_64)
	text.ByPC = 1000 // 256 PCs, of 40 bytes each
	for f := range b.FDEs() {
		for row := range f.Rows() {
			text.Add(row)
		}
	}
	if text.Len() != 0 || text.ByPC != 0 || text.Stats != (Stats{cfaInexpressible: 1}) || len(text.buf) != 0 {
		t.Errorf("%d records, %d left, %v", text.Len(), text.ByPC, text.Stats)
	}
}
