package cfi_test

import (
	"debug/elf"
	"fmt"

	"symkit/cfi"
)

// A function that pushes its frame pointer: its call frame information, as
// rows and as the rules of STACK CFI records.
func Example() {
	section := cfi.Section{
		Kind: cfi.DebugFrame, AddrSize: 8, Machine: elf.EM_X86_64,
		Data: []byte{
			14, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, // a CIE
			1, 0, 1, 0x78, 16, // version, augmentation, factors, column
			0x0c, 7, 8, 0x90, 1, // def_cfa rsp+8; offset rip cfa-8
			26, 0, 0, 0, 0, 0, 0, 0, // an FDE of the CIE at 0
			0, 0x10, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0,
			0x41, 0x0e, 16, 0x86, 2, 0, // advance 1; def_cfa_offset 16; offset rbp cfa-16
		},
	}
	text := cfi.NewText(cfi.ArchOf(elf.EM_X86_64, elf.ELFCLASS64))
	for fde, err := range section.FDEs() {
		if err != nil {
			fmt.Println(err)
			continue
		}
		text.Begin(fde.CIE.RA)
		for row, err := range fde.Rows() {
			if err != nil {
				fmt.Println(err)
				break
			}
			fmt.Printf("%#x: CFA is r%d%+d\n", row.Begin, row.CFA.Reg, row.CFA.Off)
			text.Add(row)
		}
	}
	for i := range text.Len() {
		r := text.Record(i)
		fmt.Printf("%x %x %s\n", r.Addr, r.Size, r.Rules)
	}
	// Output:
	// 0x1000: CFA is r7+8
	// 0x1001: CFA is r7+16
	// 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
	// 1001 0 .cfa: $rsp 16 + $rbp: .cfa -16 + ^
}
