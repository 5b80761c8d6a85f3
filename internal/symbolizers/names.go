package symbolizers

import (
	"regexp"
	"slices"
	"strings"

	library "github.com/ianlancetaylor/demangle"

	"symkit/internal/demangle"
	"symkit/lookup"
)

// Names are demangled as binutils and LLVM do. Package demangle writes C++ as binutils does, so that what they add is
// added here. LLVM writes lambdas and template arguments otherwise, as the library does.

// style is how a name is shown.
type style uint8

const (
	mangled style = iota
	gnuStyle
	llvmStyle
)

// readable returns the style of a program that was asked for readable names, or not.
func readable(yes bool, s style) style {
	if !yes {
		return mangled
	}
	return s
}

// shown returns a name in a style.
func (s style) shown(name string) string {
	switch s {
	case gnuStyle:
		return gnuName(name)
	case llvmStyle:
		return llvmName(name)
	}
	return name
}

// Scratch is what one goroutine keeps from answer to answer.
type Scratch struct {
	Sweep  lookup.Sweep
	frames []lookup.Frame
	sourceFile
	known map[[2]string]string // names as they are shown
	bytes int                  // of known
}

// mostKnown is how many bytes Scratch.known may have. Code that lies together has the same names.
const mostKnown = 4 << 20

// Name returns what show returns for a function with a linkage name and a name: it is called once for both, as long as
// they are known.
func (c *Scratch) Name(linkage, name string, show func() string) string {
	text, found := c.known[[2]string{linkage, name}]
	if found {
		return text
	}
	text = show()
	size := len(linkage) + len(name) + len(text)
	c.bytes += size
	if c.known == nil || c.bytes > mostKnown {
		c.known, c.bytes = map[[2]string]string{}, size
	}
	c.known[[2]string{strings.Clone(linkage), strings.Clone(name)}] = text // they may be parts of a unit's text
	return text
}

// shown returns a name in a style, which is the same in all calls.
func (c *Scratch) shown(name string, s style) string {
	if s == mangled || len(name) < 2 || name[0] != '_' && (s == llvmStyle || name[0] != '.' && name[0] != '$') {
		return name
	}
	return c.Name(name, "", func() string { return s.shown(name) })
}

// gnuName demangles a name as addr2line -C does: what stands before it, a symbol's version, and the suffixes of copies
// stay.
func gnuName(name string) string {
	start := strings.TrimLeft(name, ".$")
	prefix := name[:len(name)-len(start)]
	base, _, _ := strings.Cut(start, "@")
	if len(base) < 2 || base[0] != '_' {
		return name
	}
	switch base[1] {
	case 'Z', 'R', 'D', 'G':
	default:
		return name
	}
	text, ok := demangle.Demangle([]byte(base))
	if !ok || text == string(demangle.Base([]byte(base))) {
		return name
	}
	if base[1] == 'Z' && !oldRust.MatchString(base) {
		_, suffix := divide(base)
		if clone.ReplaceAllString(suffix, "") != "" {
			return name
		}
		text += clone.ReplaceAllString(suffix, " [clone $0]")
	}
	return prefix + text + start[len(base):]
}

var (
	// clone matches a suffix of a copy or a part of a function, as libiberty's d_clone_suffix does.
	clone = regexp.MustCompile(`\.[a-z0-9_]+(\.[0-9]+)*`)
	// oldRust matches names of Rust that look like C++'s.
	oldRust = regexp.MustCompile(`17h[0-9a-f]{16}E(\.|$)`)
)

// mostDots is how many dots of a name are looked at.
const mostDots = 64

// divide divides a name before what compilers have appended, at the first dot before which a whole name
// stands: names of the older Rust and of Zig have dots of their own.
func divide(name string) (base, suffix string) {
	dots := 0
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		dots++
		_, ok := demangle.Demangle([]byte(name[:i]))
		if ok {
			return name[:i], name[i:]
		}
		if dots == mostDots {
			break
		}
	}
	return name, ""
}

// maxTextLog is the logarithm of the most bytes that a demangled name has: a few bytes of a forged name can stand for
// gigabytes. maxName is the most that a linkage name may have to be demangled: each byte can be a level of recursion.
const (
	maxTextLog = 16
	maxName    = 1 << 14
)

// misread matches names in a dependent scope with template arguments, and constructor templates with ABI tags, of which the
// library gives some another type: std::swap<int>(int&, int&) of clang, string::string[abi:v1]<0>(char const*).
var misread = regexp.MustCompile(`sr[N0-9]|C[1-5]B[0-9a-z_]+I`)

// llvmName demangles a name as llvm-symbolizer does: names of the older Rust are taken for C++'s, and what a compiler
// appended is in one pair of parentheses.
func llvmName(name string) (text string) {
	if len(name) < 2 || len(name) > maxName || name[0] != '_' {
		return name
	}
	defer func() {
		if recover() != nil { // a forged name
			text = name
		}
	}()
	base, suffix := divide(name)
	if suffix != "" {
		suffix = " (" + suffix + ")"
	}
	switch {
	case name[1] == 'R':
		text, ok := demangle.Demangle([]byte(base)) // the library misreads constructors and closures
		if !ok {
			return name
		}
		return text + suffix
	case misread.MatchString(name):
		return strings.ReplaceAll(strings.ReplaceAll(gnuName(name), "> >", ">>"), "> >", ">>") // of three, too
	}
	ast, err := library.ToAST(base, library.NoRust)
	if err != nil {
		return name
	}
	if strings.Contains(base, "Dp") {
		spread(ast)
	}
	return library.ASTToString(ast, library.MaxLength(maxTextLog), library.LLVMStyle) + suffix
}

// spread joins the elements of packs to the template arguments that they are among, in expressions: the library writes
// is_invocable_r_v<int, A&, (int, char)>. A substitution is the node that it stands for, so that nodes are noted.
func spread(ast library.AST) {
	seen := map[library.AST]bool{}
	ast.Traverse(func(a library.AST) bool {
		if seen[a] {
			return false
		}
		seen[a] = true
		t, ok := a.(*library.Template)
		for i := 0; ok && i < len(t.Args); i++ {
			if pack, isPack := t.Args[i].(*library.ExprList); isPack {
				t.Args = slices.Concat(t.Args[:i], pack.Exprs, t.Args[i+1:])
			}
		}
		return true
	})
}
