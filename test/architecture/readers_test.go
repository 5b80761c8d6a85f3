package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoDebugELFReader: programs use debug/elf only for its constants. Its readers
// inflate compressed sections without being asked to, up to any size that the section
// claims: elf.NewFile the section name table, File.Symbols string tables.
func TestNoDebugELFReader(t *testing.T) {
	t.Chdir(top)
	readers := []string{"Open", "NewFile", "File", "Section", "Prog", "Symbol"}
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains([]string{"scripts", "test"}, path) {
			return filepath.SkipDir // scripts and helpers of tests read files that are not hostile
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		if !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"debug/elf"` }) {
			return nil
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "elf" && slices.Contains(readers, s.Sel.Name) {
				t.Errorf("%s: elf.%s: read files with elfx", fset.Position(s.Pos()), s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files", files)
	}
}
