package cfi

import "strconv"

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
