package naming

import (
	"cmp"
	"slices"
	"strings"

	"symkit/check/internal/naming/swift"
)

// Verdict is what is known about a text for a name.
type Verdict uint8

// Unverified is a text that may be right, of a name that no code of this package reads rightly.
const (
	Wrong Verdict = iota
	Unverified
	Right
)

// Judge compares a text of a symbol file with a name.
func (t *Table) Judge(id uint32, text string) Verdict {
	if t.Exact(id, []byte(text)) || t.Accept(id, Normalise(text)) {
		return Right
	}
	if k := t.key(id); k.Unread || k.plausible(text) {
		return Unverified
	}
	return Wrong
}

// IsUnsure reports whether Judge may not know if a text is right for a name.
func (t *Table) IsUnsure(id uint32) bool {
	_, trust := demangled(t.key(id).Linkage)
	return trust != trusted
}

// plausible reports whether no code here reads the linkage name, or not rightly, and each word of the
// text is from the linkage name, or one that demanglers add. So the name of another function is
// wrong, whereas a wrong type is not noticed.
func (k Key) plausible(text string) bool {
	if k.Linkage == "" || text == "" {
		return false
	}
	if _, trust := demangled(k.Linkage); trust == trusted {
		return false
	}
	if swift.IsName(k.Linkage) {
		return true // identifiers are made of parts of others
	}
	words := quoted().ReplaceAllString(text, "")
	if isDName(k.Linkage) && strings.Contains(k.Linkage, "VAya") {
		// A string among a template's arguments has quotes that nothing escapes.
		if from, to := strings.IndexByte(text, '"'), strings.LastIndexByte(text, '"'); from < to {
			words = text[:from] + text[to+1:]
		}
	}
	for _, w := range identifier().FindAllString(words, -1) {
		if !isDigit(w[0]) && !hasIdentifier(k.Linkage, w) && !added[strings.Trim(w, "0123456789_")] && !added[w] {
			return false
		}
	}
	return !isDName(k.Linkage) || k.inScopes(text)
}

func isDName(linkage string) bool { return strings.HasPrefix(linkage, "_D") }

// inScopes reports whether the names in a text of D, without parameters and arguments, have the scopes
// of the DWARF in their order, and end with the plain name. gdc has a template in the scope in which it was
// used, and under the name of an alias: such scopes are not in the linkage name, or in arguments alone.
func (k Key) inScopes(text string) bool {
	parts := slices.Collect(eachScope(skeleton(Normalise(text))))
	for i := range parts {
		parts[i], _, _ = strings.Cut(parts[i], "!") // a template's arguments
	}
	for _, scope := range append(k.scopes(), k.Name) {
		if structors[scope] != "" && slices.Contains(parts, scope) {
			continue // __postblit is written as it is, too
		}
		want, _, _ := strings.Cut(skeleton(Normalise(cmp.Or(structors[scope], scope))), "!")
		for part := range eachScope(want) {
			at := slices.Index(parts, part)
			switch last := len(parts) - 1; {
			case at >= 0:
				parts = parts[at:]
			case last < 0 || !strings.HasPrefix(parts[last], part): // qualifiers follow its parameters
				if hasIdentifier(k.Linkage, part) && !slices.Contains(identifier().FindAllString(text, -1), part) {
					return false
				}
			}
		}
	}
	return true
}

// HasLinkage reports whether the linkage name is known.
func (t *Table) HasLinkage(id uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.texts.spans[t.keys[id].linkage].size > 0
}

// quoted matches what is written otherwise in the linkage name: characters of Rust's constants, and
// bits of floating-point values.
var quoted = lazy(`\[[0-9a-f]+\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.[^']*)'`)

// identifier matches an identifier, or a number with its suffix.
var identifier = lazy(`\d\w*|[\pL_$][\pL\pM\d_$]*`)

// added has the words that demanglers add: types, operators and prefixes.
var added = func() map[string]bool {
	words := map[string]bool{"": true}
	for w := range strings.FieldsSeq(`
		void bool char wchar_t char8_t char16_t char32_t short int long signed unsigned float double half decimal32 decimal64
		decimal128 auto decltype nullptr __int128 __float128 __bf16 bfloat16_t _Float _BitInt _Complex _Imaginary __vector vector
		const volatile restrict noexcept throw transaction_safe struct union enum class typename template this true false
		operator new delete co_await sizeof alignof typeid static_cast dynamic_cast const_cast reinterpret_cast requires
		std string allocator basic_string basic_istream basic_ostream basic_iostream istream ostream iostream char_traits
		vtable VTT typeinfo name for fn non virtual thunk to covariant return construction in guard variable TLS init
		function wrapper reference temporary transaction clone parameter object initializer module java Class global
		constructors destructors keyed invocation block default arg literal lambda unnamed type anonymous namespace abi
		friend enable_if parm at offset
		i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 str dyn as mut extern unsafe is null splat closure shim impl K
		$ $T $N $TT
		byte ubyte ushort uint ulong cent ucent real ifloat idouble ireal cfloat cdouble creal dchar wchar size_t typeof
		immutable inout shared pure nothrow ref property trusted safe nogc scope lazy out delegate cast __ctor __dtor
		__postblit static C Windows System`) {
		words[w] = true
	}
	return words
}()
