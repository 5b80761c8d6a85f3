package cfi

import "errors"

// What a *wire.Error of this package can carry, besides the sentinels of wire.
var (
	// ErrAddrSize: an address size other than 2, 4 or 8.
	ErrAddrSize = errors.New("unknown address size")
	// ErrCIEPointer: an FDE whose CIE pointer leads to no CIE.
	ErrCIEPointer = errors.New("CIE pointer leads to no CIE")
	// ErrNoFDE: a Reader was given the offset of something else.
	ErrNoFDE = errors.New("no FDE at this offset")
	// ErrVersion: a CIE version other than 1, 3 and 4.
	ErrVersion = errors.New("unknown CIE version")
	// ErrAugmentation: an augmentation whose data cannot be passed over.
	ErrAugmentation = errors.New("unknown augmentation")
	// ErrEncoding: a pointer encoding (DW_EH_PE) without meaning, or one that
	// cannot be used at this place.
	ErrEncoding = errors.New("unusable pointer encoding")
	// ErrIndirect: an indirect pointer to a word that cannot be read.
	ErrIndirect = errors.New("indirect pointer cannot be followed")
	// ErrRange: a PC range that leaves the address space.
	ErrRange = errors.New("PC range leaves the address space")
	// ErrOpcode: an unknown call frame instruction.
	ErrOpcode = errors.New("unknown call frame instruction")
	// ErrNoCFA: an instruction that changes the offset of a CFA that has no rule
	// yet.
	ErrNoCFA = errors.New("offset of a CFA without rule")
	// ErrStateStack: DW_CFA_restore_state without its remember_state, or too
	// many remembered states.
	ErrStateStack = errors.New("state stack out of bounds")
	// ErrBackwards: DW_CFA_set_loc to an address below the current one.
	ErrBackwards = errors.New("location goes backwards")
	// ErrBeyond: an advance beyond the FDE's last PC.
	ErrBeyond = errors.New("location beyond the end of the FDE")
	// ErrInCIE: an instruction that has no meaning in a CIE.
	ErrInCIE = errors.New("instruction not allowed in a CIE")
	// ErrTooManyRules: more registers with rules than any machine has.
	ErrTooManyRules = errors.New("too many register rules")
	// ErrRegister: a register number of more than 32 bits.
	ErrRegister = errors.New("register number does not fit 32 bits")
)
