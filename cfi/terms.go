package cfi

import "math/bits"

// The kinds of term that are no operator of postfix.
const (
	termNum = 'n'
	termReg = 'r'
	termCFA = 'c'
)

// term is a value the expression computes: a number, a register, the CFA, or
// an operator of postfix on the terms a and b.
type term struct {
	op   byte
	a, b int
	val  int64 // termNum: folded to the word; termReg: its number
	// bound: the value is known to be in [0, max], so that signed and unsigned
	// operations agree on it.
	bound bool
	max   int64
	size  int // in tokens, as a tree
}

// maxBound keeps sums and products of bounded terms far from the sign bit of a
// 32-bit word.
const maxBound = 1 << 30

// add makes a term. One that would be longer than maxTokens makes the
// expression bad: `dup plus` doubles the text each time.
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

// value is the number that term i is.
func (k *compiler) value(i int) (int64, bool) {
	return k.terms[i].val, k.terms[i].op == termNum
}

func (k *compiler) bounded(i int) bool { return k.terms[i].bound }

func (k *compiler) deref(a int) int {
	return k.add(term{op: '^', a: a, size: k.terms[a].size + 1})
}

// derefSize is a number of n bytes in memory: the word there, or its lower part
// where that comes first.
func (k *compiler) derefSize(a int, n uint8) int {
	switch word := uint8(k.arch.WordSize); {
	case n == word:
		return k.deref(a)
	case k.c.BigEndian() || n != 1 && n != 2 && n != 4 || n > word:
		k.bad = true
		return a
	}

	limit := int64(1) << (8 * n)
	return k.boundTerm('%', k.deref(a), k.num(limit), limit-1)
}

// binaryTerm makes the term a b op, of which nothing is known.
func (k *compiler) binaryTerm(op byte, a, b int) int {
	return k.add(term{op: op, a: a, b: b, size: k.terms[a].size + k.terms[b].size + 1})
}

// boundTerm makes the term a b op, known to be in [0, max].
func (k *compiler) boundTerm(op byte, a, b int, max int64) int {
	i := k.binaryTerm(op, a, b)
	k.terms[i].bound, k.terms[i].max = max < maxBound, max
	return i
}

func (k *compiler) plus(a, b int) int {
	x, isNum := k.value(a)
	y, bothNum := k.value(b)
	if isNum && !bothNum { // numbers to the right
		return k.plus(b, a)
	}

	switch t := &k.terms[a]; {
	case isNum && bothNum:
		return k.num(x + y)
	case bothNum && y == 0:
		return a
	case bothNum && t.op == '+' && k.terms[t.b].op == termNum:
		return k.plus(t.a, k.num(k.terms[t.b].val+y))
	}
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
	x, isNum := k.value(a)
	y, bothNum := k.value(b)
	switch {
	case isNum && bothNum:
		return k.num(x * y)
	case k.bounded(a) && k.bounded(b):
		return k.boundTerm('*', a, b, k.terms[a].max*k.terms[b].max)
	}
	return k.binaryTerm('*', a, b)
}

// and: masks that are the low bits, or all but the low bits, are `%` and `@`.
// Both are right on every operand: the word's size is a multiple of theirs.
func (k *compiler) and(a, b int) int {
	if _, ok := k.value(a); ok {
		a, b = b, a
	}

	x, bothNum := k.value(a)
	m, ok := k.value(b)
	switch {
	case ok && bothNum:
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

// maxMask keeps the divisor that stands for a mask a positive number.
func (k *compiler) maxMask() int64 {
	if k.arch.WordSize == 4 {
		return maxBound
	}
	return 1 << 62
}

// truth: the term is 0 or 1.
func (k *compiler) truth(i int) bool { return k.bounded(i) && k.terms[i].max <= 1 }

func (k *compiler) or(a, b int) int {
	x, isNum := k.value(a)
	y, bothNum := k.value(b)
	switch {
	case isNum && bothNum:
		return k.num(x | y)
	case bothNum && y == 0:
		return a
	case isNum && x == 0:
		return b
	case k.truth(a) && k.truth(b): // a + b >= 1
		return k.atLeast(k.plus(a, b), 1)
	}

	k.bad = true
	return a
}

// fold is the value of an operation on two numbers, in the word's width.
func (k *compiler) fold(op uint8, a, b int) (v int64, ok bool) {
	x, isNum := k.value(a)
	y, bothNum := k.value(b)
	if !isNum || !bothNum {
		return 0, false
	}

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

// abs of a number, or of what cannot be negative.
func (k *compiler) abs(a int) int {
	if x, ok := k.value(a); ok {
		return k.num(max(x, -x))
	}
	k.bad = k.bad || !k.bounded(a)
	return a
}

// divide: by a positive number only, for readers crash on zero, and of terms
// that cannot be negative.
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

// shift by a number of bits. A logical shift to the right also works on what
// is a whole word, unsigned by nature: a register, or a word of memory.
func (k *compiler) shift(op uint8, a, b int) int {
	n, ok := k.value(b)
	if !ok || n < 0 || n > 30 {
		k.bad = true
		return a
	}

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

// compare: a bounded term with a number, on either side.
func (k *compiler) compare(op uint8, a, b int) int {
	n, ok := k.value(b)
	if !ok {
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

	equal := k.minus(k.atLeast(a, n), k.atLeast(a, n+1))
	k.terms[equal].bound, k.terms[equal].max = true, 1
	if op == exNe {
		return not(equal)
	}
	return equal
}

// atLeast is 1 where the bounded term a is n or more, else 0. The quotient a/n
// says it where it cannot reach 2: in a PLT, (pc & 15) / 11. Otherwise a is
// moved so that n becomes the multiple of a divisor it cannot reach twice.
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

	divisor := int64(1) << bits.Len64(uint64(top))
	return k.boundTerm('/', k.plus(a, k.num(divisor-n)), k.num(divisor), 1)
}
