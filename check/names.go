package check

import (
	"cmp"
	"encoding/hex"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"

	"symkit/emit"
	names "symkit/internal/demangle"
)

// nameKey is what DWARF or a symbol table says of a function's name.
type nameKey struct {
	linkage string // the linkage name, empty without one
	name    string // the plain name
	scope   string // the scopes around it, each followed by NUL
	far     bool   // its scopes are not known: it is declared in another unit
	ada     bool   // a unit in Ada has it, so that it may be encoded: see adaName
	unread  bool   // part of it is in a supplementary file that is not there
}

// linkageMark divides the plain name of a scope from its linkage name.
const linkageMark = "\x01"

// scopes are the plain names of the scopes, outermost first.
func (k nameKey) scopes() []string {
	names, _ := k.scopesAndLinkage()
	return names
}

// scopesAndLinkage also gives the linkage names of those that have one.
func (k nameKey) scopesAndLinkage() (names, linkage []string) {
	if k.scope == "" {
		return nil, nil
	}
	names = strings.Split(strings.TrimSuffix(k.scope, "\x00"), "\x00")
	for i, s := range names {
		plain, link, ok := strings.Cut(s, linkageMark)
		if names[i] = plain; ok {
			linkage = append(linkage, link)
		}
	}
	return names, linkage
}

// nameTable numbers names and decides which texts are acceptable for them. A
// name is acceptable as any of:
//   - the linkage name itself, or demangled;
//   - demangled without return type, parameters or template arguments, as
//     tools that shorten names write it;
//   - what has the same words in the same order;
//   - the plain name, alone or behind scopes, divided by "::" or "."; the
//     innermost of these that has a name is the one that the DWARF has;
//
// and spaces do not count, since demanglers differ in them.
type nameTable struct {
	mu   sync.Mutex
	ids  map[nameKey]uint32
	keys []nameKey
	// first holds a hash of the first acceptable text of each name, made when
	// first needed. Nearly all comparisons end there; the texts themselves
	// would be most of the memory.
	first []uint64
	seed  maphash.Seed
	bytes uint64 // of the keys
}

func newNameTable() *nameTable {
	return &nameTable{ids: map[nameKey]uint32{}, seed: maphash.MakeSeed()}
}

// id numbers a name.
func (t *nameTable) id(k nameKey) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[k]; ok {
		return id
	}
	id := uint32(len(t.keys))
	t.ids[k] = id
	t.bytes += uint64(len(k.linkage) + len(k.name) + len(k.scope))
	t.keys = append(t.keys, k)
	t.first = append(t.first, 0)
	return id
}

// size is the bytes of all names.
func (t *nameTable) size() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// unread tells a name that is not known in full.
func (t *nameTable) unread(id uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys[id].unread
}

// text is a name as findings show it.
func (t *nameTable) text(id uint32) string {
	t.mu.Lock()
	k := t.keys[id]
	t.mu.Unlock()
	switch {
	case k.linkage != "":
		return readable(k.linkage)
	case k.name == "":
		return nameOmitted
	case k.scope == "":
		return k.name
	}
	scopes := k.scopes()
	for i := range scopes {
		scopes[i] = cmp.Or(scopes[i], anonymousScope)
	}
	return strings.Join(scopes, "::") + "::" + k.name
}

// nameOmitted is what dumpers write for a function without a name.
const nameOmitted = "<name omitted>"

// maxNameLog is the exponent of demangle.MaxLength: 64 KiB, as names are cut
// there (DESIGN.md).
const maxNameLog = 16

// readable demangles C++ and Rust names: with the library, since internal/demangle is what the
// dumper uses. Only the names that the library is known to read wrongly are read by
// internal/demangle, whose texts for all such names of the corpus two other demanglers
// confirm (TestCorpusJudge there).
func readable(linkage string) string {
	if names.IsMisread([]byte(linkage)) {
		text, _ := names.Demangle([]byte(linkage))
		return text
	}
	out, err := demangle.ToString(linkage, demangle.MaxLength(maxNameLog))
	if err != nil {
		return linkage
	}
	return out
}

// isLibrarys reports whether the library's text alone holds for a linkage name: that is so for
// C++'s. D's, OCaml's, Fortran's and others only internal/demangle reads. Of Rust's, both texts
// are accepted, for the library errs: of the old mangling, with a hash at the end, it loses the
// underscore in front of an identifier (__rust_begin_short_backtrace), of the new one it takes
// the numbers of closures in closures in the wrong order.
func isLibrarys(linkage string) bool {
	return strings.HasPrefix(linkage, "_Z") && !strings.Contains(linkage, "17h")
}

// accept tells whether sym, normalised, is acceptable for a name.
func (t *nameTable) accept(id uint32, sym string) bool {
	t.mu.Lock()
	k, hash := t.keys[id], t.first[id]
	t.mu.Unlock()
	if hash == 0 {
		first := ""
		acceptable(k, func(s string) bool { first = s; return false })
		hash = maphash.String(t.seed, first) | 1
		t.mu.Lock()
		t.first[id] = hash
		t.mu.Unlock()
	}
	if maphash.String(t.seed, sym)|1 == hash {
		return true
	}
	ok := false
	acceptable(k, func(s string) bool {
		ok = s == sym
		return !ok
	})
	return ok || k.acceptScoped(sym) || k.acceptWords(sym)
}

// acceptScoped tells whether sym is the plain name behind acceptable scopes.
func (k nameKey) acceptScoped(sym string) bool {
	prefix, ok := strings.CutSuffix(sym, normalise(k.name))
	if !ok || k.name == "" || !strings.HasSuffix(prefix, "::") && !strings.HasSuffix(prefix, ".") {
		return false
	}
	scopes, linkage := k.scopesAndLinkage()
	scopes = slices.DeleteFunc(scopes, func(s string) bool { return s == "" })
	if k.far || len(scopes) == 0 {
		return true
	}
	if k.linkage != "" && readable(k.linkage) != k.linkage {
		// It tells all; the scopes can only be fewer.
		return strings.HasSuffix(normalise("::"+strings.Join(scopes, "::")+"::"), "::"+strings.ReplaceAll(prefix, ".", "::"))
	}
	// What is in brackets, and closures, have no names of their own.
	prefix = strings.TrimRight(bare(prefix), ":.")
	if !endsInScope(prefix, scopes[len(scopes)-1]) {
		linked := k.innermostLinkage()
		if linked == "" || !endsInScope(prefix, linked) {
			return false
		}
	}
	return len(linkage) == 0 || knownScopes(prefix, scopes, linkage)
}

// endsInScope tells whether a scope's name is all of prefix or its end.
func endsInScope(prefix, scope string) bool {
	scope = bare(normalise(scope))
	return prefix == scope || strings.HasSuffix(prefix, "::"+scope) || strings.HasSuffix(prefix, "."+scope)
}

// innermostLinkage is the demangled linkage name of the innermost scope that has a plain
// name, "" if that scope has no linkage name. D's constructors are __ctor as plain names and this
// as demangled ones.
func (k nameKey) innermostLinkage() string {
	all := strings.Split(strings.TrimSuffix(k.scope, "\x00"), "\x00")
	for _, s := range slices.Backward(all) {
		plain, linkage, _ := strings.Cut(s, linkageMark)
		if plain == "" {
			continue
		}
		if text, ok := names.Demangle([]byte(linkage)); ok {
			return text
		}
		return readable(linkage)
	}
	return ""
}

// knownScopes tells whether all scopes in prefix are among those given, or in
// the linkage name of one of them.
func knownScopes(prefix string, scopes, linkage []string) bool {
	known := map[string]bool{"": true}
	add := func(name string) {
		name = bare(normalise(name))
		known[name] = true
		for part := range eachScope(name) {
			known[part] = true
		}
	}
	for _, s := range scopes {
		add(s)
	}
	for _, s := range linkage {
		add(readable(s))
		if text, ok := names.Demangle([]byte(s)); ok {
			add(text)
		}
	}
	for part := range eachScope(prefix) {
		if !known[part] {
			return false
		}
	}
	return true
}

// eachScope yields the scopes in a name, which "::" divides or, in D, ".".
func eachScope(name string) iter.Seq[string] {
	return strings.FieldsFuncSeq(name, func(r rune) bool { return r == ':' || r == '.' })
}

// bare is the skeleton of a scope's name, without what qualifies a member
// function and without ABI tags, which are part of linkage names only.
func bare(s string) string {
	return skeleton(qualifiers.Replace(abiTag().ReplaceAllString(s, "")))
}

// abiTag is how demanglers write [[gnu::abi_tag("cxx11")]].
var abiTag = lazy(`\[abi:[^\]]*\]`)

// acceptable yields the normalised texts of a name, the likeliest first.
func acceptable(k nameKey, yield func(string) bool) {
	_ = linkageTexts(k, yield) && plainTexts(k, yield) && adaTexts(k, yield)
}

// adaTexts yields the decoded texts of names in Ada.
func adaTexts(k nameKey, yield func(string) bool) bool {
	if !k.ada {
		return true
	}
	for _, encoded := range []string{k.linkage, k.name} {
		if text, ok := adaName(encoded); ok && !yield(normalise(text)) {
			return false
		}
	}
	return true
}

// linkageTexts yields those of a linkage name; it is false when yield was.
func linkageTexts(k nameKey, yield func(string) bool) bool {
	if k.linkage == "" {
		return true
	}
	if !yield(normalise(readable(k.linkage))) || !yield(normalise(k.linkage)) {
		return false
	}
	if !isLibrarys(k.linkage) {
		if s, ok := names.Demangle([]byte(k.linkage)); ok && !yield(normalise(s)) {
			return false
		}
	}
	if names.IsMisread([]byte(k.linkage)) {
		return true // the library has nothing right to say
	}
	for _, opts := range [][]demangle.Option{
		{demangle.NoParams}, {demangle.NoParams, demangle.NoTemplateParams}, {demangle.NoClones}, {demangle.NoRust},
	} {
		s, err := demangle.ToString(k.linkage, append(opts, demangle.MaxLength(maxNameLog))...)
		if err == nil && (!yield(normalise(s)) || !yield(normalise(withoutReturnType(s)))) {
			return false
		}
	}
	return true
}

// plainTexts yields the plain name with the scopes around it, and alone.
func plainTexts(k nameKey, yield func(string) bool) bool {
	if k.name == "" {
		return k.linkage != "" || yield(normalise(nameOmitted))
	}
	var path strings.Builder
	for _, s := range k.scopes() {
		path.WriteString(cmp.Or(s, anonymousScope))
		path.WriteString("::")
	}
	return yield(normalise(path.String()+k.name)) && yield(normalise(k.name))
}

// anonymousScope stands for the names that tools give to scopes without one.
const anonymousScope = "(anonymous)"

var anonymousScopes = strings.NewReplacer("(anonymousnamespace)", anonymousScope, "(anonymousclass)", anonymousScope,
	"{{anonymous}}", anonymousScope, "{anonymous}", anonymousScope)

// normalise removes what tools write differently: spaces, and how they call
// scopes without a name; control characters become as they are in symbol files.
func normalise(s string) string {
	s = escaped(s)
	if strings.IndexByte(s, ' ') >= 0 {
		s = strings.ReplaceAll(s, " ", "")
	}
	if strings.Contains(s, "anonymous") {
		s = anonymousScopes.Replace(s)
	}
	return s
}

// originName is the name in an INLINE_ORIGIN record. The first byte of one that begins
// with a number is escaped there: see emit.OriginName.
func originName(text string) string {
	const escape = len(`\xNN`)
	if len(text) < escape || text[:2] != `\x` {
		return text
	}
	b, err := hex.DecodeString(text[2:escape])
	if err != nil {
		return text
	}
	if name := string(b) + text[escape:]; emit.OriginName(name) == text && emit.Name(name) != text {
		return name
	}
	return text
}

// qualifiers are those of member functions that other names are in.
var qualifiers = strings.NewReplacer(")const&&", ")", ")const&", ")", ")const", ")", ")volatile", ")", ")&&", ")", ")&", ")")

// skeleton removes what is in brackets, for names that refer to functions in
// their template arguments: demanglers differ in how they write those.
func skeleton(s string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<' || c == '(' || c == '{':
			depth++
		case (c == '>' || c == ')' || c == '}') && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// withoutReturnType removes the type in front of the name in the text of a
// template function: what comes before the last space outside of brackets in
// front of the parameters.
func withoutReturnType(s string) string {
	depth, cut := 0, -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '(', '[', '{':
			if s[i] == '(' && depth == 0 && !strings.HasPrefix(s[i:], "(anonymous") && i > 0 && s[i-1] != ' ' {
				return s[cut+1:]
			}
			depth++
		case '>', ')', ']', '}':
			if i > 0 && s[i] == '>' && s[i-1] == '-' {
				continue
			}
			depth--
		case ' ':
			if depth == 0 && !strings.HasSuffix(s[:i], "operator") {
				cut = i
			}
		}
	}
	return s[cut+1:]
}
