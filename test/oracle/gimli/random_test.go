//go:build oracle

package gimli

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/test/oracle"
)

// TestCorpusEvalRandom has rules that no compiler writes: random expressions.
func TestCorpusEvalRandom(t *testing.T) {
	for _, target := range targets {
		arch := randomArchs[target.triplet]
		if arch == "" {
			continue
		}
		t.Run(target.triplet, func(t *testing.T) {
			g := &ruleGenerator{
				rand: rand.New(rand.NewPCG(1, 2)), arch: cfi.ArchByName(arch), order: binary.LittleEndian,
			}
			if arch == "s390x" || arch == "mips" {
				g.order = binary.BigEndian
			}
			out := filepath.Join(t.TempDir(), "random.so")
			e := target
			e.input = g.source(2000)
			e.run(t, "gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", out)
			w := sweepValues(t, &oracle.Input{Name: "random", Main: out}, true)
			t.Logf("%s\n%s; %d values have no rule", tableHead, &w.counts, w.refused)
			if w.refused*8 > int(w.values) || w.lost*8 > w.rows {
				t.Errorf("too few rules for this test to mean something")
			}
		})
	}
}

var randomArchs = map[string]string{
	"x86_64-linux-gnu": "x86_64", "i686-linux-gnu": "x86", "aarch64-linux-gnu": "arm64",
	"riscv64-linux-gnu": "riscv64", "s390x-linux-gnu": "s390x", "mips-linux-gnu": "mips",
}

// ruleGenerator makes assembly source with random call frame information.
type ruleGenerator struct {
	rand  *rand.Rand
	arch  *cfi.Arch
	order binary.AppendByteOrder
	expr  []byte
	depth int // of its stack
}

// source returns n functions of some rows each.
func (g *ruleGenerator) source(n int) string {
	var b strings.Builder
	b.WriteString(".text\n")
	for i := range n {
		fmt.Fprintf(&b, "f%d:\n.cfi_startproc\n", i)
		for range 1 + g.rand.IntN(4) {
			b.WriteString(g.instruction())
			fmt.Fprintf(&b, ".skip %d\n", 4*(1+g.rand.IntN(5)))
		}
		b.WriteString(".cfi_endproc\n")
	}
	return b.String()
}

// instruction returns DW_CFA_def_cfa_expression, DW_CFA_expression,
// DW_CFA_val_expression (DWARF 5 §6.4.2) or a plain one.
func (g *ruleGenerator) instruction() string {
	r := g.register()
	switch g.rand.IntN(12) {
	case 0:
		return fmt.Sprintf(".cfi_undefined %d\n", r)
	case 1:
		return fmt.Sprintf(".cfi_same_value %d\n", r)
	case 2:
		return fmt.Sprintf(".cfi_restore %d\n", r)
	case 3:
		return fmt.Sprintf(".cfi_def_cfa %d, 16\n", g.arch.SP)
	case 4:
		return fmt.Sprintf(".cfi_register %d, %d\n", r, g.register())
	case 5, 6:
		g.expression(0)
		return g.escape(0x0f)
	case 7, 8:
		g.expression(1)
		return g.escape(0x10, byte(r))
	default:
		g.expression(1)
		return g.escape(0x16, byte(r))
	}
}

func (g *ruleGenerator) escape(head ...byte) string {
	bytes := append(append(head, byte(len(g.expr))), g.expr...)
	return ".cfi_escape " + strings.Trim(strings.ReplaceAll(fmt.Sprint(bytes), " ", ","), "[]") + "\n"
}

// register returns a register with a name, other than the program counter.
func (g *ruleGenerator) register() cfi.Reg {
	for {
		r := cfi.Reg(g.rand.IntN(32))
		if name := g.arch.RegName(r); name != "" && name != g.arch.PC {
			return r
		}
	}
}

// expression makes an expression that leaves a value, from a stack of depth.
func (g *ruleGenerator) expression(depth int) {
	g.expr, g.depth = g.expr[:0], depth
	for n := 1 + g.rand.IntN(6); n > 0 || g.depth == 0; n-- {
		g.operation()
	}
}

func (g *ruleGenerator) emit(effect int, b ...byte) {
	g.depth += effect
	g.expr = append(g.expr, b...)
}

// operation adds operations that the stack has operands for.
func (g *ruleGenerator) operation() {
	kind := g.rand.IntN(10)
	switch {
	case kind < 3 || g.depth == 0:
		g.operand()
	case kind < 4: // stack operators
		g.shuffle()
	case kind < 5: // deref, neg, not, abs, nop
		g.emit(0, pickByte(g.rand, 0x06, 0x06, 0x1f, 0x20, 0x19, 0x96))
	case kind < 6:
		g.emit(0, 0x23, byte(g.rand.IntN(128)))
	case kind < 7 && g.depth >= 2: // plus, minus, mul
		g.emit(-1, pickByte(g.rand, 0x22, 0x22, 0x1c, 0x1e))
	case kind < 8: // a mask of low bits, so that what follows is small
		g.emit(1, 0x30+byte(1<<g.rand.IntN(5)-1))
		g.emit(-1, 0x1a)
	default: // any operator with a number
		g.emit(1, 0x30+byte(g.rand.IntN(32)))
		g.emit(-1, pickByte(g.rand, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27,
			0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e))
	}
}

// shuffle adds dup, over, swap or rot.
func (g *ruleGenerator) shuffle() {
	switch g.rand.IntN(min(g.depth, 3)) {
	case 0:
		g.emit(1, 0x12)
	case 1:
		g.emit(0, 0x16)
		g.emit(1, 0x14)
	case 2:
		g.emit(0, 0x17)
	}
}

// operand adds an operation that pushes an operand.
func (g *ruleGenerator) operand() {
	v := g.rand.Uint64()
	leb := byte(v & 0x7f)
	switch g.rand.IntN(12) {
	case 0:
		g.emit(1, 0x08+byte(v&1), byte(v>>8)) // const1
	case 1:
		g.emit(1, g.order.AppendUint16([]byte{0x0a + byte(v&1)}, uint16(v>>8))...) // const2
	case 2:
		g.emit(1, g.order.AppendUint32([]byte{0x0c + byte(v&1)}, uint32(v>>8))...) // const4
	case 3:
		g.emit(1, g.order.AppendUint64([]byte{0x0e + byte(v&1)}, v)...) // const8
	case 4:
		g.emit(1, 0x10+byte(v>>8&1), leb) // constu, consts
	case 5, 6:
		g.emit(1, 0x30+byte(v&31)) // lit
	case 7:
		g.emit(1, 0x92, byte(g.register()), leb) // bregx
	case 8:
		if pc, ok := g.arch.Reg(g.arch.PC); ok {
			g.emit(1, 0x92, byte(pc), 0)
			return
		}
		g.emit(1, 0x30)
	default:
		g.emit(1, 0x70+byte(g.register()), leb) // breg
	}
}

func pickByte(r *rand.Rand, from ...byte) byte { return from[r.IntN(len(from))] }
