package cfi

// The opcodes of call frame instructions: those of DWARF 5 §6.4.2, and those of vendors
// that occur in real files. The first three have their first operand in the low six bits.
const (
	opAdvanceLoc = 0x40
	opOffset     = 0x80
	opRestore    = 0xc0

	opNop              = 0x00
	opSetLoc           = 0x01
	opAdvanceLoc1      = 0x02
	opAdvanceLoc2      = 0x03
	opAdvanceLoc4      = 0x04
	opOffsetExtended   = 0x05
	opRestoreExtended  = 0x06
	opUndefined        = 0x07
	opSameValue        = 0x08
	opRegister         = 0x09
	opRememberState    = 0x0a
	opRestoreState     = 0x0b
	opDefCFA           = 0x0c
	opDefCFARegister   = 0x0d
	opDefCFAOffset     = 0x0e
	opDefCFAExpression = 0x0f
	opExpression       = 0x10
	opOffsetExtendedSF = 0x11
	opDefCFASF         = 0x12
	opDefCFAOffsetSF   = 0x13
	opValOffset        = 0x14
	opValOffsetSF      = 0x15
	opValExpression    = 0x16

	opMIPSAdvanceLoc8      = 0x1d
	opSetRAState           = 0x2b // AArch64
	opNegateRAStateWithPC  = 0x2c // AArch64
	opWindowSave           = 0x2d // SPARC; negate_ra_state on AArch64
	opGNUArgsSize          = 0x2e
	opGNUNegOffsetExtended = 0x2f
)

// ops is the only list of call frame instructions; the machine and the test assembler
// read the list. Operands: u ULEB128, s SLEB128, 1 2 4 8 that many bytes, r register
// number (ULEB128), a address in the encoding of the FDE, b block with a ULEB128 length.
var ops = [256]struct{ name, args string }{
	opNop:                  {"nop", ""},
	opSetLoc:               {"set_loc", "a"},
	opAdvanceLoc1:          {"advance_loc1", "1"},
	opAdvanceLoc2:          {"advance_loc2", "2"},
	opAdvanceLoc4:          {"advance_loc4", "4"},
	opOffsetExtended:       {"offset_extended", "ru"},
	opRestoreExtended:      {"restore_extended", "r"},
	opUndefined:            {"undefined", "r"},
	opSameValue:            {"same_value", "r"},
	opRegister:             {"register", "rr"},
	opRememberState:        {"remember_state", ""},
	opRestoreState:         {"restore_state", ""},
	opDefCFA:               {"def_cfa", "ru"},
	opDefCFARegister:       {"def_cfa_register", "r"},
	opDefCFAOffset:         {"def_cfa_offset", "u"},
	opDefCFAExpression:     {"def_cfa_expression", "b"},
	opExpression:           {"expression", "rb"},
	opOffsetExtendedSF:     {"offset_extended_sf", "rs"},
	opDefCFASF:             {"def_cfa_sf", "rs"},
	opDefCFAOffsetSF:       {"def_cfa_offset_sf", "s"},
	opValOffset:            {"val_offset", "ru"},
	opValOffsetSF:          {"val_offset_sf", "rs"},
	opValExpression:        {"val_expression", "rb"},
	opMIPSAdvanceLoc8:      {"MIPS_advance_loc8", "8"},
	opSetRAState:           {"AARCH64_set_ra_state", "rs"}, // r: the state, a small number
	opNegateRAStateWithPC:  {"AARCH64_negate_ra_state_with_pc", ""},
	opWindowSave:           {"GNU_window_save", ""},
	opGNUArgsSize:          {"GNU_args_size", "u"},
	opGNUNegOffsetExtended: {"GNU_negative_offset_extended", "ru"},
}
