# The two functions of the worked dumps: rows of one and two words, words of one
# and two bytes. amd64.
	.text
	.cfi_sections .eh_frame, .sframe
	nop
	nop
	.globl foo
	.type foo, @function
foo:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
	pop %rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
	.size foo, .-foo
	nop
	.globl bar
	.type bar, @function
bar:	.cfi_startproc
	sub $0x208, %rsp
	.cfi_def_cfa_offset 0x210
	add $0x208, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size bar, .-bar
