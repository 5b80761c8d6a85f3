// Package record holds the records of a symbol file as the stages of a dump make
// them and as package write writes them.
package record

import (
	"symkit/dump/dwarfx"
	"symkit/dump/internal/files"
	"symkit/dump/internal/inlines"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/unwind"
	"symkit/emit"
)

// Func is a FUNC record with its lines and inlined calls.
type Func struct {
	Addr, Size uint64 // Addr is relative to the module's load address
	Name       string
	Sound      bool        // Name can be written as it is, see emit.OriginName
	Multiple   bool        // other functions share its address
	Lines      []emit.Line // ascend and do not overlap; File is a number of Module.Files
	Calls      inlines.Calls
}

// Module is all that is written of a module after its header.
type Module struct {
	Load    uint64 // load address, which the ranges of calls are not relative to
	Files   files.Ordered
	Origins naming.Origins
	Funcs   []Func        // ascend by address and do not overlap
	Publics []emit.Public // ascend by address; names may alias the image's files
	// Signals are ranges of code, relative to the load address, that a signal's
	// delivery, not a call, makes a frame of.
	Signals []dwarfx.Range
	Unwind  *unwind.Records // or nil
}
