# Functions without a compiler: sizes, types and CFI as people write them.
# Assembled with -g, so that gas makes the DWARF.

	.text
	.globl	run
	.type	run, @function
run:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movl	%edi, %ebx
	call	framed
	call	discarded
	call	no_type
	addl	%ebx, %eax
	popq	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	run, .-run

# A frame pointer, an early return and a local label that is in .symtab.
	.globl	framed
	.type	framed, @function
framed:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	testl	%edi, %edi
	jz	framed_zero
	.cfi_remember_state
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
framed_zero:
	.cfi_restore_state
	movl	$1, %eax
.Lhidden:
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	framed, .-framed

# Neither .type nor .size: a bare global label.
	.globl	no_type
no_type:
	movl	$3, %eax
	ret

# A type but no size, and no CFI.
	.type	no_size, @function
no_size:
	nop
	ret

# Swaps stacks: the CFA is an expression, DW_OP_breg6 (rbp) 0, DW_OP_deref,
# DW_OP_plus_uconst 16; the return address is undefined further down.
	.globl	swap_stack
	.type	swap_stack, @function
swap_stack:
	.cfi_startproc
	pushq	%rbp
	.cfi_escape 0x0f, 5, 0x76, 0, 0x06, 0x23, 16
	movq	%rdi, %rsp
	.cfi_undefined %rip
	ud2
	.cfi_endproc
	.size	swap_stack, .-swap_stack

# A trampoline as the C library's: a signal frame, its registers by expression
# (DW_CFA_def_cfa_expression, DW_CFA_expression: DW_OP_breg7 (rsp) and deref).
	.globl	signal_return
	.type	signal_return, @function
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 0x06
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0
	nop
signal_return:
	movl	$15, %eax
	syscall
	.cfi_endproc
	.size	signal_return, .-signal_return

# Both object files bring this group: the second copy is discarded.
	.section .text.discarded,"axG",@progbits,discarded,comdat
	.weak	discarded
	.type	discarded, @function
discarded:
	.cfi_startproc
	subq	$24, %rsp
	.cfi_def_cfa_offset 32
	xorl	%eax, %eax
	addq	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	discarded, .-discarded

	.section .note.GNU-stack,"",@progbits
