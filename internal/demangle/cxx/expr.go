package cxx

import (
	"strings"
	"sync"

	"symkit/internal/demangle/lex"
)

// This file reads <expression> (Itanium C++ ABI §5.1.6.1). Expressions are in the names of
// templates: as arguments, in decltype, in noexcept, as dimensions of arrays, and in
// constraints, which are not written.

// exprOp is an operator. forms are its operands: e is an expression, t a type, n a member's
// name, * expressions up to an E. pattern is how the operator is written: # is an operand in
// parentheses unless it is a name, @ one without, * all others, all else stands for itself.
type exprOp struct{ forms, pattern string }

// exprList are the operators that have nothing but operands: code, forms, pattern. Codes of
// more than two letters are made up here.
const exprList = `nt e !#;ng e -#;ps e +#;co e ~#;de e \*#;aa ee #&&#;oo ee #||#;eq ee #==#;ne ee #!=#;lt ee #<#;le ee #<=#;` +
	`gt ee (#>#);ge ee #>=#;ss ee #<=>#;pl ee #+#;mi ee #-#;ml ee #\*#;dv ee #/#;rm ee #%#;an ee #&#;or ee #|#;eo ee #^#;` +
	`aS ee #=#;pL ee #+=#;mI ee #-=#;mL ee #\*=#;dV ee #/=#;rM ee #%=#;aN ee #&=#;oR ee #|=#;eO ee #^=#;ls ee #<<#;` +
	`rs ee #>>#;lS ee #<<=#;rS ee #>>=#;cm ee #,#;ix ee #[@];pm ee #->\*#;ds ee #.\*#;dt en #.#;pt en #->#;qu eee #?# : #;` +
	`cl e* #(*);cp e* #(*);tl t* @{*};il * {*};dc te dynamic_cast<@>(@);sc te static_cast<@>(@);cc te const_cast<@>(@);` +
	`rc te reinterpret_cast<@>(@);ti t typeid (@);te e typeid #;st t sizeof (@);sz e sizeof #;at t alignof (@);` +
	`az e alignof #;nx e noexcept(@);tw e throw #;tr  throw;dl e delete #;da e delete[] #;di ne .@=#;dx ee [@]=#;` +
	`dX eee [@ ... @]=#;sy ee (#...)[@];pp e #++;mm e #--;pp_ e ++#;mm_ e --#;cv te (@)#;cv_ t* (@)(*);gs e ::@;` +
	`sZ e sizeof...(@);fl e (...$#);fr e (#$...);fL ee (#$...$#);fR ee (#$...$#);nw t new @;nw( et new (@) @;` +
	`nwi te new @(@);nw(i ete new (@) @(@);nwb te new @@;nw(b ete new (@) @@;na t new[] @;na( et new[] (@) @;` +
	`nai te new[] @(@);na(i ete new[] (@) @(@);nab te new[] @@;na(b ete new[] (@) @@;mc te (@)#;rq  requires {...}`

// exprTable has the operators, and their numbers by code.
type exprTable struct {
	ops   []exprOp
	index map[string]ref
}

// exprs returns the table of exprList, which is made for the first expression.
var exprs = sync.OnceValue(func() *exprTable {
	t := &exprTable{ops: make([]exprOp, 1), index: map[string]ref{}}
	for o := range strings.SplitSeq(exprList, ";") {
		code, rest, _ := strings.Cut(o, " ")
		forms, pattern, _ := strings.Cut(rest, " ")
		t.index[code] = ref(len(t.ops))
		t.ops = append(t.ops, exprOp{forms, pattern})
	}
	return t
})

// expression reads an <expression>.
func (x *tree) expression() (a ref) {
	if !x.enter() {
		return 0
	}
	defer x.leave()

	// Operands first, then operators.
	switch c, next := x.peek(), x.peek2(); {
	case c == 'L':
		return x.literal()
	case c == 'T':
		return x.templateParam()
	case c == 'X':
		x.pos++
		a = x.expression()
		x.expect('E')
		return a
	case lex.IsDigit(c), c == 'o' && next == 'n', c == 'd' && next == 'n':
		return x.member()
	case c == 'f' && (next == 'p' || next == 'L' && lex.IsDigit(x.at(2))):
		return x.argument()
	case c == 'f':
		return x.fold()
	case c == 'u', c == 'v' && lex.IsDigit(next):
		return x.vendorOperation()
	}
	return x.operation()
}

// operation reads an operator and its operands.
func (x *tree) operation() ref {
	code := string([]byte{x.peek(), x.peek2()})
	x.pos = min(x.pos+2, len(x.in))
	switch code {
	case "ad":
		return x.one(kindAddress, x.expression())
	case "sp":
		return x.expansion(x.expression())
	case "sr":
		return x.unresolvedName()
	case "sZ":
		return x.packSize(x.expression())
	case "sP":
		mark := len(x.open)
		for !x.failed && !x.accept('E') {
			x.open = append(x.open, x.templateArg())
		}
		return x.packSize(x.many(kindPack, 0, mark))
	case "nw", "na":
		return x.newOperation(code)
	case "rq", "rQ":
		return x.requirements(code)
	case "mc", "so":
		return x.subobject(code)
	case "pp", "mm", "cv": // _ before an operand, or a list instead of one
		if code != "cv" && x.accept('_') {
			code += "_"
		}
	}

	// All others have only operands.
	t := exprs()
	op := t.index[code]
	if op == 0 {
		return x.fail()
	}
	mark := len(x.open)
	if code == "cv" {
		x.open = append(x.open, x.typ())
		if x.accept('_') {
			x.expressions('E')
			return x.operator("cv_", mark)
		}
		x.open = append(x.open, x.expression())
		return x.operator(code, mark)
	}
	x.operands(t.ops[op].forms)
	return x.operator(code, mark)
}

// operator adds the node of an operator with the operands on x.open from mark on.
func (x *tree) operator(code string, mark int) ref {
	a := x.many(kindOperation, 0, mark)
	x.nodes[a].b = exprs().index[code]
	return a
}

// operands reads operands onto x.open: see exprOp.
func (x *tree) operands(forms string) {
	for _, form := range forms {
		switch form {
		case 'e':
			a := x.expression()
			x.open = append(x.open, a)
		case 't':
			a := x.typ()
			x.open = append(x.open, a)
		case 'n':
			a := x.member()
			x.open = append(x.open, a)
		case '*':
			x.expressions('E')
		}
	}
}

// expressions reads expressions up to a letter onto x.open.
func (x *tree) expressions(end byte) {
	for !x.failed && !x.accept(end) {
		a := x.expression()
		x.open = append(x.open, a)
	}
}
