package cxx

import (
	"strings"
	"sync"
)

// Indices of words.
const (
	wordStd = iota
	wordAnonymous
	wordStringLiteral
	wordAuto
	wordDecltypeAuto
	wordAllocator
	wordBasicString
	wordString
	wordIstream
	wordOstream
	wordIostream
	wordVtable
	wordVTT
	wordTypeinfo
	wordTypeinfoName
	wordThunk
	wordVirtualThunk
	wordCovariantThunk
	wordTLSInit
	wordTLSWrapper
	wordGuard
	wordReferenceTemporary
	wordTransactionClone
	wordNonTransactionClone
	wordParameterObject
	wordTypeinfoFunction
	wordJavaClass
	wordModuleInit
	wordNoexcept
	wordThrow
	wordTransactionSafe
	wordStruct
	wordUnion
	wordEnum
	wordCharTraits
	wordCharAllocator
	wordBasicIstream
	wordBasicOstream
	wordBasicIostream
)

// words are texts that are not in the mangled name.
var words = [...]string{
	"std", "(anonymous namespace)", "string literal", "auto", "decltype(auto)",
	"allocator", "basic_string", "string", "istream", "ostream", "iostream",
	"vtable for ", "VTT for ", "typeinfo for ", "typeinfo name for ",
	"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ",
	"TLS init function for ", "TLS wrapper function for ", "guard variable for ",
	"reference temporary for ", "transaction clone for ", "non-transaction clone for ", "template parameter object for ",
	"typeinfo fn for ", "java Class for ", "initializer for module ",
	" noexcept(", " throw(", " transaction_safe", "struct ", "union ", "enum ",
	"std::char_traits<char>", "std::allocator<char>", "basic_istream", "basic_ostream", "basic_iostream",
}

// standardSub returns the word that a substitution Sa, Ss, … stands for.
func standardSub(c byte) (word uint32, ok bool) {
	switch c {
	case 'a':
		return wordAllocator, true
	case 'b':
		return wordBasicString, true
	case 's':
		return wordString, true
	case 'i':
		return wordIstream, true
	case 'o':
		return wordOstream, true
	case 'd':
		return wordIostream, true
	}
	return 0, false
}

// builtins are the types of one letter, by letter, then those of D and a
// letter (Itanium C++ ABI §5.1.5.2).
var builtins = [...]string{
	0: "signed char", 'b' - 'a': "bool", 'c' - 'a': "char", 'd' - 'a': "double", 'e' - 'a': "long double",
	'f' - 'a': "float", 'g' - 'a': "__float128", 'h' - 'a': "unsigned char", 'i' - 'a': "int", 'j' - 'a': "unsigned int",
	'l' - 'a': "long", 'm' - 'a': "unsigned long", 'n' - 'a': "__int128", 'o' - 'a': "unsigned __int128",
	's' - 'a': "short", 't' - 'a': "unsigned short", 'v' - 'a': "void", 'w' - 'a': "wchar_t", 'x' - 'a': "long long",
	'y' - 'a': "unsigned long long", 'z' - 'a': "...",
	26: "decimal32", 27: "decimal64", 28: "decimal128", 29: "half", 30: "char8_t", 31: "char16_t", 32: "char32_t",
	33: "decltype(nullptr)",
}

// builtinDCodes are the letters of builtins from 26 on.
const (
	builtinDCodes  = "fdehusin"
	builtinBool    = 'b' - 'a'
	builtinHalf    = 29
	builtinNullptr = 33
)

// literalSuffix returns the suffix of a number of a builtin type; ok is false if the
// type is written before the number instead.
func literalSuffix(builtin uint32) (suffix string, ok bool) {
	switch builtin {
	case 'i' - 'a':
		return "", true
	case 'j' - 'a':
		return "u", true
	case 'l' - 'a':
		return "l", true
	case 'm' - 'a':
		return "ul", true
	case 'x' - 'a':
		return "ll", true
	case 'y' - 'a':
		return "ull", true
	}
	return "", false
}

// isFloat reports whether a builtin type is a floating-point type.
func isFloat(builtin uint32) bool {
	switch builtin {
	case 'd' - 'a', 'e' - 'a', 'f' - 'a', 'g' - 'a', builtinHalf:
		return true
	}
	return false
}

// operatorList has the operators that can be functions (Itanium C++ ABI §5.1.3.3): code, a
// colon, the text after "operator".
const operatorList = `aN:&= aS:= aa:&& ad:& an:& cl:() cm:, co:~ dV:/= da:_delete[] de:* dl:_delete dv:/ eO:^= eo:^ ` +
	`eq:== ge:>= gt:> ix:[] lS:<<= le:<= ls:<< lt:< mI:-= mL:*= mi:- ml:* mm:-- na:_new[] ne:!= ng:- nt:! nw:_new oR:|= oo:|| ` +
	`or:| pL:+= pl:+ pm:->* pp:++ ps:+ pt:-> rM:%= rS:>>= rm:% rs:>> ss:<=>`

// operatorTable has the texts of the operators, and their indices plus one by their codes.
type operatorTable struct {
	texts []string
	index [26][64]uint8
}

// operators returns the table of operatorList, which is made for the first operator.
var operators = sync.OnceValue(func() *operatorTable {
	t := new(operatorTable)
	for o := range strings.FieldsSeq(operatorList) {
		code, text, _ := strings.Cut(o, ":")
		t.texts = append(t.texts, "operator"+strings.ReplaceAll(text, "_", " "))
		t.index[code[0]-'a'][code[1]-'A'] = uint8(len(t.texts))
	}
	return t
})

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
