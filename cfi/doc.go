// Package cfi reads DWARF call frame information (.eh_frame, .debug_frame) into rows,
// which say how to find the caller of a frame, and writes rows as the rules of Breakpad's
// STACK CFI records. The package also reads the exception index table of 32-bit ARM
// (Exidx). It takes bytes and returns values, and opens no files.
//
// A Section yields its FDEs, an FDE yields its Rows, and a Text turns rows (these, or
// those of package sframe) into records. A Row means the same whatever table it came
// from.
//
//	section := cfi.Section{
//		Kind: cfi.EHFrame, Data: data, Addr: addr,
//		AddrSize: 8, Machine: elf.EM_X86_64,
//	}
//	for fde, err := range section.FDEs() {
//		if err != nil {
//			log.Print(err) // this FDE is damaged, others are not
//			continue
//		}
//		for row, err := range fde.Rows() {
//			if err != nil {
//				log.Print(err)
//				break
//			}
//			fmt.Printf("%#x: CFA = r%d%+d\n", row.Begin, row.CFA.Reg, row.CFA.Off)
//		}
//	}
//
// Addresses are virtual addresses of the file. Errors are *located.Error, with the offset
// in the section.
//
// # What an absent rule means
//
// KindNone means that the table has no rule; then the ABI decides. A callee-saved
// register keeps its value. The stack pointer is CFA + Arch.SPOffset. On a
// machine with a link register, the return address is still in that register;
// on x86, where a call pushes the return address, its place is not known. Any
// other register is lost.
package cfi
