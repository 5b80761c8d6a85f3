package dump

import (
	"debug/elf"

	"symkit/internal/wire"
)

// descriptors is .opd: for each function of the 64-bit PowerPC's first ELF ABI a
// descriptor, which its symbol is of, and whose first word is the address of its
// code (64-bit PowerPC ELF ABI §3.2.1, "Function Descriptors").
type descriptors struct {
	addr      uint64
	data      []byte
	bigEndian bool
}

func (d *dumper) descriptors() (x descriptors) {
	main := d.img.Main
	s := d.img.Section(".opd")
	if main.Machine != elf.EM_PPC64 || s == nil {
		return x
	}
	data, err := s.Data()
	d.loss(err)
	return descriptors{s.Addr, data, main.BigEndian}
}

// code is the address of the code of the function at addr, which need not have a
// descriptor.
func (x descriptors) code(addr uint64) uint64 {
	const word = 8
	off := addr - x.addr
	if off >= uint64(len(x.data)) || uint64(len(x.data))-off < word {
		return addr
	}
	c := wire.New(".opd", x.data[off:], x.bigEndian)
	return c.U64()
}
