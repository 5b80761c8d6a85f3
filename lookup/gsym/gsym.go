// Package gsym writes and reads GSYM, the symbol format of LLVM: functions, source lines and inlined calls in one
// file, which is mapped and searched in place. llvm-symbolizer, llvm-gsymutil and blazesym read it.
//
// A Writer takes functions by address and writes the file. Open takes the bytes of a file, in either byte order, and
// gives the function at an address with the calls that are inlined there.
//
//	f, err := gsym.Open(data)
//	if err != nil {
//		return err
//	}
//	fn, frames, err := f.Lookup(nil, 0x1149)
//	if err != nil {
//		return err
//	}
//	for _, frame := range frames { // innermost first
//		fmt.Printf("%s+%#x %s:%d\n", frame.Name, 0x1149-fn.Addr, frame.AppendPath(nil), frame.Line)
//	}
//
// Addresses are virtual addresses of the ELF file. Version 1 of the format has offsets of 32 bits, so that a file has at
// most 4 GiB; larger files are of version 2, which LLVM 23 is the first to read. There is no specification but the
// sources of LLVM, llvm/include/llvm/DebugInfo/GSYM: Header.h, HeaderV2.h, GlobalData.h, FunctionInfo.h, LineTable.h and
// InlineInfo.h there describe the parts.
//
// A file consists of a header, the offsets of the functions from a base address, the positions of their infos, a table
// of source files, a table of strings, and the infos. A file is two strings: directory and name. String 0 is empty,
// and file 0 is no file. In version 2 a list after the header says where the other parts are, positions and references
// to strings have 64 bits, and the positions of infos count from the first one.
package gsym

import "errors"

// The parts of a file.
const (
	magic      = 0x4753594d // in the byte order of the file
	headerSize = 48
	maxUUID    = 20
)

// The parts of a file of version 2.
const (
	headerSize2 = 20
	partSize    = 20 // of an entry in the list of parts: a kind, an offset, a size
)

// The kinds of parts of version 2, in the order in which they are written after the list. Parts of other kinds are
// skipped.
const (
	endOfParts = iota
	addrPart
	infoOffsetPart
	stringPart
	filePart
	infoPart
	uuidPart
	partKinds
)

// The kinds of information about a function. Others are skipped: functions with the same code, and call sites.
const (
	endOfList  = 0
	lineTable  = 1
	inlineInfo = 2
)

// The opcodes of a line table. All bytes from firstSpecial on add to the line and the address, and make a row.
const (
	endSequence  = 0
	setFile      = 1
	advancePC    = 2 // makes a row
	advanceLine  = 3
	firstSpecial = 4
)

// Sentinels inside the *located.Error of a damaged file. Missing bytes give located.ErrTruncated, and positions
// outside of the file located.ErrOffset.
var (
	errMagic     = errors.New("no GSYM file")
	errVersion   = errors.New("unknown version of GSYM; versions 1 and 2 can be read")
	errEncoding  = errors.New("unknown encoding of the string table")
	errUUID      = errors.New("UUID of more than 20 bytes")
	errString    = errors.New("string outside the string table")
	errFile      = errors.New("file outside the file table")
	errLineRange = errors.New("line table with an empty range of lines")
)

// Range is an address range; Hi is after its last address.
type Range struct{ Lo, Hi uint64 }
