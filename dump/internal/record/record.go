// Package record holds the records of a symbol file: the stages of a dump make them, and
// package write writes them. A Module owns its records except the names of publics and the
// sections of unwind rules, which lie in the image's files.
package record

import (
	"symkit/dump/internal/files"
	"symkit/dump/internal/inlines"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/unwind"
	"symkit/emit"
	"symkit/internal/dwarfx"
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

// Module holds all records of a module but those of its header.
type Module struct {
	Load    uint64 // load address; the ranges of calls are virtual addresses
	Files   files.Ordered
	Origins naming.Origins
	Funcs   []Func        // ascend by address and do not overlap
	Publics []emit.Public // ascend by address; names may alias the image's files
	// PublicSizes has the sizes of Publics in bytes, 0 where they are not known.
	PublicSizes []uint32
	// Signals are the ranges of code, relative to the load address, whose frames the
	// kernel makes when it delivers a signal; no call makes these frames.
	Signals []dwarfx.Range
	Unwind  *unwind.Records // or nil
}
