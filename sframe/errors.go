package sframe

import "errors"

// Sentinels inside the *located.Error of a rejected section, FDE or FRE. Missing bytes give
// located.ErrTruncated. Section numbers (§) are those of the SFrame specification, version
// 3.
var (
	// ErrMagic: the header does not begin with the SFrame magic (§2.1.1).
	ErrMagic = errors.New("no SFrame magic")
	// ErrVersion: the version is not 1, 2 or 3 (§2.1.2).
	ErrVersion = errors.New("unknown SFrame version")
	// ErrFlags: the version does not define a flag (§2.1.3).
	ErrFlags = errors.New("undefined SFrame flag")
	// ErrABI: the version does not define the ABI identifier (§2.2.1).
	ErrABI = errors.New("unknown SFrame ABI")
	// ErrByteOrder: the byte order of the ABI differs from that of the magic (§2.2.1).
	ErrByteOrder = errors.New("byte order of the ABI is not that of the magic")
	// ErrMismatch: the ABI is not the ABI that the caller expects.
	ErrMismatch = errors.New("SFrame ABI is not that of the file")
	// ErrLayout: the FDE table does not lie between the header and the FREs (§2.2).
	ErrLayout = errors.New("FDE table outside its place")
	// ErrUntrusted: the FDEs of a relocatable section are sorted, but not their
	// relocations, as ld -r up to 2.44 does.
	ErrUntrusted = errors.New("FDEs of a relocatable section are sorted")
	// ErrFREOffset: an FDE's FREs begin outside the FRE sub-section (§2.3).
	ErrFREOffset = errors.New("FREs outside their sub-section")
	// ErrFREType: the size of the FRE start field is undefined (§2.3.3).
	ErrFREType = errors.New("undefined FRE type")
	// ErrFDEType: the FDE type is neither default nor flexible (§2.3.3).
	ErrFDEType = errors.New("undefined FDE type")
	// ErrRepSize: a repeating FDE with blocks of size 0 (§2.3.2).
	ErrRepSize = errors.New("repeating block of size 0")
	// ErrRange: a function wraps around the address space.
	ErrRange = errors.New("function exceeds the address space")
	// ErrBlocks: repeating FDEs stand for more than limits.MaskRows rows.
	ErrBlocks = errors.New("too many repeating blocks")
	// ErrSharing: the FDEs have far more FREs than the section has bytes for.
	ErrSharing = errors.New("functions share too many FREs")
	// ErrCount: the number of FREs in the header is not the sum over the FDEs (§2.2).
	ErrCount = errors.New("number of FREs disagrees with the FDEs")
	// ErrStart: an FRE starts outside its function or block (§2.4).
	ErrStart = errors.New("FRE starts outside its function")
	// ErrOrder: an FRE starts before the previous FRE (§2.4).
	ErrOrder = errors.New("FREs out of order")
	// ErrWordSize: the size of an FRE's data words is undefined (§2.4.1).
	ErrWordSize = errors.New("undefined FRE word size")
	// ErrWords: the number or arrangement of data words has no meaning (§2.4.1).
	ErrWords = errors.New("FRE words without a meaning")
	// ErrCFA: the CFA of a flexible FRE is not based on a register (§3.2).
	ErrCFA = errors.New("CFA not based on a register")
	// ErrRegister: a register number is negative (V2 s390x).
	ErrRegister = errors.New("negative register number")
)
