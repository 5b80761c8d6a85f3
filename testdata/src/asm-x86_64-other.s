# The second object file of the assembly fixture: its copy of the group
# "discarded" loses against the one in asm-x86_64.s and is longer.

	.section .text.discarded,"axG",@progbits,discarded,comdat
	.weak	discarded
	.type	discarded, @function
discarded:
	.cfi_startproc
	subq	$40, %rsp
	.cfi_def_cfa_offset 48
	nop
	nop
	xorl	%eax, %eax
	addq	$40, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	discarded, .-discarded

	.text
	.globl	kept
	.type	kept, @function
kept:
	.cfi_startproc
	jmp	discarded
	.cfi_endproc
	.size	kept, .-kept

	.section .note.GNU-stack,"",@progbits
