package architecture

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDocumented: the comment of each public package has text and Go code, an example runs, and
// every exported name is explained.
func TestDocumented(t *testing.T) {
	t.Chdir(top)
	for _, dir := range publicDirs(t) {
		fset := token.NewFileSet()
		files := parseDir(t, fset, dir)
		pkg, err := doc.NewFromFiles(fset, files, "symkit/"+filepath.ToSlash(dir))
		if err != nil {
			t.Fatal(err)
		}

		if !strings.HasPrefix(pkg.Doc, "Package "+pkg.Name+" ") {
			t.Errorf("%s: the package has no comment that begins with its name", dir)
		}
		if !slices.ContainsFunc(allExamples(pkg), func(x *doc.Example) bool { return x.Output != "" }) {
			t.Errorf("%s: no example with an output", dir)
		}
		if fault := badCode(pkg); fault != "" {
			t.Errorf("%s: the comment of the package: %s", dir, fault)
		}
		for _, name := range undocumented(pkg) {
			t.Errorf("%s: %s has no comment", dir, name)
		}
	}
}

// publicDirs returns the directories of the packages that other modules can import.
func publicDirs(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains([]string{"internal", "testdata", "cmd", "scripts", "test", "bin", ".git"}, d.Name()) {
				return fs.SkipDir
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			if dir := filepath.Dir(path); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 20 {
		t.Fatalf("only %d packages were found: %q", len(dirs), dirs)
	}
	return dirs
}

// parseDir parses the files of a package and of its tests.
func parseDir(t *testing.T, fset *token.FileSet, dir string) (files []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// allExamples returns the examples of a package, its types and its functions.
func allExamples(pkg *doc.Package) []*doc.Example {
	list := pkg.Examples
	for _, f := range pkg.Funcs {
		list = append(list, f.Examples...)
	}
	for _, t := range pkg.Types {
		list = append(list, t.Examples...)
		for _, f := range slices.Concat(t.Funcs, t.Methods) {
			list = append(list, f.Examples...)
		}
	}
	return list
}

// badCode returns the fault in the code of a package's comment, or "". There must be code, and
// it must be Go.
func badCode(pkg *doc.Package) string {
	found := false
	for _, block := range pkg.Parser().Parse(pkg.Doc).Content {
		code, ok := block.(*comment.Code)
		if !ok {
			continue
		}
		found = true
		src := "package p\nfunc _() error {\n" + code.Text + "}\n"
		_, err := parser.ParseFile(token.NewFileSet(), "comment", src, parser.SkipObjectResolution)
		if err != nil {
			return err.Error()
		}
	}
	if !found {
		return "no code that shows how to use it"
	}
	return ""
}

// undocumented returns the exported names of a package that have no comment.
func undocumented(pkg *doc.Package) (names []string) {
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, spec := range v.Decl.Specs {
				s := spec.(*ast.ValueSpec)
				for _, name := range s.Names {
					if name.IsExported() && v.Doc == "" && s.Doc == nil && s.Comment == nil {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	funcs := func(list []*doc.Func) {
		for _, f := range list {
			// The interfaces of the standard library explain these.
			if f.Doc == "" && !slices.Contains([]string{"Error", "Unwrap", "String"}, f.Name) {
				names = append(names, strings.TrimPrefix(f.Recv+"."+f.Name, "."))
			}
		}
	}

	values(slices.Concat(pkg.Consts, pkg.Vars))
	funcs(pkg.Funcs)
	for _, t := range pkg.Types {
		if t.Doc == "" {
			names = append(names, t.Name)
		}
		values(slices.Concat(t.Consts, t.Vars))
		funcs(slices.Concat(t.Funcs, t.Methods))
	}
	return names
}
