package sframe

import "errors"

// Sentinels inside the *located.Error of a rejected section, FDE or FRE. Missing bytes give
// located.ErrTruncated. Section numbers (§) are those of the SFrame specification, version
// 3.
var (
	// errMagic: the header does not begin with the SFrame magic (§2.1.1).
	errMagic = errors.New("no SFrame magic")
	// errVersion: the version is not 1, 2 or 3 (§2.1.2).
	errVersion = errors.New("unknown SFrame version")
	// errFlags: the version does not define a flag (§2.1.3).
	errFlags = errors.New("undefined SFrame flag")
	// errABI: the version does not define the ABI identifier (§2.2.1).
	errABI = errors.New("unknown SFrame ABI")
	// errByteOrder: the byte order of the ABI differs from that of the magic (§2.2.1).
	errByteOrder = errors.New("byte order of the ABI is not that of the magic")
	// errMismatch: the ABI is not the ABI that the caller expects.
	errMismatch = errors.New("SFrame ABI is not that of the file")
	// errLayout: the FDE table does not lie between the header and the FREs (§2.2).
	errLayout = errors.New("FDE table outside its place")
	// errUntrusted: the FDEs of a relocatable section are sorted, but not their
	// relocations, as ld -r up to 2.44 does.
	errUntrusted = errors.New("FDEs of a relocatable section are sorted")
	// errFREOffset: an FDE's FREs begin outside the FRE sub-section (§2.3).
	errFREOffset = errors.New("FREs outside their sub-section")
	// errFREType: the size of the FRE start field is undefined (§2.3.3).
	errFREType = errors.New("undefined FRE type")
	// errFDEType: the FDE type is neither default nor flexible (§2.3.3).
	errFDEType = errors.New("undefined FDE type")
	// errRepSize: a repeating FDE with blocks of size 0 (§2.3.2).
	errRepSize = errors.New("repeating block of size 0")
	// errRange: a function wraps around the address space.
	errRange = errors.New("function exceeds the address space")
	// errBlocks: repeating FDEs stand for more rows than the limit sframe-mask-rows.
	errBlocks = errors.New("too many repeating blocks")
	// errSharing: the FDEs have far more FREs than the section has bytes for.
	errSharing = errors.New("functions share too many FREs")
	// errCount: the number of FREs in the header is not the sum over the FDEs (§2.2).
	errCount = errors.New("number of FREs disagrees with the FDEs")
	// errStart: an FRE starts outside its function or block (§2.4).
	errStart = errors.New("FRE starts outside its function")
	// errOrder: an FRE starts before the previous FRE (§2.4).
	errOrder = errors.New("FREs out of order")
	// errWordSize: the size of an FRE's data words is undefined (§2.4.1).
	errWordSize = errors.New("undefined FRE word size")
	// errWords: the number or arrangement of data words has no meaning (§2.4.1).
	errWords = errors.New("FRE words without a meaning")
	// errCFA: the CFA of a flexible FRE is not based on a register (§3.2).
	errCFA = errors.New("CFA not based on a register")
	// errRegister: a register number is negative (V2 s390x).
	errRegister = errors.New("negative register number")
)
