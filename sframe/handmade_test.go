package sframe

// handMade are sections that no producer at hand writes: the oracle test shows
// them to readelf, TestHandMade holds their rows.
var handMade = map[string]string{
	"V3 flexible, RA and FP from registers and memory": `
		chunk v3 amd64 sorted pcrel
		fde 0 64 addr1 flex
		fre 0 reg 0x39 8
		fre 1 reg 0x39 8 0
		fre 2 reg 0x39 16 2 -16
		fre 3 reg 0x33 -8 0 0x33 0
		fre 4 reg 0x51 0 0x11 0 0x1b 24
		fre 5 reg b2 0x411 1000 0x13 -300 2 -16
		fre 6 reg b4 0x411 100000 0x13 -300000 2 -70000
		fre 7 reg`,
	"V3 s390x, flexible": `
		chunk v3 s390x sorted pcrel
		fde 0 64 addr2 flex signal
		fre 0 reg 0x79 0
		fre 4 reg 0x79 1 0x81 0
		fre 8 reg 0x59 -20 0x81 0 0x89 0
		fre 12 reg 0x51 0 0 0x8b 8`,
	"V3 s390x, default": `
		chunk v3 s390x sorted pcrel
		fde 0 64 addr4
		fre 0 sp 0
		fre 4 sp 0 -48 -72
		fre 8 fp 22 0 -72
		fre 12 sp b2 1000 -1001
		fre 16 sp`,
	"V2 s390x, registers in words": `
		chunk v2 s390x sorted pcrel
		fde 0 64 addr1
		fre 0 sp 0
		fre 4 sp 0 0x21
		fre 8 sp 0 0x21 0x23
		fre 12 sp 0 0 0x23
		fre 16 sp b2 1 -48 0x23
		fre 20 sp`,
	"V2 s390x, relative to the section": `
		chunk v2 s390x sorted
		fde -0x100 64 addr1
		fre 0 sp 0 -48 -72`,
	"V2 frame pointer flag": `
		chunk v2 amd64 sorted fp pcrel
		fde 0 64 addr1
		fre 0 fp 16 -16`,
	"V2 aarch64, repeating": `
		chunk v2 aarch64 sorted pcrel
		fde 0 100 addr1 mask 16 keyb
		fre 0 sp 0
		fre 4 sp mangled 16 -8
		fre 8 sp mangled 16 -8 -16`,
	"V3 fixed FP": `
		chunk v3 amd64 sorted pcrel fixedfp -16
		fde 0 64 addr1
		fre 0 sp 8
		fre 4 sp 16 -32
		fre 8 sp
		fde 100 64 addr1 flex
		fre 0 reg 0x39 8
		fre 4 reg 0x39 8 0 0x1b 4`,
	"V3 aarch64, fixed RA": `
		chunk v3 aarch64 sorted pcrel fixedra -8
		fde 0 64 addr1
		fre 0 sp 0
		fre 4 sp 16 -16`,
	"V3 aarch64, padding": `
		chunk v3 aarch64 sorted pcrel
		fde 0 64 addr1
		fre 0 sp 16 0 -16
		fre 4 sp 16 0`,
	"V3 amd64, RA not fixed": `
		chunk v3 amd64 sorted pcrel fixedra 0
		fde 0 64 addr1
		fre 0 sp 8 -8
		fre 4 sp 16 -8 -16`,
	"V1 amd64, nothing saved": `
		chunk v1 amd64 sorted
		fde 0 64 addr1
		fre 0 sp 8
		fre 8 fp b4 -16 16`,
	"V1 aarch64 big-endian, repeating": `
		chunk v1 aarch64be sorted
		fde 0 64 addr2 mask 0
		fre 0 sp 0
		fre 4 fp b2 16 -8 -16`,
	"V1 fixed FP": `
		chunk v1 aarch64 sorted fixedfp -16
		fde 0 64 addr1
		fre 0 sp 0
		fre 4 sp 16 -8 -24`,
	"V3 no functions": `
		chunk v3 amd64 sorted pcrel`,
	"V3 empty function": `
		chunk v3 amd64 sorted pcrel
		fde 0 0 addr1
		fre 0 sp 8`,
}
