package symkit

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// privateWords are words that only the authors of this code understand at once, each
// with the reason and with what to write instead. They must not be part of an
// identifier, a comment, a string or a document.
var privateWords = []struct{ words, reason, instead string }{
	{"piece pieces", "of memory, of a file, of an object?", "buffer, segment, part"},
	{"room rooms", "a figure of speech for memory", "arena, space, package"},
	{"bare", "without what?", "symbol-only, unqualified, plain"},
	{"early untold", "before what, and by whom?", "speculative, too soon, not reported"},
	{"hop hops leap leaps", "a figure of speech for skipping bytes", "skip, seek, skip program"},
	{"way ways", "says nothing about how", "method, direction, kind, like this"},
	{"said", "nobody speaks", "cached, written, rendered"},
	{"phrase phrases phrasebook", "records have no phrases", "text, rule, ruleCache"},
	{"enclosings", "no word of DWARF", "parent index, scopes"},
}

// privatePhrases are phrases of the same kind.
var privatePhrases = []struct {
	phrase          *regexp.Regexp
	reason, instead string
}{
	{regexp.MustCompile(`(?i)\btells? whether\b`), "functions do not tell", "reports whether"},
	{regexp.MustCompile(`(?i)\btold (from|apart)\b`), "by whom?", "distinguished"},
	{regexp.MustCompile(`(?i)\bwho(ever)? (calls|asks|wants|would)\b`), "a caller is no person", "the caller, the worker"},
	{regexp.MustCompile(`(?i)\bwhat (is )?behind\b`), "bytes have no behind", "what follows, after"},
	{regexp.MustCompile(`(?i)\bbehind (it|them|this|that|the (last|first|end|name|table|symbol|section))\b`),
		"bytes have no behind", "after it"},
}

// quotedTerms are terms of specifications and of other programs that contain a
// private word.
var quotedTerms = regexp.MustCompile(`DW_OP_(bit_)?piece|OpPiece|OpBitPiece|bare-function-type|git init -q --bare`)

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	camelCase  = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
)

// sourceTree is what the tests of this file read: the paths of all files of the
// repository, by kind.
type sourceTree struct{ code, text []string }

// readSourceTree lists the repository. Inputs of tests are left out: other programs
// wrote them.
func readSourceTree(t *testing.T) (tree sourceTree) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || path == filepath.Join("testdata", "src")):
			return filepath.SkipDir
		case d.IsDir() || path == "words_test.go":
			return nil
		}

		switch filepath.Ext(path) {
		case ".go":
			tree.code = append(tree.code, path)
		case ".md", ".sh":
			tree.text = append(tree.text, path)
		default:
			if d.Name() == "Makefile" {
				tree.text = append(tree.text, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.code) < 100 || len(tree.text) < 5 {
		t.Fatalf("only %d Go files and %d documents", len(tree.code), len(tree.text))
	}
	return tree
}

// TestWords: no private word is part of the repository.
func TestWords(t *testing.T) {
	tree := readSourceTree(t)
	for _, path := range tree.text {
		for i, line := range strings.Split(string(readSource(t, path)), "\n") {
			checkWords(t, token.Position{Filename: path, Line: i + 1}, line)
		}
	}

	for _, path := range tree.code {
		src := readSource(t, path)
		fset := token.NewFileSet()
		var s scanner.Scanner
		s.Init(fset.AddFile(path, -1, len(src)), src, nil, scanner.ScanComments)
		for {
			pos, tok, text := s.Scan()
			if tok == token.EOF {
				break
			}
			if tok == token.IDENT || tok == token.COMMENT || tok == token.STRING {
				checkWords(t, fset.Position(pos), text)
			}
		}
	}
}

func readSource(t *testing.T, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// checkWords reports the private words in a text that begins at a position.
func checkWords(t *testing.T, at token.Position, text string) {
	t.Helper()
	text = quotedTerms.ReplaceAllString(text, "")
	for _, name := range identifier.FindAllString(text, -1) {
		for _, word := range camelCase.FindAllString(name, -1) {
			for _, p := range privateWords {
				if slices.Contains(strings.Fields(p.words), strings.ToLower(word)) {
					t.Errorf("%s:%d: %s: %q: %s; write %s", at.Filename, at.Line, name, word, p.reason, p.instead)
				}
			}
		}
	}
	for _, p := range privatePhrases {
		if found := p.phrase.FindString(text); found != "" {
			t.Errorf("%s:%d: %q: %s; write %s", at.Filename, at.Line, found, p.reason, p.instead)
		}
	}
}

// Bodies of functions have paragraphs: blank lines between steps, and comments that
// head a paragraph or give a reason. Go's own internal/trace has 3.7 blank lines in
// 100, internal/zstd 12.
const (
	leastBlank   = 3 // in 100 lines of bodies
	leastComment = 3
)

// TestParagraphs counts blank lines and own-line comments in the bodies of functions,
// and wants no if header with a statement that does not define what the if tests.
func TestParagraphs(t *testing.T) {
	var all, blank, comment int
	for _, path := range readSourceTree(t).code {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}

		src := readSource(t, path)
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}

		lines := strings.Split(string(src), "\n")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body == nil {
					break // assembly
				}
				from, to := fset.Position(n.Body.Lbrace).Line, fset.Position(n.Body.Rbrace).Line
				for _, line := range lines[from:max(to-1, from)] {
					all++
					switch line = strings.TrimSpace(line); {
					case line == "":
						blank++
					case strings.HasPrefix(line, "//"):
						comment++
					}
				}
			case *ast.IfStmt:
				if n.Init != nil && !definesTested(n) {
					t.Errorf("%s: an if header with a statement that does not define what is tested: give it its own line",
						fset.Position(n.Pos()))
				}
			}
			return true
		})
	}

	t.Logf("%d lines of bodies, %d of them blank, %d comments", all, blank, comment)
	if 100*blank < leastBlank*all || 100*comment < leastComment*all {
		t.Errorf("of %d lines in bodies of functions %d are blank and %d are comments; want at least %d and %d in 100",
			all, blank, comment, leastBlank, leastComment)
	}
}

// definesTested reports whether the init statement of an if defines a variable that
// its condition tests.
func definesTested(n *ast.IfStmt) bool {
	assign, ok := n.Init.(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE {
		return false
	}

	defined := map[string]bool{}
	for _, e := range assign.Lhs {
		if id, ok := e.(*ast.Ident); ok {
			defined[id.Name] = true
		}
	}

	tested := false
	ast.Inspect(n.Cond, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && defined[id.Name] {
			tested = true
		}
		return !tested
	})
	return tested
}
