package rawdump

import (
	"symkit/internal/wire"
	"symkit/walk/minidump"
)

// context is a CONTEXT structure: the bit of its flags that stands for the CPU, and its text. size
// is that of the structure, which may have more fields than the text.
type context struct {
	flag    uint32
	flagsAt int // where the flags are
	size    int
	text    layout
	wide    bool // flags of 8 bytes
}

// contexts are the structures: CONTEXT of winnt.h and Breakpad's MDRawContext*. rust-minidump has
// no text for PowerPC and SPARC; here these have the style of the others.
var contexts = map[minidump.CPU]*context{
	minidump.CPUX86:      {flag: 0x10000, size: 716, text: x86Context},
	minidump.CPUX86Win64: {flag: 0x10000, size: 716, text: x86Context},
	minidump.CPUAMD64:    {flag: 0x100000, flagsAt: 48, size: 1232, text: amd64Context},
	minidump.CPUARM:      {flag: 0x40000000, size: 368, text: armContext},
	minidump.CPUARM64:    {flag: 0x400000, size: 912, text: arm64Context},
	minidump.CPUARM64Old: {flag: 0x80000000, size: 796, text: arm64OldContext, wide: true},
	minidump.CPUMIPS:     {flag: 0x40000, size: 600, text: mipsContext},
	minidump.CPUPPC:      {flag: 0x20000000, size: 1004, text: ppcContext},
	minidump.CPUPPC64:    {flag: 0x1000000, size: 1160, text: ppc64Context, wide: true},
	minidump.CPUSPARC:    {flag: 0x10000000, size: 584, text: sparcContext},
}

// allContexts are the bits of flags that stand for a CPU.
const allContexts = 0x80000 | 0x20000 | 0x100000 | 0x40000000 | 0x400000 | 0x80000000 | 0x40000 | 0x20000000 |
	0x1000000 | 0x10000000 | 0x10000

// context returns the text of the registers at a place in the file. The text is empty if the
// CPU of the dump has no layout.
func (p *printer) context(c wire.Cursor) layout {
	x := contexts[p.system.cpu]
	if !p.system.read || x == nil || c.Len() < x.size {
		return ""
	}

	flags := c
	flags.Skip(uint64(x.flagsAt))
	n := uint32(0)
	if x.wide {
		n = uint32(flags.U64())
	} else {
		n = flags.U32()
	}
	if n&allContexts != x.flag {
		return ""
	}
	return x.text
}

const x86Context layout = `CONTEXT_X86
  context_flags                = {x4}
  dr0                          = {x4}
  dr1                          = {x4}
  dr2                          = {x4}
  dr3                          = {x4}
  dr6                          = {x4}
  dr7                          = {x4}
  float_save.control_word      = {x4}
  float_save.status_word       = {x4}
  float_save.tag_word          = {x4}
  float_save.error_offset      = {x4}
  float_save.error_selector    = {x4}
  float_save.data_offset       = {x4}
  float_save.data_selector     = {x4}
  float_save.register_area[80] = 0x{b80}
  float_save.cr0_npx_state     = {x4}
  gs                           = {x4}
  fs                           = {x4}
  es                           = {x4}
  ds                           = {x4}
  edi                          = {x4}
  esi                          = {x4}
  ebx                          = {x4}
  edx                          = {x4}
  ecx                          = {x4}
  eax                          = {x4}
  ebp                          = {x4}
  eip                          = {x4}
  cs                           = {x4}
  eflags                       = {x4}
  esp                          = {x4}
  ss                           = {x4}
  extended_registers[512]      = 0x{b512}

`

const amd64Context layout = `CONTEXT_AMD64
  p1_home       = {x8}
  p2_home       = {x8}
  p3_home       = {x8}
  p4_home       = {x8}
  p5_home       = {x8}
  p6_home       = {x8}
  context_flags = {x4}
  mx_csr        = {x4}
  cs            = {x2}
  ds            = {x2}
  es            = {x2}
  fs            = {x2}
  gs            = {x2}
  ss            = {x2}
  eflags        = {x4}
  dr0           = {x8}
  dr1           = {x8}
  dr2           = {x8}
  dr3           = {x8}
  dr6           = {x8}
  dr7           = {x8}
  rax           = {x8}
  rcx           = {x8}
  rdx           = {x8}
  rbx           = {x8}
  rsp           = {x8}
  rbp           = {x8}
  rsi           = {x8}
  rdi           = {x8}
  r8            = {x8}
  r9            = {x8}
  r10           = {x8}
  r11           = {x8}
  r12           = {x8}
  r13           = {x8}
  r14           = {x8}
  r15           = {x8}
  rip           = {x8}

`

var armContext = "CONTEXT_ARM\n  context_flags       = {x4}\n" +
	repeated(16, "  iregs[%2d]            = {x4}\n") + `  cpsr                = {x4}
  float_save.fpscr     = {x8}
` + repeated(32, "  float_save.regs[%2d] = {x8}\n") + repeated(8, "  float_save.extra[%2d] = {x4}\n")

// The registers of arm64 in both of its structures, after the flags.
var arm64Registers = repeated(29, "  x%-2[1]d                  = {x8}\n") + `  x29 (fp)             = {x8}
  x30 (lr)             = {x8}
  sp                   = {x8}
  pc                   = {x8}
`

var arm64Context = "CONTEXT_ARM64\n  context_flags        = {x4}\n{-4}" + arm64Registers + `  cpsr                 = {x4@4}
  fpsr                 = {x4@788}
  fpcr                 = {x4@784}
{-0@272}` + repeated(32, "  d%-2[1]d = {x16}\n") + "{-8}" + repeated(8, "  bcr[%2d] = {x4}\n") +
	repeated(8, "  bvr[%2d] = {x8}\n") + repeated(2, "  wcr[%2d] = {x4}\n") + repeated(2, "  wvr[%2d] = {x8}\n")

var arm64OldContext = "CONTEXT_ARM64_OLD\n  context_flags        = {x8}\n" + arm64Registers + `  cpsr                 = {x4}
  fpsr                 = {x4}
  fpcr                 = {x4}
` + repeated(32, "  d%-2[1]d = {x16}\n")

// The registers s0 to s7, gp, sp, fp and ra, from the array of all at offset 8.
const mipsContext layout = `CONTEXT_MIPS
  context_flags       = {x4}
  s0                = {x8@136}
  s1                = {x8}
  s2                = {x8}
  s3                = {x8}
  s4                = {x8}
  s5                = {x8}
  s6                = {x8}
  s7                = {x8}
  gp                = {x8@232}
  sp                = {x8}
  fp                = {x8}
  ra                = {x8}
`

var ppcContext = `CONTEXT_PPC
  context_flags       = {x4}
  srr0                = {x4}
  srr1                = {x4}
` + repeated(32, "  gpr[%2d]             = {x4}\n") + `  cr                  = {x4}
  xer                 = {x4}
  lr                  = {x4}
  ctr                 = {x4}
`

var ppc64Context = `CONTEXT_PPC64
  context_flags       = {x8}
  srr0                = {x8}
  srr1                = {x8}
` + repeated(32, "  gpr[%2d]             = {x8}\n") + `  cr                  = {x8}
  xer                 = {x8}
  lr                  = {x8}
  ctr                 = {x8}
`

var sparcContext = "CONTEXT_SPARC\n  context_flags       = {x4}\n{-4}" +
	repeated(32, "  g_r[%2d]             = {x8}\n") + `  ccr                 = {x8}
  pc                  = {x8}
  npc                 = {x8}
  y                   = {x8}
  asi                 = {x8}
  fprs                = {x8}
`
