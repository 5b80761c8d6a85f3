package naming

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"symkit/check/internal/naming/swift"

	"github.com/ianlancetaylor/demangle"
)

// The dumper reads names with code of its own, internal/demangle. This package reads them with a library,
// or with code of its own (forms.go, swift.go), and never with the dumper's code: readers that share code do
// not verify each other. Where the library is known to err, its text verifies nothing.

// maxRead bounds the names that the library is given, whose time grows with the square of the depth
// of types; maxRun bounds the upper-case letters in a row, each of which is a level.
const (
	maxRead = 1 << 14
	maxRun  = 256
)

// trust is how far the text of a linkage name is known to be right.
type trust uint8

const (
	trusted trust = iota
	// rare means that demanglers do not write a part of the name alike, or that the library may err:
	// a text that is the library's is right, another may be.
	rare
	// misread means that the library errs, or refuses the name.
	misread
)

// readable returns the text of a linkage name, for messages and scopes.
func readable(linkage string) string {
	text, _ := demangled(linkage)
	return text
}

// demangled returns the text of a linkage name, the library's or the linkage name if it is misread.
func demangled(linkage string) (text string, t trust) {
	if text, ok := simpleForm(linkage); ok {
		return text, trusted
	}
	if swift.IsName(linkage) {
		if text, ok := swift.Text(linkage); ok {
			return text, trusted
		}
		return linkage, misread
	}
	if !isMangled(linkage) {
		return linkage, trusted
	}
	if strings.HasPrefix(linkage, "_R") {
		text, err := demangle.ToString(linkage, demangle.MaxLength(MaxNameLog))
		switch {
		case err != nil:
			return linkage, misread
		case rustForms().misread.MatchString(rustForms().crate.ReplaceAllString(linkage, "C")):
			return text, rare
		}
		return text, trusted
	}

	ast, ok := parse(linkage)
	if !ok {
		return linkage, misread
	}
	text, ok = printed(ast)
	codes := withoutNames(linkage, ast)
	if !ok || isMisread(codes) {
		return text, misread
	}
	return text, errs(codes, ast)
}

// withoutNames returns a linkage name with its identifiers replaced by x's of the same number, so that
// no part of an identifier is taken for a code: 5space has no sp. An identifier that the library did
// not read stays.
func withoutNames(linkage string, ast demangle.AST) string {
	if !slices.ContainsFunc(errCodes, func(code string) bool { return strings.Contains(linkage, code) }) {
		return linkage
	}

	var names []string
	eachNode(ast, func(a demangle.AST) bool {
		if name, ok := a.(*demangle.Name); ok && name.Name != "" {
			names = append(names, name.Name)
		}
		return true
	})

	// An identifier can be the start of a longer one.
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, name := range slices.Compact(names) {
		size := strconv.Itoa(len(name))
		linkage = strings.ReplaceAll(linkage, size+name, size+strings.Repeat("x", len(name)))
	}
	return linkage
}

// errCodes are the codes of what errs and isMisread look for in a name.
var errCodes = []string{"Dp", "sp", "sr", "sZ", "aS", "coT", "DT", "Dt"}

// rustPatterns match parts of names of Rust's v0: the hash of a crate, and what the library may read
// wrongly, which is constants and patterns, names in closures, and namespaces other than those of
// types and values. Of 87,486 other names of rustc's libraries the library has the text of the
// dumper's reader, which agrees with rustc-demangle.
type rustPatterns struct{ crate, misread *regexp.Regexp }

var rustForms = sync.OnceValue(func() rustPatterns {
	return rustPatterns{regexp.MustCompile(`Cs[0-9A-Za-z]+_`), regexp.MustCompile(`K[a-zA-Z]|W|N[a-suw-z]|N[A-Za-z]NC`)}
})

// isMangled reports whether a name has the form of a mangled name of C++, Rust or D.
func isMangled(linkage string) bool {
	for _, prefix := range []string{"_Z", "___Z", "_GLOBAL_", "_R", "_D"} {
		if rest, ok := strings.CutPrefix(linkage, prefix); ok && rest != "" {
			return prefix != "_D" || isDigit(rest[0]) || strings.HasPrefix(rest, "Ti") || strings.HasPrefix(rest, "Thn")
		}
	}
	return false
}

// parse reads a name with the library.
func parse(linkage string, options ...demangle.Option) (ast demangle.AST, ok bool) {
	if len(linkage) > maxRead || isDeep(linkage) {
		return nil, false
	}
	defer func() {
		if recover() != nil { // a forged name
			ast, ok = nil, false
		}
	}()
	ast, err := demangle.ToAST(linkage, options...)
	return ast, err == nil
}

// printed returns the text of what the library read.
func printed(ast demangle.AST, options ...demangle.Option) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			text, ok = "", false
		}
	}()
	return demangle.ASTToString(ast, append(options, demangle.MaxLength(MaxNameLog))...), true
}

// isDeep reports whether a name may have types nested more deeply than programs do.
func isDeep(name string) bool {
	if len(name) <= maxRun {
		return false
	}
	run := 0
	for i := range len(name) {
		run++
		if name[i] < 'A' || name[i] > 'Z' {
			run = 0
		}
		if run > maxRun {
			return true
		}
	}
	return false
}

// errs reports how wrongly the library (version 2026-07-24) writes parts of a name, which is without
// identifiers:
//   - constrained templates: parameters stay T0, and references to references are not collapsed;
//   - packs: of several packs in one expansion one is expanded, so are the packs of an expansion in
//     another; qualifiers of one element of a pack get to the others; the number of a function's
//     parameters is not written;
//   - qualifiers that join those of a template's argument are in another order, and those that
//     join a function's are lost;
//   - constructors of classes in modules are called Class@module, template parameters of lambdas by
//     other numbers;
//   - the first parameter of a constructor template with ABI tags is taken for a return type;
//   - the types in alignof and typeid are no candidates for substitution;
//   - functions among the template arguments of the function around a local name lack their types;
//   - a function that is called in an expression has its type if it is a template's: "int g<int>(g)".
//
// Initializers and qualifiers of compilers are written otherwise by each demangler.
//
// The library expands packs when it reads a name, so expansions are looked for in the name itself.
func errs(linkage string, ast demangle.AST) (worst trust) {
	packs := strings.Contains(linkage, "Dp") || strings.Contains(linkage, "sp")
	joined := joins(linkage)
	special := packs || strings.Contains(linkage, "sZ") || strings.Contains(linkage, "aS") || strings.Contains(linkage, "coT")
	if special && misreadForm().MatchString(linkage) {
		return misread
	}
	eachNode(ast, func(a demangle.AST) bool {
		switch a := a.(type) {
		case *demangle.TemplateParamQualifiedArg, *demangle.Constraint, *demangle.RequiresExpr, *demangle.ModuleEntity,
			*demangle.TypeTemplateParam, *demangle.NonTypeTemplateParam, *demangle.TemplateTemplateParam,
			*demangle.ConstrainedTypeTemplateParam, *demangle.TemplateParamPack, *demangle.SizeofPack, *demangle.SizeofArgs:
			worst = misread
		case *demangle.ArgumentPack:
			if packs && joined && slices.ContainsFunc(a.Args, isQualified) {
				worst = misread
			}
		case *demangle.Template:
			if isTaggedConstructor(a.Name) {
				worst = misread
			}
			if joined && slices.ContainsFunc(a.Args, isQualified) {
				worst = max(worst, rare)
			}
		case *demangle.Qualified:
			if a.LocalName && strings.Contains(linkage, "L_Z") {
				worst = max(worst, rare)
			}
		case *demangle.Binary:
			if isCallOfTemplate(a) {
				worst = max(worst, rare)
			}
		case *demangle.InitializerList, *demangle.VendorQualifier:
			worst = max(worst, rare)
		case *demangle.Operator:
			if strings.HasPrefix(a.Name, "alignof") || strings.HasPrefix(a.Name, "typeid") {
				worst = max(worst, rare)
			}
		}
		return worst != misread
	})
	return worst
}

// isTaggedConstructor reports whether a name is that of a constructor with ABI tags.
func isTaggedConstructor(a demangle.AST) bool {
	if q, ok := a.(*demangle.Qualified); ok {
		a = q.Name
	}
	tagged := false
	for t, ok := a.(*demangle.TaggedName); ok; t, ok = a.(*demangle.TaggedName) {
		a, tagged = t.Name, true
	}
	_, ok := a.(*demangle.Constructor)
	return ok && tagged
}

// isCallOfTemplate reports whether an expression calls a function of a template by its mangled name (clL_Z1gIiE…).
func isCallOfTemplate(a *demangle.Binary) bool {
	op, ok := a.Op.(*demangle.Operator)
	callee, typed := a.Left.(*demangle.Typed)
	if !ok || op.Name != "()" || !typed {
		return false
	}
	_, ok = callee.Name.(*demangle.Template)
	return ok
}

// maxTree is the number of nodes from which on eachNode expects substitutions in substitutions.
const maxTree = 1 << 9

// eachNode calls f for the nodes of a name, for some more than once. The children of a node for which f
// returns false are left out. A substitution is the node that it stands for, and Traverse would visit that
// node again, so that the time doubled with each of pair<S0_, S0_>, pair<S1_, S1_> and so on: in a large
// name eachNode notes the nodes that it has seen.
func eachNode(ast demangle.AST, f func(demangle.AST) bool) {
	count := 0
	var seen map[demangle.AST]bool
	ast.Traverse(func(a demangle.AST) bool {
		count++
		if count > maxTree {
			if seen[a] {
				return false
			}
			if seen == nil {
				seen = map[demangle.AST]bool{}
			}
			seen[a] = true
		}
		return f(a)
	})
}

// misreadForm matches an expansion of more than a parameter, or a pointer or reference to one; the
// number of a pack's elements; assignments; and destructors as clang writes them.
var misreadForm = lazy(`(?:Dp|sp)[ROPKV]*(?:[^ROPKVTS]|S[a-z]|[TS][0-9A-Z]*_I)|sZ|aS(?:fp|dt|cl|de)|coT`)

// joins reports whether a name has qualifiers of a template parameter, or of what a substitution
// stands for.
func joins(linkage string) bool {
	for i := 0; i+2 < len(linkage); i++ {
		if c := linkage[i+1]; (c == 'T' || c == 'S') && strings.IndexByte("KVr", linkage[i]) >= 0 {
			rest := strings.TrimLeft(linkage[i+2:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
			if strings.HasPrefix(rest, "_") {
				return true
			}
		}
	}
	return false
}

// isQualified reports whether an argument of a template is a type that qualifiers join: one with
// qualifiers, a function or an array.
func isQualified(arg demangle.AST) bool {
	switch arg.(type) {
	case *demangle.TypeWithQualifiers, *demangle.FunctionType, *demangle.MethodWithQualifiers, *demangle.ArrayType:
		return true
	}
	return false
}

// decltypeScope matches a name in the scope of a decltype, which the library, as c++filt, takes for two candidates for
// substitution.
var decltypeScope = lazy(`N[rVK]*[RO]?D[Tt]`)

// isMisread reports whether the library is known to read a C++ name wrongly, maybe without an error,
// because of the scope of a dependent name, which may be a decltype. In state.unresolvedName:
//   - after sr and a digit, each template becomes a candidate for substitution. In Clang's
//     sr3hasIT_EE5value no template is one, so that all later substitutions refer to other
//     candidates;
//   - GCC's sr3hasIT_E5value is refused, or the text after it is taken for a part of the scope;
//   - GCC's srN2ns3hasIT_EE5value and srNT_4typeE5value lack candidates.
//
// Clang's sr3stdE7declval, a list of plain names, is read rightly.
func isMisread(linkage string) bool {
	if !strings.HasPrefix(linkage, "_Z") {
		return false
	}
	if decltypeScope().MatchString(linkage) {
		return true
	}
	for {
		_, rest, ok := strings.Cut(linkage, "sr")
		if !ok {
			return false
		}
		if rest != "" && (rest[0] == 'N' || isDigit(rest[0]) && !isPlainScope(rest)) {
			return true
		}
		linkage = rest
	}
}

// isPlainScope reports whether rest begins with source names, an E and one more source name, as
// Clang writes a scope without templates and the name in it.
func isPlainScope(rest string) bool {
	for rest != "" && isDigit(rest[0]) {
		name, after, ok := cutName(rest)
		if !ok || name == "" {
			return false
		}
		rest = after
	}
	return len(rest) > 1 && rest[0] == 'E' && isDigit(rest[1])
}
