package sframe

import "errors"

// Sentinels inside the *wire.Error of a rejected section, FDE or FRE; bytes
// that are missing give wire.ErrTruncated. The sections named are those of the
// SFrame specification, version 3.
var (
	// ErrMagic: no SFrame magic where a header must be (§2.1.1).
	ErrMagic = errors.New("no SFrame magic")
	// ErrVersion: a format version other than 1, 2 and 3 (§2.1.2).
	ErrVersion = errors.New("unknown SFrame version")
	// ErrFlags: a flag that the version does not define (§2.1.3).
	ErrFlags = errors.New("undefined SFrame flag")
	// ErrABI: an ABI identifier that the version does not define (§2.2.1).
	ErrABI = errors.New("unknown SFrame ABI")
	// ErrByteOrder: the ABI's byte order is not the magic's (§2.2.1).
	ErrByteOrder = errors.New("byte order of the ABI is not that of the magic")
	// ErrMismatch: the ABI is not the one the caller expects.
	ErrMismatch = errors.New("SFrame ABI is not that of the file")
	// ErrLayout: the FDE table does not lie between the header and the FREs (§2.2).
	ErrLayout = errors.New("FDE table outside its place")
	// ErrUntrusted: a relocatable section whose FDEs were sorted away from
	// their relocations, as ld -r up to 2.44 does.
	ErrUntrusted = errors.New("FDEs of a relocatable section are sorted")
	// ErrFREOffset: an FDE's FREs begin outside the FRE sub-section (§2.3).
	ErrFREOffset = errors.New("FREs outside their sub-section")
	// ErrFREType: an undefined size of the FRE start field (§2.3.3).
	ErrFREType = errors.New("undefined FRE type")
	// ErrFDEType: an FDE type other than default and flexible (§2.3.3).
	ErrFDEType = errors.New("undefined FDE type")
	// ErrRepSize: a repeating FDE with blocks of size 0 (§2.3.2).
	ErrRepSize = errors.New("repeating block of size 0")
	// ErrRange: a function that wraps around the address space.
	ErrRange = errors.New("function exceeds the address space")
	// ErrBlocks: repeating FDEs that stand for more than limits.MaskRows rows.
	ErrBlocks = errors.New("too many repeating blocks")
	// ErrSharing: the FDEs count far more FREs than there are bytes for.
	ErrSharing = errors.New("functions share too many FREs")
	// ErrCount: the header's number of FREs is not the sum over the FDEs (§2.2).
	ErrCount = errors.New("number of FREs disagrees with the FDEs")
	// ErrStart: an FRE that starts outside its function or block (§2.4).
	ErrStart = errors.New("FRE starts outside its function")
	// ErrOrder: an FRE that starts before the one in front of it (§2.4).
	ErrOrder = errors.New("FREs out of order")
	// ErrWordSize: an undefined size of an FRE's data words (§2.4.1).
	ErrWordSize = errors.New("undefined FRE word size")
	// ErrWords: a number or arrangement of data words without a meaning (§2.4.1).
	ErrWords = errors.New("FRE words without a meaning")
	// ErrCFA: a flexible FRE whose CFA is not based on a register (§3.2).
	ErrCFA = errors.New("CFA not based on a register")
	// ErrRegister: a register number below zero (V2 s390x).
	ErrRegister = errors.New("negative register number")
)
