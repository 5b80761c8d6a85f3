package cxx

import "symkit/internal/demangle/lex"

// A name of the Itanium C++ ABI is read into a tree, and the tree is written as text,
// inside out as C++ declarations are. The nodes lie in one slice, which is reused for
// the next name; a ref is the index of a node in that slice.
//
// Template parameters are replaced by their arguments when they are read, since the
// arguments are known by then, except in conversion operators (see lateCast). The result is flagged,
// because a later substitution (S_) of it means the parameters of the template that is
// in force at the substitution.
//
// name.go, closure.go, type.go, vendor.go, template.go, expr.go, operand.go and
// encoding.go read;
// emit.go writes while reading, print.go and print_type.go write from the
// tree; reuse.go reuses parts of the previous name.

// ref is the index of a node; 0 is none.
type ref int32

type kind uint8

const (
	kindNone        kind = iota
	kindName             // text: of the name
	kindWord             // text[0]: index of words
	kindBuiltin          // text[0]: index of builtins
	kindOperator         // text[0]: index of operatorTable.texts
	kindLiteralOp        // a: the text after operator""
	kindCast             // operator a
	kindQualified        // a::b
	kindLocal            // a::b, a being a function
	kindDefaultArg       // a, in default argument number n
	kindTemplate         // a<list>
	kindTagged           // a[abi:b]
	kindCtor             // constructor named a, inherited from b if that is not 0
	kindDtor             // ~a
	kindClosure          // {lambda(list)#n}, with template parameters if a, a list, is not 0
	kindHead             // template parameter number b of a lambda: see closure.go
	kindUnnamed          // {unnamed type#n}
	kindParam            // stands for a: the argument of a template parameter
	kindAuto             // parameter number n of a generic lambda; text[0]: its kind if it has a declaration
	kindPack             // list: a pack, as an argument of a template
	kindList             // list: a pack, expanded
	kindExpansion        // a...
	kindLiteral          // (a)text, negative if b is not 0
	kindAddress          // &a
	kindOperation        // operator b of exprTable with list; a: operator that a fold repeats
	kindCall             // a(list)
	kindArgument         // number n of a function's parameters, 0 being this
	kindCount            // the number b
	kindPart             // part of a, of type b
	kindDecltype         // decltype (a)
	kindQuoted           // string literal of type a
	kindLambda           // closure a as a literal
	kindIndexed          // element b of pack a
	kindBitInt           // _BitInt(text), or _BitInt(b); unsigned if quals is not 0
	kindConstrained      // b, auto or decltype(auto), with constraint a
	kindElaborated       // word text[0] and a
	kindModule           // module b, in module a if that is not 0, as a partition if text[0] is not 0
	kindEnum             // enumeration of type a without a name, with enumerator b
	kindInModule         // name a of module b
	kindFriend           // function a, a friend
	kindFloat            // floating-point type of text bits, and a letter, b
	kindBinding          // structured binding of list
	kindEnableIf         // function a, if b, a list
	kindTyped            // function or variable a of type b
	kindFunc             // function type: a returned, or 0, from list; b is 1 if the first is this
	kindLocalFunc        // kindFunc before ::, where the return type is not written
	kindMethod           // function a with quals and ref qualifier b: see refQualifier
	kindSpec             // function a with exception specification text[0] of b
	kindQuals            // type a with quals
	kindPointer          // a*
	kindLRef             // a&
	kindRRef             // a&&
	kindComplex          // a _Complex
	kindVendor           // type a with qualifier b of the compiler
	kindImaginary        // a _Imaginary
	kindArray            // a[text], or a[b]
	kindVector           // a __vector(text), or of b
	kindMember           // b of class a: a::*
	kindSpecial          // text[0]: index of words; a
	kindTwo              // construction vtable for a-in-b
)

// Flags of a node. A node inherits the flags of the nodes below it.
const (
	flagParam = 1 << iota // an argument that replaced a template parameter
	flagAuto              // has a parameter of a generic lambda that is outside of the node
	flagPack              // has a pack that is not expanded
	flagStd               // one of Sa, Ss, …: no candidate for substitution; not inherited
)

// node is a node. The meaning of its fields depends on its kind.
type node struct {
	kind  kind
	flags uint8
	quals qualifiers
	a, b  ref
	text  [2]uint32 // from, to: of the name; or of elems, for a list
	done  [2]uint32 // from, to of out, where its text is, if to is not 0
}

// qualifiers are up to four of them, in the order of writing, four bits each.
type qualifiers uint16

const (
	qualConst = iota + 1
	qualVolatile
	qualRestrict
	qualNoexcept
)

var qualifierWords = [...]string{qualConst: "const", qualVolatile: "volatile", qualRestrict: "restrict", qualNoexcept: "noexcept"}

// has reports whether x, one qualifier, is among q.
func (q qualifiers) has(x qualifiers) bool {
	for ; q != 0; q >>= 4 {
		if q&15 == x {
			return true
		}
	}
	return false
}

// with returns q followed by the qualifiers of more that are not in q.
func (q qualifiers) with(more qualifiers) qualifiers {
	// Four bits for each qualifier.
	shift := 0
	for q>>shift != 0 {
		shift += 4
	}

	for ; more != 0; more >>= 4 {
		if x := more & 15; !q.has(x) {
			q |= x << shift // there are four kinds: they fit
			shift += 4
		}
	}
	return q
}

// sub is a candidate for substitution, and the template in force there.
type sub struct {
	node, template ref
	// Of a type or prefix: where it begins and ends. start is 0 for parts that need not be
	// read again.
	start, end uint32
	prefix     bool
}

// Bounds, above the sizes that compilers write. Names that exceed them stay mangled.
const (
	maxDepth = 1 << 10
	maxNodes = 1 << 16
	maxSteps = 1 << 17 // nodes written
)

// tree is the tree of one name.
type tree struct {
	in     []byte
	pos    int
	failed bool
	depth  int

	nodes []node
	elems []ref // of all lists
	open  []ref // elements of the lists that are being read
	subs  []sub

	reread int // > 0 while candidates are read again
	stop   int // where the prefix ends that is read again, else 0

	template ref      // the template whose arguments the parameters mean, or 0
	inLambda bool     // in the parameters of a lambda
	inCast   bool     // in the type of a conversion operator
	late     lateCast // the conversion operator that was read last
	castEnd  int      // where the type ends of a conversion operator that is read again
	heads    lambdaHeads
	hidden   int // > 0 while declarations of template parameters and constraints are read

	scopes  scopeRule
	forced  bool // scopes was known before
	scopeAt int  // position of the first scope of a dependent name, 0 without one

	same    int // length of the common prefix with the last name
	parts   []part
	partAt  []uint16 // by start: index of a part, valid if that part starts there
	written []ref    // nodes whose text was written only with the whole name

	out      []byte
	rendered bool  // out ends with the whole text of the part that was read last
	start    int   // of out: where the name begins
	last     byte  // last byte written, as far as it matters
	inner    []ref // stack of types to be written around the current one
	base     int   // index of the first of inner that belongs to the current declaration
	steps    int
}

// fail gives up: the name is damaged.
func (x *tree) fail() ref {
	x.failed, x.pos = true, len(x.in)
	return 0
}

// peek returns the next byte, or 0 at the end.
func (x *tree) peek() byte {
	if x.pos < len(x.in) {
		return x.in[x.pos]
	}
	return 0
}

// peek2 returns the byte after the next one, or 0 at the end.
func (x *tree) peek2() byte { return x.at(1) }

// at returns the byte n bytes after the next one, or 0 after the end.
func (x *tree) at(n int) byte {
	if x.pos+n < len(x.in) {
		return x.in[x.pos+n]
	}
	return 0
}

// accept skips c if it is next, and reports whether it was.
func (x *tree) accept(c byte) bool {
	if x.peek() != c || c == 0 {
		return false
	}
	x.pos++
	return true
}

// expect skips c, or fails if c is not next.
func (x *tree) expect(c byte) {
	if !x.accept(c) {
		x.fail()
	}
}

// enter counts one level of recursion; leave ends it.
func (x *tree) enter() bool {
	x.depth++
	if x.depth > maxDepth {
		x.fail()
	}
	return !x.failed
}

func (x *tree) leave() { x.depth-- }

// add adds a node.
func (x *tree) add(n node) ref {
	if len(x.nodes) >= maxNodes {
		return x.fail()
	}
	n.done = [2]uint32{} // the text of a copy differs from the original's
	x.nodes = append(x.nodes, n)
	return ref(len(x.nodes) - 1)
}

// node adds a node with text[0] = from, text[1] = to. The node is filled in in place:
// copying it with wide loads would stall on the narrow stores just before.
func (x *tree) node(kind kind, flags uint8, a, b ref, from, to uint32) ref {
	if len(x.nodes) >= maxNodes {
		return x.fail()
	}

	x.nodes = append(x.nodes, node{})
	n := &x.nodes[len(x.nodes)-1]
	n.kind, n.flags, n.a, n.b, n.text[0], n.text[1] = kind, flags, a, b, from, to
	return ref(len(x.nodes) - 1)
}

// withQuals adds a node with qualifiers.
func (x *tree) withQuals(kind kind, flags uint8, a, b ref, q qualifiers) ref {
	n := x.node(kind, flags, a, b, 0, 0)
	if n != 0 {
		x.nodes[n].quals = q
	}
	return n
}

// inherited returns the flags that a node above a inherits.
func (x *tree) inherited(a ref) uint8 { return x.nodes[a].flags &^ flagStd }

// use returns the argument if a is a replaced template parameter, else a. A parameter that
// stands for a pack stays: it may be expanded, whereas a pack among arguments is not.
func (x *tree) use(a ref) ref {
	if arg := x.argumentOf(a); x.nodes[arg].kind != kindPack {
		return arg
	}
	return a
}

// argumentOf is use that returns packs too.
func (x *tree) argumentOf(a ref) ref {
	if x.nodes[a].kind == kindParam {
		return x.nodes[a].a
	}
	return a
}

// one adds a node above a; two adds a node above a and b.
func (x *tree) one(kind kind, a ref) ref {
	return x.node(kind, x.inherited(a), x.use(a), 0, 0, 0)
}

func (x *tree) two(kind kind, a, b ref) ref {
	return x.node(kind, x.inherited(a)|x.inherited(b), x.use(a), x.use(b), 0, 0)
}

func (x *tree) word(i uint32) ref {
	return x.node(kindWord, 0, 0, 0, i, 0)
}

func (x *tree) builtin(i uint32) ref {
	return x.node(kindBuiltin, 0, 0, 0, i, 0)
}

// many adds a node above a, which may be 0, and above the elements of x.open from mark
// on, which it removes from x.open.
func (x *tree) many(kind kind, a ref, mark int) ref {
	flags, from := x.inherited(a), len(x.elems)
	for _, e := range x.open[mark:] {
		flags |= x.inherited(e)
		x.elems = append(x.elems, x.use(e))
	}
	x.open = x.open[:mark]
	return x.node(kind, flags, x.use(a), 0, uint32(from), uint32(len(x.elems)))
}

// list returns the elements of a node.
func (x *tree) list(n *node) []ref { return x.elems[n.text[0]:n.text[1]] }

// candidate makes a, which begins at start in the name, a candidate for substitution.
func (x *tree) candidate(a ref, start int) {
	x.subs = append(x.subs, sub{})
	s := &x.subs[len(x.subs)-1] // see node
	s.node, s.template, s.start, s.end = a, x.template, uint32(start), uint32(x.pos)
}

// candidatePrefix is candidate for a prefix.
func (x *tree) candidatePrefix(a ref, start int) {
	x.candidate(a, start)
	x.subs[len(x.subs)-1].prefix = true
}

// lateCast is a conversion operator, cv <type>, whose type has template parameters. They mean the arguments that
// follow the name, if the operator is a template, else those of the class around it. The type is read at once, as its
// parts are candidates for substitution, and again when the arguments are known.
type lateCast struct {
	cast       ref // its node, or 0
	start, end int // where its type begins and ends
	outer      ref // the innermost template in front
}

// lambdaHeads are the declarations of template parameters of the lambda that is being read: the
// kind of each, an index of headNames.
type lambdaHeads struct {
	kinds [16]uint8
	n     int
}

// scopeRule is how scopes of dependent names are read.
type scopeRule uint8

// part is a part of a name that was read: a type or a template's arguments.
type part struct {
	start, end uint32 // in the name
	node       ref
	rendered   bool
	// Lengths of nodes, elems, subs and out after the part was read, and steps.
	nodes, elems, subs, out, steps uint32
}

const (
	scopeUnknown scopeRule = iota // there was no scope yet
	scopeClang
	scopeGCC
)

// seqID reads the number of a candidate.
func (x *tree) seqID() (id int) {
	if x.accept('_') {
		return 0
	}
	for !x.failed && !x.accept('_') {
		switch c := x.peek(); {
		case lex.IsDigit(c):
			id = id*36 + int(c-'0')
		case lex.IsUpper(c):
			id = id*36 + int(c-'A') + 10
		default:
			x.fail()
		}
		x.pos = min(x.pos+1, len(x.in))
		if id > 1<<20 { // more than there can be candidates
			x.fail()
		}
	}
	return id + 1
}
