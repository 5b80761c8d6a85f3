package symbols

import (
	"debug/elf"

	"symkit/elfx"
	"symkit/internal/wire"
)

// descriptors is .opd. The first ELF ABI of the 64-bit PowerPC has a descriptor
// for each function; the function's symbol is the descriptor's, whose first word
// is the address of the code (64-bit PowerPC ELF ABI §3.2.1, "Function
// Descriptors").
type descriptors struct {
	addr      uint64 // virtual address of the section
	data      []byte
	bigEndian bool
}

func readDescriptors(img *elfx.Image) (descriptors, error) {
	s := img.Section(".opd")
	if img.Main.Machine != elf.EM_PPC64 || s == nil {
		return descriptors{}, nil
	}
	data, err := s.Data()
	return descriptors{s.Addr, data, img.Main.BigEndian}, err
}

// code returns the address of the code of the function at addr: addr itself if the
// function has no descriptor.
func (x descriptors) code(addr uint64) uint64 {
	const word = 8
	off := addr - x.addr
	if off >= uint64(len(x.data)) || uint64(len(x.data))-off < word {
		return addr
	}
	c := wire.New(".opd", x.data[off:], x.bigEndian)
	return c.U64()
}
