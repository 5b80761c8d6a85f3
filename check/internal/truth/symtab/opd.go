package symtab

import (
	"debug/elf"
	"encoding/binary"

	"symkit/elfx"
)

// opd is .opd of the first ABI of 64-bit PowerPC: a symbol's address is that of a descriptor of its
// function, whose first word is the address of the code (64-bit PowerPC ELF ABI §3.2.1).
type opd struct {
	addr  uint64
	data  []byte
	order binary.ByteOrder
}

func readOPD(f *elfx.File) opd {
	s := f.Section(".opd")
	if f.Machine != elf.EM_PPC64 || s == nil {
		return opd{}
	}
	data, err := s.Data()
	if err != nil {
		return opd{}
	}
	if f.BigEndian {
		return opd{s.Addr, data, binary.BigEndian}
	}
	return opd{s.Addr, data, binary.LittleEndian}
}

// entry returns the address of the code of the function with a symbol's value.
func (x *opd) entry(value uint64) uint64 {
	at := value - x.addr // below the section, a large number
	if at >= uint64(len(x.data)) || uint64(len(x.data))-at < 8 {
		return value
	}
	return x.order.Uint64(x.data[at:])
}
