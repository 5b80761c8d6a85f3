package main

import (
	"encoding/hex"

	"symkit/check"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/disasm"
)

// decoder decodes the machine code around findings.
type decoder struct{ disasm.Machine }

// disassembler returns the decoder of a file's code, nil for machines without one.
func disassembler(f *elfx.File) check.Disassembler {
	m := disasm.Machine{Machine: f.Machine, Class: f.Class, BigEndian: f.BigEndian}
	if !m.Known() {
		return nil
	}
	return decoder{m}
}

// Decode implements check.Disassembler.
func (d decoder) Decode(code []byte, addr uint64) (out []report.Instruction) {
	for _, in := range d.Machine.Decode(code, addr) {
		out = append(out, report.Instruction{Addr: in.Addr, Bytes: hex.EncodeToString(in.Bytes), Text: in.Text})
	}
	return out
}
