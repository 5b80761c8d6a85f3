package cpu

import "encoding/binary"

// code32 returns the bytes of 32-bit instructions.
func code32(big bool, insns ...uint32) string {
	var code []byte
	for _, insn := range insns {
		if big {
			code = binary.BigEndian.AppendUint32(code, insn)
		} else {
			code = binary.LittleEndian.AppendUint32(code, insn)
		}
	}
	return string(code)
}

// insn32 returns the 32-bit instruction that begins back bytes before the end of
// the code.
func insn32(code []byte, back int, big bool) (uint32, bool) {
	if len(code) < back {
		return 0, false
	}
	code = code[len(code)-back:]
	if big {
		return binary.BigEndian.Uint32(code), true
	}
	return binary.LittleEndian.Uint32(code), true
}
