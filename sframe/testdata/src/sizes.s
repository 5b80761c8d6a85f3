# FRE start fields of 1, 2 and 4 bytes, words of 1, 2 and 4 bytes, a function of
# size 0, and CFI behind the last instruction. Any machine: only data.
	.text
	.cfi_sections .eh_frame, .sframe
	.macro fn name size
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	.skip 4
	.cfi_adjust_cfa_offset 32
	.skip 4
	.cfi_adjust_cfa_offset 512
	.skip 4
	.cfi_adjust_cfa_offset 40000
	.skip 4
	.cfi_adjust_cfa_offset 5000000
	.skip \size - 24
	.cfi_adjust_cfa_offset -5000000
	.skip 4
	.cfi_adjust_cfa_offset -40000
	.skip 4
	.cfi_endproc
	.size \name, .-\name
	.endm
	fn s252, 252
	fn s256, 256
	fn s65532, 65532
	fn s65536, 65536
	.globl empty
	.type empty, @function
empty:	.cfi_startproc
	.cfi_endproc
	.globl last
	.type last, @function
last:	.cfi_startproc
	.skip 8
	.cfi_endproc
