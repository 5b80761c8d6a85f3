# Everything that AMD64 can say apart from plain rows: outermost frames, signal
# frames with and without rows, registers other than SP and FP. Up to 2.44 gas
# drops or mistakes some of it; the text beside each fixture tells what it wrote.
	.text
	.cfi_sections .eh_frame, .sframe
	.macro begin name:req, kind
	.globl \name
	.type \name, @function
\name:	.cfi_startproc \kind
	.endm
	.macro end name:req
	.cfi_endproc
	.size \name, .-\name
	.endm

	begin outermost
	.cfi_undefined rip
	.skip 8
	end outermost

	begin later_outermost
	.skip 4
	.cfi_def_cfa_offset 16
	.skip 4
	.cfi_undefined rip
	.skip 4
	end later_outermost

	begin signal
	.cfi_signal_frame
	.skip 4
	.cfi_def_cfa_offset 16
	.skip 4
	end signal

	begin signal_expr
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06
	.skip 10
	end signal_expr

	begin drap
	.skip 5
	.cfi_def_cfa 10, 0
	.skip 12
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
	.skip 2
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
	.skip 9
	.cfi_def_cfa 10, 0
	.skip 5
	.cfi_def_cfa 7, 8
	.skip 1
	end drap

	begin clash
	.skip 4
	.cfi_def_cfa 11, 65544
	.skip 4
	.cfi_def_cfa_register 7
	.skip 4
	end clash

	begin ra_in_reg
	.skip 4
	.cfi_register rip, rcx
	.skip 4
	end ra_in_reg

	begin ra_elsewhere
	.skip 4
	.cfi_def_cfa_offset 24
	.cfi_offset rip, -16
	.skip 4
	.cfi_def_cfa_offset 8
	.skip 4
	end ra_elsewhere

	begin fp_in_reg
	.skip 4
	.cfi_register rbp, rax
	.skip 4
	end fp_in_reg

	begin rbx_cfa
	.skip 4
	.cfi_def_cfa rbx, 16
	.skip 4
	.cfi_def_cfa rsp, 8
	.skip 4
	end rbx_cfa

	begin fp_offsets
	.skip 4
	.cfi_def_cfa_offset 32
	.cfi_offset rbp, -128
	.skip 4
	.cfi_offset rbp, -136
	.skip 4
	.cfi_offset rbp, -32768
	.skip 4
	.cfi_offset rbp, -32776
	.skip 4
	.cfi_restore rbp
	.skip 4
	.cfi_offset rbp, 24
	.skip 4
	end fp_offsets

	begin remember
	.skip 4
	.cfi_def_cfa_offset 32
	.cfi_remember_state
	.skip 4
	.cfi_def_cfa_offset 8
	.skip 4
	.cfi_restore_state
	.skip 4
	.cfi_same_value rbp
	.skip 4
	end remember

	begin simple, simple
	.skip 4
	end simple
