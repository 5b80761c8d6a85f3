# CFI behind the last instruction: an FRE that starts at the function's end.
	.text
	.cfi_sections .eh_frame, .sframe
	.globl edge
	.type edge, @function
edge:	.cfi_startproc
	.skip 4
	.cfi_adjust_cfa_offset 16
	.skip 4
	.cfi_adjust_cfa_offset -16
	.cfi_endproc
	.size edge, .-edge
