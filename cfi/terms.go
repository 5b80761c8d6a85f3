package cfi

import (
	"math/bits"

	"symkit/internal/wire"
)

// The kinds of term that are not operators of postfix.
const (
	termNum = 'n'
	termReg = 'r'
	termCFA = 'c'
)

// compiler turns a DWARF expression into postfix. compiler runs the expression on a stack
// of terms instead of numbers; the term on top at the end is the result. Postfix has only
// the operators + - * / % @ ^, all of them unsigned. Any other operation is refused
// unless these operators give the same value (terms.go).
type compiler struct {
	arch  *Arch
	terms []term
	stack []int // of indices in terms
	c     wire.Cursor
	bad   bool

	readsPC bool // the expression reads the PC
	known   bool // pc is the value of the PC
	pc      uint64
}

// term is a value in a DWARF expression: a number, a register, the CFA, or an operator of
// postfix on the terms a and b.
type term struct {
	op   byte
	a, b int
	val  int64 // termNum: folded to the word; termReg: its number
	// bound means that the value is known to be in [0, max], so that signed and unsigned
	// operations on the term agree.
	bound bool
	max   int64
	size  int // in tokens, as a tree
}

// maxBound keeps sums and products of bounded terms far from the sign bit of a
// 32-bit word.
const maxBound = 1 << 30

// add adds a term and returns its index. A term longer than maxTokens makes the
// expression bad, because `dup plus` doubles the text each time.
func (k *compiler) add(t term) int {
	if t.size == 0 {
		t.size = 1
	}
	if t.size > maxTokens {
		k.bad = true
		t = term{op: termNum, size: 1}
	}

	k.terms = append(k.terms, t)
	return len(k.terms) - 1
}

func (k *compiler) num(v int64) int {
	if k.arch.WordSize == 4 {
		v = int64(int32(v))
	}
	return k.add(term{op: termNum, val: v, bound: v >= 0 && v < maxBound, max: v})
}

// value returns the number of term i; ok is false if term i is not a number.
func (k *compiler) value(i int) (int64, bool) {
	return k.terms[i].val, k.terms[i].op == termNum
}

func (k *compiler) bounded(i int) bool { return k.terms[i].bound }

func (k *compiler) deref(a int) int {
	return k.add(term{op: '^', a: a, size: k.terms[a].size + 1})
}

// derefSize returns the term of n bytes in memory: a whole word, or, on a little-endian
// machine, the low part of the word at the address.
func (k *compiler) derefSize(a int, n uint8) int {
	switch word := uint8(k.arch.WordSize); {
	case n == word:
		return k.deref(a)
	case k.c.BigEndian() || n != 1 && n != 2 && n != 4 || n > word:
		k.bad = true
		return a
	}

	// The word modulo 2^(8n) is its low n bytes.
	limit := int64(1) << (8 * n)
	return k.boundTerm('%', k.deref(a), k.num(limit), limit-1)
}

// binaryTerm adds the term a b op. No bound of the term is known.
func (k *compiler) binaryTerm(op byte, a, b int) int {
	return k.add(term{op: op, a: a, b: b, size: k.terms[a].size + k.terms[b].size + 1})
}

// boundTerm adds the term a b op, whose value is known to be in [0, max].
func (k *compiler) boundTerm(op byte, a, b int, max int64) int {
	i := k.binaryTerm(op, a, b)
	k.terms[i].bound, k.terms[i].max = max < maxBound, max
	return i
}

func (k *compiler) plus(a, b int) int {
	x, aIsNum := k.value(a)
	y, bIsNum := k.value(b)
	if aIsNum && !bIsNum { // numbers to the right
		return k.plus(b, a)
	}

	// Fold numbers: x + y, a + 0, and (a + x) + y.
	switch t := &k.terms[a]; {
	case aIsNum && bIsNum:
		return k.num(x + y)
	case bIsNum && y == 0:
		return a
	case bIsNum && t.op == '+' && k.terms[t.b].op == termNum:
		return k.plus(t.a, k.num(k.terms[t.b].val+y))
	}

	// A sum of bounded terms is bounded.
	if k.bounded(a) && k.bounded(b) {
		return k.boundTerm('+', a, b, k.terms[a].max+k.terms[b].max)
	}
	return k.binaryTerm('+', a, b)
}

func (k *compiler) minus(a, b int) int {
	if y, ok := k.value(b); ok {
		return k.plus(a, k.num(-y))
	}
	return k.binaryTerm('-', a, b)
}

func (k *compiler) times(a, b int) int {
	x, aIsNum := k.value(a)
	y, bIsNum := k.value(b)
	switch {
	case aIsNum && bIsNum:
		return k.num(x * y)
	case k.bounded(a) && k.bounded(b):
		return k.boundTerm('*', a, b, k.terms[a].max*k.terms[b].max)
	}
	return k.binaryTerm('*', a, b)
}

// and returns the term of a bitwise AND. A mask of the low bits becomes `%`, a mask of
// all but the low bits becomes `@`. Both are right for every operand, because 2^bits of
// the word is a multiple of both divisors.
func (k *compiler) and(a, b int) int {
	if _, ok := k.value(a); ok {
		a, b = b, a
	}

	// Postfix has no operator for an operand that is no low mask, no high mask and no truth
	// value.
	x, aIsNum := k.value(a)
	m, ok := k.value(b)
	switch {
	case ok && aIsNum:
		return k.num(x & m)
	case ok && m == 0:
		return k.num(0)
	case ok && m > 0 && m&(m+1) == 0 && m < k.maxMask():
		return k.boundTerm('%', a, k.num(m+1), m)
	case ok && m < -1 && -m&(-m-1) == 0 && -m < k.maxMask():
		return k.binaryTerm('@', a, k.num(-m))
	case ok && m == -1:
		return a
	case k.truth(a) && k.truth(b):
		return k.times(a, b)
	}

	k.bad = true
	return a
}

// maxMask bounds masks so that the divisor that stands for a mask is a positive number.
func (k *compiler) maxMask() int64 {
	if k.arch.WordSize == 4 {
		return maxBound
	}
	return 1 << 62
}

// truth reports whether the value of term i is known to be 0 or 1.
func (k *compiler) truth(i int) bool { return k.bounded(i) && k.terms[i].max <= 1 }

func (k *compiler) or(a, b int) int {
	x, aIsNum := k.value(a)
	y, bIsNum := k.value(b)
	switch {
	case aIsNum && bIsNum:
		return k.num(x | y)
	case bIsNum && y == 0:
		return a
	case aIsNum && x == 0:
		return b
	case k.truth(a) && k.truth(b): // a + b >= 1
		return k.atLeast(k.plus(a, b), 1)
	}

	k.bad = true
	return a
}

// fold returns the value of an operation on two numbers in the width of the word; ok is
// false if an operand is not a number, or if evaluators disagree.
func (k *compiler) fold(op uint8, a, b int) (v int64, ok bool) {
	x, aIsNum := k.value(a)
	y, bIsNum := k.value(b)
	if !aIsNum || !bIsNum {
		return 0, false
	}

	// Processors disagree on a shift by the width of the word or more.
	inWord := y >= 0 && y < int64(8*k.arch.WordSize)
	switch op {
	case exXor:
		return x ^ y, true
	case exDiv:
		if y != 0 {
			return x / y, true
		}
	case exMod: // unsigned in most evaluators, signed in some
		if x >= 0 && y > 0 {
			return x % y, true
		}
	case exShl:
		return x << (y & 63), inWord
	case exShr:
		return int64(mask(uint64(x), k.arch.WordSize) >> (y & 63)), inWord
	case exShra:
		return x >> (y & 63), inWord
	}
	return foldCompare(op, x, y)
}

func foldCompare(op uint8, x, y int64) (v int64, ok bool) {
	var holds bool
	switch op {
	case exEq:
		holds = x == y
	case exNe:
		holds = x != y
	case exGe:
		holds = x >= y
	case exGt:
		holds = x > y
	case exLe:
		holds = x <= y
	case exLt:
		holds = x < y
	default:
		return 0, false
	}
	if holds {
		v = 1
	}
	return v, true
}

// abs returns the absolute value of a number, or of a term that cannot be negative.
func (k *compiler) abs(a int) int {
	if x, ok := k.value(a); ok {
		return k.num(max(x, -x))
	}
	k.bad = k.bad || !k.bounded(a)
	return a
}

// divide returns the term of a division or remainder. The divisor must be a positive
// number, because readers crash on zero, and the dividend cannot be negative.
func (k *compiler) divide(op uint8, a, b int) int {
	n, ok := k.value(b)
	switch {
	case !ok || n <= 0 || n >= maxBound || !k.bounded(a):
		k.bad = true
		return a
	case op == exDiv:
		return k.boundTerm('/', a, b, k.terms[a].max/n)
	}
	return k.boundTerm('%', a, b, min(n-1, k.terms[a].max))
}

// shift returns the term of a shift by a known number of bits. A logical shift to the
// right is also possible for a whole word, which is unsigned: a register, or a word in
// memory.
func (k *compiler) shift(op uint8, a, b int) int {
	n, ok := k.value(b)
	if !ok || n < 0 || n > 30 {
		k.bad = true
		return a
	}

	// Shifts are products with, and quotients by, a power of two.
	t := k.terms[a]
	word := t.op == termReg || t.op == '^'
	switch p := k.num(1 << n); {
	case n == 0:
		return a
	case op == exShl:
		return k.times(a, p)
	case t.bound:
		return k.boundTerm('/', a, p, t.max>>n)
	case op == exShr && word:
		return k.binaryTerm('/', a, p)
	}

	k.bad = true
	return a
}

// compare returns the truth value of a comparison of a bounded term with a number, which
// may be on either side.
func (k *compiler) compare(op uint8, a, b int) int {
	n, ok := k.value(b)
	if !ok {
		// Bring the number to the right side.
		flip := map[uint8]uint8{exGe: exLe, exGt: exLt, exLe: exGe, exLt: exGt}
		if f, found := flip[op]; found {
			op = f
		}
		a, b = b, a
		n, ok = k.value(b)
	}
	if !ok || !k.bounded(a) || n <= -maxBound || n >= maxBound {
		k.bad = true
		return a
	}

	// Every comparison is made of a >= n, and 1 − x as the negation.
	not := func(i int) int { return k.boundTerm('-', k.num(1), i, 1) }
	switch op {
	case exGe:
		return k.atLeast(a, n)
	case exGt:
		return k.atLeast(a, n+1)
	case exLt:
		return not(k.atLeast(a, n))
	case exLe:
		return not(k.atLeast(a, n+1))
	}

	// a = n if a reaches n but not n + 1.
	equal := k.minus(k.atLeast(a, n), k.atLeast(a, n+1))
	k.terms[equal].bound, k.terms[equal].max = true, 1
	if op == exNe {
		return not(equal)
	}
	return equal
}

// atLeast returns a term that is 1 if the bounded term a is n or more, else 0. The
// quotient a/n is that term if the quotient cannot reach 2: in a PLT, (pc & 15) / 11.
// Otherwise atLeast adds a constant to a, so that n becomes a power of two above max,
// which the sum cannot reach twice.
func (k *compiler) atLeast(a int, n int64) int {
	top := k.terms[a].max
	switch {
	case n <= 0:
		return k.num(1)
	case n > top:
		return k.num(0)
	case n == 1 && top == 1:
		return a
	case top < 2*n:
		return k.boundTerm('/', a, k.num(n), 1)
	}

	// The divisor is above a's maximum, so a + divisor − n is below twice the divisor.
	divisor := int64(1) << bits.Len64(uint64(top))
	return k.boundTerm('/', k.plus(a, k.num(divisor-n)), k.num(divisor), 1)
}
