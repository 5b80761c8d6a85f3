package naming

import (
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Demanglers differ in brackets, in the form of literals ("2ul", "(unsigned long)2"), in
// abbreviations ("std::string") and in the return type, which some omit. They agree in the words and
// in the order of the words.

// longhand replaces the standard library's names that some demanglers shorten (Itanium C++ ABI
// §5.1.8), without spaces.
var longhand = strings.NewReplacer(
	"std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string",
	"std::basic_istream<char,std::char_traits<char>>", "std::istream",
	"std::basic_ostream<char,std::char_traits<char>>", "std::ostream",
	"std::basic_iostream<char,std::char_traits<char>>", "std::iostream",
	"std::nullptr_t", "decltype(nullptr)", // LLVM's form, and that of all others
	",>", ">", // an empty pack
)

var (
	castLiteral    = lazy(`\((?:unsigned|signed)?(?:char|short|int|long|longlong)\)(-?\d)`)
	literalSuffix  = lazy(`\b(\d+)(?:ul?l?|ll?)\b`)
	shortStructors = lazy(`std::(string|istream|ostream|iostream)::(~?)basic_(?:string|istream|ostream|iostream)\b`)
	// The texts of thunks that cpp_demangle, which Mozilla's tool uses, writes.
	virtualThunk = lazy(`^\{virtualoverridethunk\(\{virtualoffset\([^)]*\)\},(.*)\)\}$`)
	plainThunk   = lazy(`^\{virtualoverridethunk\(\{offset\([^)]*\)\},(.*)\)\}$`)
	// word matches an identifier, a number, or the name of an operator.
	word = lazy(`operator(?:\(\)|\[\]|[-+*/%^&|~!=<>,]+)|[\pL\d_$~.]+`)
)

// words returns the words of a normalised name.
func words(s string) []string {
	s = castLiteral().ReplaceAllString(longhand.Replace(s), "$1")
	s = literalSuffix().ReplaceAllString(abiTag().ReplaceAllString(s, ""), "$1")
	s = shortStructors().ReplaceAllString(s, "std::$1::$2$1")
	s = virtualThunk().ReplaceAllString(s, "virtualthunkto$1")
	s = plainThunk().ReplaceAllString(s, "non-virtualthunkto$1")
	return word().FindAllString(s, -1)
}

// acceptWords reports whether sym has the words of the linkage name, with or without the return
// type.
func (k Key) acceptWords(sym string) bool {
	if k.Linkage == "" {
		return false
	}
	if _, trust := demangled(k.Linkage); trust == misread {
		return false
	}
	ast, ok := parse(k.Linkage)
	brief, okBrief := parse(k.Linkage, demangle.NoParams)
	if !ok || !okBrief {
		return false
	}

	// Two styles of the library differ in how they abbreviate.
	want := words(sym)
	for _, style := range [][]demangle.Option{nil, {demangle.LLVMStyle}} {
		full, ok := printed(ast, style...)
		if !ok {
			return false
		}

		// The words with the return type, then those from the name on.
		full = Normalise(full)
		if k.sameWords(words(full), want) {
			return true
		}
		name, ok := printed(brief, append(style, demangle.NoParams)...)
		if i := strings.Index(full, Normalise(name)); ok && i > 0 && k.sameWords(words(full[i:]), want) {
			return true
		}
	}
	return false
}

// sameWords reports whether two names have the same words. An inherited constructor may have the
// name of the base class or of the derived class.
func (k Key) sameWords(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}

	// At most one word may differ: the name of the class.
	other := 0
	for i := range a {
		if a[i] != b[i] {
			other++
			if !inherited().MatchString(k.Linkage) || !strings.Contains(k.Linkage, strconv.Itoa(len(b[i]))+b[i]) {
				return false
			}
		}
	}
	return other <= 1
}

// inherited matches the mark of an inherited constructor in a linkage name (Itanium C++ ABI
// §5.1.4.3).
var inherited = lazy(`CI[12]`)
