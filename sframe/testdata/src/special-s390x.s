# s390x: return address and frame pointer in floating-point registers, FP without
# RA (padding), CFA from other registers, outermost and signal frames.
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

	begin leaf
	.skip 8
	end leaf

	begin saved
	.skip 6
	.cfi_offset 14, -48
	.cfi_offset 11, -72
	.skip 6
	.cfi_def_cfa_offset 336
	.skip 6
	.cfi_def_cfa_register 11
	.skip 6
	.cfi_def_cfa 15, 160
	.cfi_restore 11
	.cfi_restore 14
	.skip 2
	end saved

	begin in_fpr
	.skip 4
	.cfi_register 14, 16
	.skip 4
	.cfi_register 11, 17
	.skip 4
	.cfi_def_cfa_offset 168
	.skip 4
	end in_fpr

	begin fp_alone
	.skip 4
	.cfi_offset 11, -72
	.skip 4
	.cfi_def_cfa_offset 32768
	.skip 4
	.cfi_def_cfa_offset 1000000
	.skip 4
	end fp_alone

	begin r10_cfa
	.skip 4
	.cfi_def_cfa 10, 160
	.skip 4
	.cfi_def_cfa 15, 160
	.skip 4
	end r10_cfa

	begin outermost
	.cfi_undefined 14
	.skip 8
	end outermost

	begin signal
	.cfi_signal_frame
	.skip 8
	end signal
