package walk

import "encoding/binary"

// span is one range of memory.
type span struct {
	addr uint64
	data []byte
}

func (s span) Bytes(addr, n uint64) []byte {
	if off := addr - s.addr; addr >= s.addr && off <= uint64(len(s.data)) && n <= uint64(len(s.data))-off {
		return s.data[off:][:n:n]
	}
	return nil
}

// words is memory of little-endian words.
func words(addr uint64, size int, vals ...uint64) span {
	s := span{addr: addr}
	for _, v := range vals {
		if size == 4 {
			s.data = binary.LittleEndian.AppendUint32(s.data, uint32(v))
		} else {
			s.data = binary.LittleEndian.AppendUint64(s.data, v)
		}
	}
	return s
}
