package cfi

import "errors"

// Sentinels inside the *located.Error of a damaged section, CIE or FDE, besides those of
// package located.
var (
	// ErrAddrSize: an address size is not 2, 4 or 8.
	ErrAddrSize = errors.New("unknown address size")
	// ErrCIEPointer: the CIE pointer of an FDE leads to no CIE.
	ErrCIEPointer = errors.New("CIE pointer leads to no CIE")
	// ErrNoFDE: the offset given to a Reader is not that of an FDE.
	ErrNoFDE = errors.New("no FDE at this offset")
	// ErrVersion: the version of a CIE is not 1, 3 or 4.
	ErrVersion = errors.New("unknown CIE version")
	// ErrAugmentation: an augmentation is unknown, and its data cannot be skipped.
	ErrAugmentation = errors.New("unknown augmentation")
	// ErrEncoding: a pointer encoding (DW_EH_PE) has no meaning, or cannot be used at
	// this place.
	ErrEncoding = errors.New("unusable pointer encoding")
	// ErrIndirect: the word that an indirect pointer refers to cannot be read.
	ErrIndirect = errors.New("indirect pointer cannot be followed")
	// ErrRange: a PC range leaves the address space.
	ErrRange = errors.New("PC range leaves the address space")
	// ErrOpcode: a call frame instruction is unknown.
	ErrOpcode = errors.New("unknown call frame instruction")
	// ErrNoCFA: an instruction changes the offset of the CFA, which has no rule yet.
	ErrNoCFA = errors.New("offset of a CFA without rule")
	// ErrStateStack: a DW_CFA_restore_state has no remember_state, or too many states are
	// remembered.
	ErrStateStack = errors.New("state stack out of bounds")
	// ErrBackwards: DW_CFA_set_loc sets an address below the current one.
	ErrBackwards = errors.New("location goes backwards")
	// ErrBeyond: the location advances beyond the last PC of the FDE.
	ErrBeyond = errors.New("location beyond the end of the FDE")
	// ErrInCIE: the instruction has no meaning in a CIE.
	ErrInCIE = errors.New("instruction not allowed in a CIE")
	// ErrTooManyRules: more registers have rules than any machine has.
	ErrTooManyRules = errors.New("too many register rules")
	// ErrRegister: a register number has more than 32 bits.
	ErrRegister = errors.New("register number does not fit 32 bits")
)
