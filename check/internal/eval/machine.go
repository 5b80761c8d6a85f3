// Package eval evaluates rules of STACK CFI records, rows of unwind tables and DWARF expressions on
// random registers and memory. Two rules that give the same values have the same meaning.
package eval

import (
	"debug/elf"
	"slices"

	"symkit/cfi"
)

// Arch is an architecture with its registers by name.
type Arch struct {
	*cfi.Arch
	regs map[string]cfi.Reg
}

// maxReg bounds the register numbers that can have a name.
const maxReg = 1 << 12

// NewArch indexes the registers of a by name. Of several registers with one name the lowest number
// counts.
func NewArch(a *cfi.Arch) *Arch {
	i := &Arch{Arch: a, regs: map[string]cfi.Reg{}}

	// The first register with a name counts.
	for r := range cfi.Reg(maxReg) {
		if name := a.RegName(r); name != "" {
			if _, ok := i.regs[name]; !ok {
				i.regs[name] = r
			}
		}
	}
	return i
}

// Canonical returns the number that stands for all registers with r's name.
func (a *Arch) Canonical(r cfi.Reg) cfi.Reg {
	if c, ok := a.regs[a.RegName(r)]; ok {
		return c
	}
	return r
}

// Preserves reports whether a call leaves r unchanged.
func (a *Arch) Preserves(r cfi.Reg) bool { return slices.Contains(a.CalleeSaved, r) }

// Machine is a random register file and memory: each register and word is a function of the seed
// and the register's number or the word's address.
type Machine struct {
	arch      *Arch
	seed      uint64
	PC        uint64
	Mask      uint64
	BigEndian bool
}

// NewMachines returns machines with different registers and memory.
func NewMachines(a *Arch, bigEndian bool) (machines [Seeds]Machine) {
	for i := range machines {
		machines[i] = newMachine(a, mix(uint64(i)+1), bigEndian)
	}
	return machines
}

// newMachine returns a machine whose words have the size of a's.
func newMachine(a *Arch, seed uint64, bigEndian bool) Machine {
	m := Machine{arch: a, seed: seed, Mask: ^uint64(0), BigEndian: bigEndian}
	if a.WordSize < 8 {
		m.Mask = 1<<(8*a.WordSize) - 1
	}
	return m
}

// Reg returns the value of register r. The program counter is m.PC.
func (m *Machine) Reg(r cfi.Reg) uint64 {
	// Registers that share a name share the value.
	if name := m.arch.RegName(r); name != "" {
		if name == m.arch.PC {
			return m.PC
		}
		r = m.arch.regs[name]
	}

	// The multiplier, 2^64 divided by the golden ratio, spreads neighbouring numbers.
	return mix(m.seed+uint64(r)*0x9e3779b97f4a7c15) & m.Mask
}

// word returns the word at an address.
func (m *Machine) word(addr uint64) uint64 {
	return mix(mix(addr^m.seed)+0x632be59bd9b4e019) & m.Mask
}

// partial returns the number of size bytes at an address: part of the word there.
func (m *Machine) partial(addr uint64, size int) uint64 {
	w, have := m.word(addr), m.arch.WordSize
	if size >= have {
		return w
	}

	// The bytes at the lowest address are the most significant ones of a big-endian word.
	if m.BigEndian {
		w >>= 8 * (have - size)
	}
	return w & (1<<(8*size) - 1)
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// ArchOf returns the architecture of an ELF file, nil for an unknown one.
func ArchOf(machine elf.Machine, class elf.Class) *Arch {
	if a := cfi.ArchOf(machine, class); a != nil {
		return NewArch(a)
	}
	return nil
}

// Seeds is the number of random register files and memories on which every rule is evaluated. Two
// rules that differ give the same value on one of them with a chance of 2^-32 at most.
const Seeds = 3

// MaxPCs bounds the PCs of one row that are tried one by one where a rule depends on the PC. Of a
// longer row the first PCs are tried, and the last PC.
const MaxPCs = 1 << 16
