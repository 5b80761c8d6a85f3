package check

import (
	"debug/elf"
	"fmt"
	"sort"

	"symkit/check/internal/compare"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/elfx"
)

// Limits of the machine code around a finding.
const (
	before   = 5       // instructions
	after    = 6       // with the one of the finding
	maxSteps = 1 << 16 // bytes from the start of the function
)

// addContext adds the machine code around the address of each finding.
func addContext(rep *report.Report, in *compare.Input, disassembler func(*elfx.File) Disassembler) {
	if disassembler == nil {
		return
	}
	machine := disassembler(in.Truth.Image.Main)
	if machine == nil {
		return
	}
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if at := f.Addr + in.Bias; f.Addr != 0 && in.Truth.Code.Contains(at) {
			f.Context = codeAround(in, machine, at)
		}
	}
}

// codeAround returns the instructions around an address of the ELF file. Decoding starts where the
// function starts, so that the borders of instructions of several lengths are right.
func codeAround(in *compare.Input, machine Disassembler, at uint64) (out []report.Instruction) {
	section, funcs := in.Truth.Code[in.Truth.Code.Find(at)], in.Sym.Funcs
	start := max(section.Lo, at-at%machine.Aligned()-min(at, 4*before))
	if machine.Aligned() < 4 {
		start = at
		i := pcs.After(funcs, at-in.Bias)
		if i < len(funcs) && funcs[i].Addr+in.Bias <= at && at-in.Bias-funcs[i].Addr < maxSteps {
			start = funcs[i].Addr + in.Bias
		}
	}

	const longest = 15 // bytes of an instruction
	code := codeBytes(in.Truth.Image.Main, start, min(section.Hi, at+after*longest))
	all := machine.Decode(code, start)
	here := sort.Search(len(all), func(i int) bool { return i+1 == len(all) || all[i+1].Addr > at })
	for i := max(0, here-before); i < min(len(all), here+after); i++ {
		x := all[i]
		x.Addr -= in.Bias
		x.Source, x.Here = sourceAt(in.Sym, x.Addr), i == here
		out = append(out, x)
	}
	return out
}

// codeBytes returns the bytes of [lo, hi), addresses of the ELF file, as many as one section has.
func codeBytes(main *elfx.File, lo, hi uint64) []byte {
	for i := range main.Sections {
		s := &main.Sections[i]
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Present() && lo-s.Addr < s.Size {
			return main.FileBytes(s.Offset+lo-s.Addr, min(hi-lo, s.Size-(lo-s.Addr)))
		}
	}
	return nil
}

// sourceAt returns the file and line that a symbol file has for an address, empty if none.
func sourceAt(s *symfile.File, addr uint64) string {
	p, ok := s.PlaceAt(addr)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d", symfile.Shown([]byte(p.File)), p.Line)
}
