package x86

// operandKinds has, by the opcodes of one byte, the kind of access to the ModRM operand: r
// (read), w (write), b (both), n (nothing), g (group: the ModRM byte determines the kind),
// x (x87), - (no such operand). Small letters are for operands whose size the prefixes
// determine, capitals for bytes (Intel SDM vol. 2D, table A-2).
const operandKinds = "" +
	"BbRr----BbRr----BbRr----BbRr----BbRr----BbRr----BbRr----RrRr----" + // 00 add or adc sbb and sub xor cmp
	"----------------" + "----------------" + "---r-----r-r----" + "----------------" + // 40
	"GgGgRrBbWwRrwnrw" + "----------------" + "----------------" + "----------------" + // 80
	"Gg----Ww--------" + "GgGg----xxxxxxxx" + "----------------" + "------Gg------Gg" // c0

// kindOf returns the kind of access that a letter of the tables stands for, or the empty
// string.
func kindOf(letter byte) string {
	switch letter | 0x20 {
	case 'r':
		return "read"
	case 'w':
		return "write"
	case 'b':
		return "readwrite"
	case 'n':
		return "none"
	}
	return ""
}

// privilegedOps are the opcodes of one byte that raise an exception outside of a
// kernel, or where it does not allow them: ports, interrupts, cli, sti, hlt, far
// returns. privilegedOps2 are those after 0f: descriptor tables, control
// registers, MSRs, time stamps, caches.
const (
	privilegedOps  = "\x6c\x6d\x6e\x6f\xca\xcb\xcc\xcd\xce\xcf\xe4\xe5\xe6\xe7\xec\xed\xee\xef\xf1\xf4\xfa\xfb"
	privilegedOps2 = "\x00\x01\x06\x07\x08\x09\x20\x21\x22\x23\x30\x31\x32\x33\x35\x78\x79"
)

// twoByteKind returns the kind of access of the common opcodes after 0f.
func (d *decoder) twoByteKind(op byte) string {
	// The kind is unknown for opcodes that are not listed here.
	switch {
	case op == 0x0d, op == 0x18, op == 0x1e, op == 0x1f: // prefetch, nop
		return "none"
	case op&0xf0 == 0x40, op == 0xb6, op == 0xb7, op == 0xbe, op == 0xbf, op == 0xaf: // cmov, movzx, movsx, imul
		return "read"
	case op&0xf0 == 0x90: // set
		return "write"
	case op == 0xb0, op == 0xb1, op == 0xc0, op == 0xc1: // cmpxchg, xadd
		return "readwrite"
	case op == 0x10, op == 0x12, op == 0x16, op == 0x28, op == 0x2e, op == 0x2f, op&0xf0 == 0x50, op == 0x6e, op == 0x6f:
		return "read"
	case op == 0x7e && d.hasPrefix(0xf3): // movq
		return "read"
	case op == 0x11, op == 0x13, op == 0x17, op == 0x29, op == 0x2b, op == 0x7e, op == 0x7f, op == 0xd6, op == 0xe7:
		return "write"
	}
	return ""
}

// hasPrefix reports whether the instruction has the given prefix before that of VEX or EVEX.
func (d *decoder) hasPrefix(prefix byte) bool {
	for _, p := range d.Prefix {
		if p == 0 || p.IsVEX() || p.IsEVEX() {
			return false
		}
		if byte(p) == prefix {
			return true
		}
	}
	return false
}
