package check

import (
	"debug/elf"

	"symkit/cfi"
)

// archInfo is a machine with its registers by name.
type archInfo struct {
	*cfi.Arch
	regs map[string]cfi.Reg
}

// maxReg bounds the register numbers that can have a name.
const maxReg = 1 << 12

func newArchInfo(a *cfi.Arch) *archInfo {
	i := &archInfo{Arch: a, regs: map[string]cfi.Reg{}}
	for r := range cfi.Reg(maxReg) {
		if name := a.RegName(r); name != "" {
			if _, ok := i.regs[name]; !ok {
				i.regs[name] = r
			}
		}
	}
	return i
}

// canonical is the number that stands for all registers with r's name.
func (a *archInfo) canonical(r cfi.Reg) cfi.Reg {
	if c, ok := a.regs[a.RegName(r)]; ok {
		return c
	}
	return r
}

// calleeSaved tells a register that a call leaves unchanged.
func (a *archInfo) calleeSaved(r cfi.Reg) bool {
	for _, c := range a.CalleeSaved {
		if c == r {
			return true
		}
	}
	return false
}

// machine is a random register file and memory: every register and word is a
// function of the seed and its number or address.
type machine struct {
	arch      *archInfo
	seed      uint64
	pc        uint64
	mask      uint64
	bigEndian bool
}

func newMachine(a *archInfo, seed uint64, bigEndian bool) machine {
	m := machine{arch: a, seed: seed, mask: ^uint64(0), bigEndian: bigEndian}
	if a.WordSize < 8 {
		m.mask = 1<<(8*a.WordSize) - 1
	}
	return m
}

// reg is the value of register r. The program counter is the current one.
func (m *machine) reg(r cfi.Reg) uint64 {
	if name := m.arch.RegName(r); name != "" {
		if name == m.arch.PC {
			return m.pc
		}
		r = m.arch.regs[name]
	}
	return mix(m.seed+uint64(r)*0x9e3779b97f4a7c15) & m.mask
}

// word is the word at an address.
func (m *machine) word(addr uint64) uint64 {
	return mix(mix(addr^m.seed)+0x632be59bd9b4e019) & m.mask
}

// partial is the number of size bytes at an address: part of the word there.
func (m *machine) partial(addr uint64, size int) uint64 {
	w, have := m.word(addr), m.arch.WordSize
	if size >= have {
		return w
	}
	if m.bigEndian {
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

// archOf is the machine of an ELF file, nil for one unknown.
func archOf(machine elf.Machine, class elf.Class) *archInfo {
	if a := cfi.ArchOf(machine, class); a != nil {
		return newArchInfo(a)
	}
	return nil
}
