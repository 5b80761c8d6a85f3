package peers

import (
	"bufio"
	"fmt"
	"strings"

	"symkit/walk"
)

// peerText has the methods that the texts of Breakpad and rust-minidump share.
type peerText struct {
	*bufio.Writer
	r *walk.Result
}

func (w *peerText) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// failed reports whether an earlier write has failed.
func (w *peerText) failed() bool {
	_, err := w.Write(nil)
	return err != nil
}

// peerRegisters are the registers of a frame that both tools show, in their order, by
// CPU. After = is the name that the register has here.
var peerRegisters = map[string][]string{
	"x86":     strings.Fields("eip esp ebp ebx esi edi"),
	"x86_64":  strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip"),
	"arm":     strings.Fields("r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r12 fp=r11 sp lr pc"),
	"arm64":   strings.Fields("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 fp=x29 lr=x30 sp pc"),
	"mips":    strings.Fields("gp sp fp ra pc s0 s1 s2 s3 s4 s5 s6 s7"),
	"mips64":  strings.Fields("gp sp fp ra pc s0 s1 s2 s3 s4 s5 s6 s7"),
	"ppc":     strings.Fields("srr0=pc r1"),
	"sparc":   strings.Fields("sp=o6 fp=i6 pc"),
	"riscv":   strings.Fields("pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"),
	"riscv64": strings.Fields("pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"),
}

// registers prints the registers that are known in a frame, as many to a line as fit into
// 80 columns. names are their names, width is that of a name.
func (w *peerText) registers(f *walk.Frame, registers []walk.NamedRegister, names []string, width, digits int) {
	known := map[string]uint64{}
	for _, reg := range registers {
		known[reg.Name] = reg.Value
	}
	if f.Trust != walk.TrustContext && w.r.Process.CPU == "arm" {
		known["pc"] = f.Saved
	}

	line := ""
	for _, name := range names {
		name, here, renamed := strings.Cut(name, "=")
		if !renamed {
			here = name
		}
		v, ok := known[here]
		if !ok {
			continue
		}
		next := fmt.Sprintf(" %*s = 0x%0*x", width, name, digits, v)
		if len(line)+len(next) > 80 {
			w.printf(" %s\n", line)
			line = ""
		}
		line += next
	}
	if line != "" {
		w.printf(" %s\n", line)
	}
}
