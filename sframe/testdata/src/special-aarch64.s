# AArch64: signed return addresses with both keys, the link register saved alone,
# outermost and signal frames, a negative CFA offset.
	.text
	.cfi_sections .eh_frame, .sframe
	.macro begin name:req, kind
	.globl \name
	.type \name, %function
\name:	.cfi_startproc \kind
	.endm
	.macro end name:req
	.cfi_endproc
	.size \name, .-\name
	.endm

	begin leaf
	.skip 8
	end leaf

	begin key_a
	.skip 4
	.cfi_negate_ra_state
	.skip 4
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	.skip 8
	.cfi_def_cfa 29, 16
	.skip 8
	.cfi_def_cfa 31, 0
	.cfi_restore 29
	.cfi_restore 30
	.skip 4
	.cfi_negate_ra_state
	.skip 4
	end key_a

	begin key_b
	.cfi_b_key_frame
	.skip 4
	.cfi_negate_ra_state
	.skip 4
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	.skip 8
	end key_b

	begin lr_only
	.skip 4
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	.skip 8
	end lr_only

	begin outermost
	.cfi_undefined 30
	.skip 8
	end outermost

	begin signal
	.cfi_signal_frame
	.skip 4
	.cfi_def_cfa_offset 16
	.skip 4
	end signal

	begin negative
	.skip 4
	.cfi_def_cfa 29, -16
	.cfi_offset 29, -128
	.cfi_offset 30, -136
	.skip 4
	end negative
