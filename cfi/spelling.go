package cfi

import (
	"strconv"

	"symkit/internal/wire"
)

// Reason is the reason for which part of a row is missing from the text.
type Reason uint8

// The reasons. A row without CFA or return address has no record. A register whose rule
// cannot be expressed is written as undefined.
const (
	expressed Reason = iota
	// noCFA: the row has no rule for the CFA.
	noCFA
	// cfaInexpressible: the CFA's expression has no postfix, or its register no name.
	cfaInexpressible
	// noReturnAddress: the row has no rule for the return address, and the machine has no
	// link register.
	noReturnAddress
	// returnAddressInexpressible: the rule's expression has no postfix, or its register
	// no name.
	returnAddressInexpressible
	// registerInexpressible: the same for another register, which is written as `.undef`.
	registerInexpressible
	// UnnamedRegister: the rule of a register without a name is left out.
	UnnamedRegister

	numReasons
)

// String returns the reason in words, for a count of rows or rules.
func (r Reason) String() string {
	return [numReasons]string{
		"expressed",
		"rows without CFA",
		"rows whose CFA cannot be expressed",
		"rows without return address",
		"rows whose return address cannot be expressed",
		"register rules that cannot be expressed",
		"rules of registers without name",
	}[r]
}

// Stats counts the rules that are missing from the text, by Reason.
type Stats [numReasons]uint64

const (
	// MaxByPC is the initial value of Text.ByPC: enough for a PLT of some hundred
	// slots, and few enough to bound the time for a forged section of such rows.
	MaxByPC = 1 << 16
	// byPCBytes is the number of bytes of text that cost as much as a PC.
	byPCBytes = 8
	// maxByPCExpr bounds the expressions, in bytes: ten times those of a PLT, which have 14 at most.
	maxByPCExpr = 160
	// otherLoad is a possible distance of a module's load address from its link
	// address: a multiple of every page size.
	otherLoad = 1 << 28
)

// Text turns rows into STACK CFI records: rows of an FDE, of SFrame, or of both merged.
//
// An INIT record has all rules, a later record the changed ones: `.cfa` first, then
// `.ra`, then registers in the order of their names. If the format cannot express the CFA
// or the return address of a row, the row ends the range before: no record covers the
// row's PCs, so no reader uses a rule that is no longer valid. If a rule depends on the
// PC and postfix cannot express the dependence, the row becomes one range for each run of
// PCs with the same text. The zero Text is not usable; see NewText.
type Text struct {
	Stats Stats
	// BigEndian is the byte order of the operands in DWARF expressions.
	BigEndian bool
	// ByPC bounds the work on rows that are tried at every PC, and the size of their
	// text. Once ByPC is used up, rules that depend on the PC cannot be expressed.
	ByPC int

	arch       *Arch
	ra, column Reg // of the return address: in the last row, and as the CIE has it
	// open means that the last INIT record continues at address end.
	open bool
	end  uint64
	init int // its index in recs

	cache   ruleCache
	state   uint32 // number of the last row's state in cache, or 0
	prev    Row    // the last row, with Regs of its own; out of date if state is not 0
	changes []change
	recs    []record
	buf     []byte
	exprs   compiler
	needPC  bool // a rule of the row can be expressed only if the PC is known
}

type record struct {
	addr, size uint64
	from, upto int // of buf
	number     int // of the text in cache, or 0; if not 0, from and upto are of cache.text
}

// change is a register whose rule has to be written.
type change struct {
	rank uint16
	RegRule
}

// NewText returns a Text for rows of arch.
func NewText(arch *Arch) *Text {
	t := &Text{arch: arch.ready(), ra: arch.RA, column: arch.RA, ByPC: MaxByPC}
	t.exprs.arch = arch
	return t
}

// cfa appends the rule of row's CFA and a space.
func (t *Text) cfa(row *Row) Reason {
	r := row.CFA
	t.buf = append(t.buf, ".cfa: "...)
	switch {
	case r.Kind == KindNone:
		return noCFA
	case r.Kind != KindReg && r.Kind != KindMemReg && r.Kind != KindExpr, !t.value(row, r, true):
		return cfaInexpressible
	}

	t.buf = append(t.buf, ' ')
	return expressed
}

// returnAddress appends r, row's rule for the return address, and a space.
func (t *Text) returnAddress(row *Row, r Rule) Reason {
	t.buf = append(t.buf, ".ra: "...)

	// Without a rule, the return address is still in the link register.
	switch {
	case r.Kind == KindUndefined:
		t.buf = strconv.AppendInt(t.buf, t.arch.End, 10)
	case r.Kind != KindNone && r.Kind != KindSame:
		if !t.value(row, r, false) {
			return returnAddressInexpressible
		}
	case !t.arch.LinkRegister:
		return noReturnAddress
	case !t.name(t.ra):
		return returnAddressInexpressible
	}

	t.buf = append(t.buf, ' ')
	return expressed
}

// register appends row's rule of a register that has a name, and a space.
func (t *Text) register(row *Row, r *RegRule) {
	t.name(r.Reg)
	t.buf = append(t.buf, ": "...)
	from := len(t.buf)

	// Without a rule, the stack pointer has its value of the ABI.
	rule := r.Rule
	if rule.Kind == KindNone && r.Reg == t.arch.SP {
		rule = Rule{Kind: KindCFA, Off: t.arch.SPOffset}
	}

	// An unchanged register is its own value: "$rbx: $rbx".
	switch {
	case rule.Kind == KindNone || rule.Kind == KindSame:
		t.name(r.Reg)
	case rule.Kind == KindUndefined:
		t.buf = append(t.buf, ".undef"...)
	case !t.value(row, rule, false):
		t.Stats[registerInexpressible]++
		t.buf = append(t.buf[:from], ".undef"...)
	}

	t.buf = append(t.buf, ' ')
}

// name appends the name of register r; it returns false if the register has none.
func (t *Text) name(r Reg) bool {
	name := t.arch.RegName(r)
	t.buf = append(t.buf, name...)
	return name != ""
}

// value appends the postfix of a rule of row. If the rule cannot be expressed, value
// returns false, possibly after appending a part. cfa means that the rule is the CFA's.
func (t *Text) value(row *Row, r Rule, cfa bool) bool {
	switch r.Kind {
	case KindMemCFA:
		t.buf = append(t.buf, ".cfa "...)
		t.offset(r.Off, " + ^")
	case KindCFA:
		t.buf = append(t.buf, ".cfa "...)
		t.offset(r.Off, " +")
	case KindReg, KindMemReg:
		if !t.name(r.Reg) {
			return false
		}

		// A CFA always has an offset, even 0; a register alone is its plain value.
		switch {
		case r.Kind == KindMemReg:
			t.buf = append(t.buf, ' ')
			t.offset(r.Off, " + ^")
		case cfa || r.Off != 0:
			t.buf = append(t.buf, ' ')
			t.offset(r.Off, " +")
		}
	case KindExpr, KindMemExpr:
		return t.expression(row.Expr(r), r.Kind, cfa)
	}
	return true
}

func (t *Text) offset(off int64, rest string) {
	t.buf = strconv.AppendInt(t.buf, off, 10)
	t.buf = append(t.buf, rest...)
}

// expression appends the postfix of a rule of KindExpr or KindMemExpr whose DWARF
// expression is expr. The stack starts with the CFA for the rule of a register (DWARF 5
// §6.4.2.3), and empty for the rule of the CFA. The result is false if postfix cannot
// express the rule.
func (t *Text) expression(expr []byte, kind Kind, cfa bool) bool {
	k := &t.exprs
	if len(expr) > maxExprBytes || k.known && len(expr) > maxByPCExpr {
		return false
	}

	// Start with an empty stack, or with the CFA on it.
	k.terms, k.stack, k.bad, k.readsPC = k.terms[:0], k.stack[:0], false, false
	k.c = wire.New("expression", expr, t.BigEndian)
	if !cfa {
		k.push(k.add(term{op: termCFA}))
	}

	// Run the operations.
	for k.c.Len() > 0 && !k.bad {
		k.step(k.c.U8())
	}

	// The top of the stack is the value, or its address.
	root := k.pop()
	if kind == KindMemExpr {
		root = k.deref(root)
	}

	// An expression that reads the PC may be expressible once the PC is a known number:
	// byPC then tries again.
	if k.bad || k.c.Err() != nil {
		t.needPC = t.needPC || k.readsPC
		return false
	}

	t.buf = k.text(t.buf, root)

	// A CFA that is a register has the text of the same CFA from DW_CFA_def_cfa.
	if cfa {
		t.buf = k.zero(t.buf, root)
	}
	return true
}
