// More sections than a 16-bit number can count: e_shnum, e_shstrndx and the
// symbols' st_shndx overflow into section 0 and .symtab_shndx (gABI "Section
// Header Table"). The functions and their DWARF come after the padding.
__asm__(".macro pad\n"
	".section .pad.\\@,\"a\",@progbits\n"
	".byte 0\n"
	".endm\n"
	".rept 65300\n"
	"pad\n"
	".endr\n"
	".text\n");

static inline __attribute__((always_inline)) int add(int a, int b) { return a + b; }

__attribute__((section(".text.late"))) int late(int n) { return add(n, 1); }
__attribute__((section(".text.later"))) int later(int n) { return add(n, 2) * late(n); }
