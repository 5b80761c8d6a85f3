package gosym

import "bytes"

// Find returns the offset of a pclntab in data, whose first byte has address
// addr, or -1. It is for files without a section of that name: the first address
// aligned to 8 bytes with a magic number and a valid header is the table.
func Find(data []byte, addr uint64) int {
	for off := 0; off < len(data); {
		// Every magic number has three bytes 0xff and a fourth, then two zeros.
		n := bytes.Index(data[off:], []byte{0xff, 0xff, 0xff})
		if n < 0 {
			return -1
		}
		off += n

		for _, start := range [...]int{off, off - 1} {
			if start < 0 || (addr+uint64(start))%8 != 0 {
				continue
			}
			t := Table{section: "pclntab", data: data[start:]}
			if t.header() == nil {
				return start
			}
		}
		off++
	}
	return -1
}
