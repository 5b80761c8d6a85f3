# A register that needs a control word of two bytes: APX r16 is DWARF 130. amd64,
# 2.46 and later.
	.text
	.cfi_sections .eh_frame, .sframe
	.globl apx
	.type apx, @function
apx:	.cfi_startproc
	.skip 4
	.cfi_def_cfa 130, 16
	.skip 4
	.cfi_def_cfa 130, 100000
	.skip 4
	.cfi_def_cfa 7, 8
	.skip 4
	.cfi_endproc
	.size apx, .-apx
