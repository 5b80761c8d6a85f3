# GCC 4.1 writes the calls inlined into an inlined call after it, as its siblings: in f, a has b and b
# has c; d is beside a, and e is in d. DWARF 2.
	.text
	.globl f
	.type f, @function
f:
	.fill 0x40, 1, 0x90
	.size f, .-f

	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11
	.byte 1                 # compile unit: name, comp_dir, stmt_list, low_pc, high_pc
	.uleb128 0x03, 0x08, 0x1b, 0x08, 0x10, 0x06, 0x11, 0x01, 0x12, 0x01, 0, 0
	.uleb128 2, 0x2e
	.byte 0                 # abstract function: name, inline
	.uleb128 0x03, 0x08, 0x20, 0x0b, 0, 0
	.uleb128 3, 0x2e
	.byte 1                 # function: name, low_pc, high_pc
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x01, 0, 0
	.uleb128 4, 0x1d
	.byte 0                 # call: origin, low_pc, high_pc, call_file, call_line
	.uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x01, 0x58, 0x0b, 0x59, 0x0b, 0, 0
	.byte 0

	.section .debug_info,"",@progbits
info:
	.long 2f - 1f
1:	.value 2
	.long .debug_abbrev
	.byte 8
	.uleb128 1
	.string "siblings.c"
	.string "/symkit"
	.long .debug_line
	.quad f, f + 0x40
	.irp name, a, b, c, d, e
\name\()_die:
	.uleb128 2
	.string "\name"
	.byte 1
	.endr
	.uleb128 3
	.string "f"
	.quad f, f + 0x40
	.macro inlined name, low, high, line
	.uleb128 4
	.long \name\()_die - info
	.quad f + \low, f + \high
	.byte 1, \line
	.endm
	inlined a, 0x04, 0x20, 10
	inlined b, 0x08, 0x1c, 20
	inlined d, 0x20, 0x30, 11
	inlined c, 0x0c, 0x10, 30
	inlined e, 0x20, 0x28, 40
	.byte 0, 0
2:

	.section .debug_line,"",@progbits
	.long 4f - 1f
1:	.value 2
	.long 3f - 2f
2:	.byte 1, 1, -5, 14, 10
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.byte 0
	.string "siblings.c"
	.uleb128 0, 0, 0
	.byte 0
3:	.byte 0, 9, 2
	.quad f
	.byte 1                 # a row for line 1
	.byte 2
	.uleb128 0x40
	.byte 0, 1, 1
4:
