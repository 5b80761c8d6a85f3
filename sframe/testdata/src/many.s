# A function of many rows.
	.text
	.cfi_sections .eh_frame, .sframe
	.globl many
	.type many, @function
many:	.cfi_startproc
	.rept 40
	.skip 8
	.cfi_adjust_cfa_offset 16
	.endr
	.rept 40
	.skip 8
	.cfi_adjust_cfa_offset -16
	.endr
	.skip 8
	.cfi_endproc
	.size many, .-many
