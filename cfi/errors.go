package cfi

import "errors"

// Sentinels inside the *located.Error of a damaged section, CIE or FDE, besides those of
// package located.
var (
	// errAddrSize: an address size is not 2, 4 or 8.
	errAddrSize = errors.New("unknown address size")
	// errCIEPointer: the CIE pointer of an FDE leads to no CIE.
	errCIEPointer = errors.New("CIE pointer leads to no CIE")
	// errNoFDE: the offset given to a Reader is not that of an FDE.
	errNoFDE = errors.New("no FDE at this offset")
	// errVersion: the version of a CIE is not 1, 3 or 4.
	errVersion = errors.New("unknown CIE version")
	// errAugmentation: an augmentation is unknown, and its data cannot be skipped.
	errAugmentation = errors.New("unknown augmentation")
	// errEncoding: a pointer encoding (DW_EH_PE) has no meaning, or cannot be used at
	// this place.
	errEncoding = errors.New("unusable pointer encoding")
	// errIndirect: the word that an indirect pointer refers to cannot be read.
	errIndirect = errors.New("indirect pointer cannot be followed")
	// errRange: a PC range leaves the address space.
	errRange = errors.New("PC range leaves the address space")
	// errOpcode: a call frame instruction is unknown.
	errOpcode = errors.New("unknown call frame instruction")
	// errNoCFA: an instruction changes the offset of the CFA, which has no rule yet.
	errNoCFA = errors.New("offset of a CFA without rule")
	// errStateStack: a DW_CFA_restore_state has no remember_state, or too many states are
	// remembered.
	errStateStack = errors.New("state stack out of bounds")
	// errBackwards: DW_CFA_set_loc sets an address below the current one.
	errBackwards = errors.New("location goes backwards")
	// errBeyond: the location advances beyond the last PC of the FDE.
	errBeyond = errors.New("location beyond the end of the FDE")
	// errInCIE: the instruction has no meaning in a CIE.
	errInCIE = errors.New("instruction not allowed in a CIE")
	// errTooManyRules: more registers have rules than any machine has.
	errTooManyRules = errors.New("too many register rules")
	// errRegister: a register number has more than 32 bits.
	errRegister = errors.New("register number does not fit 32 bits")
)
