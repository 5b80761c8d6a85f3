// Package cfi reads DWARF call frame information (.eh_frame, .debug_frame)
// into rows, names the registers of each machine and writes rows as the rules
// of Breakpad's STACK CFI records. Bytes in, values out: it opens no files.
//
// A Section yields its FDEs, an FDE yields its Rows, and a
// Text turns rows (these, or those of package sframe) into records. A Row
// means the same whatever table it came from.
//
// # What an absent rule means
//
// KindNone means that the table has no rule; then the ABI decides. A callee-saved
// register keeps its value. The stack pointer is CFA + Arch.SPOffset. The
// return address of a machine with a link register is still in it; on x86,
// where a call pushes it, nothing is known. Any other register is lost.
package cfi
