package architecture

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits of the shape of packages. A file has a floor: one above the highest floor among the files of its package
// whose declarations it uses. A reference from a file to one that is not below runs upwards.
const (
	mostUpward  = 4  // references that run upwards in a package
	mostMethods = 35 // of a type
	mostFields  = 16 // of a struct that is not named in records
)

// shapes has the packages and types that are above a limit, with their figures. A smaller figure must be written here.
var shapes = map[string]int{
	"cfi.CIE fields":  18,
	"cfi.Text fields": 17,
	"check/internal/naming/swift.stack methods":         71,
	"check/internal/symfile.File fields":                22,
	"check/internal/truth/dwarfinfo.Info fields":        27,
	"check/internal/truth/dwarfinfo.Unit fields":        25,
	"check/internal/truth/dwarfinfo.lineProgram fields": 17,
	"cmd/stackwalk":                          8,
	"cmd/stackwalk.cli fields":               35,
	"cmd/symserve.cli fields":                23,
	"dump.Stats fields":                      24,
	"dump/batch.Record fields":               24,
	"internal/dwarfx.Data fields":            21,
	"internal/dwarfx.Data methods":           47,
	"internal/dwarfx.Unit fields":            28,
	"internal/gosym.Table fields":            19,
	"internal/gosym.Table methods":           40,
	"internal/dwarfx.scanner fields":         20,
	"dump/internal/inlines.Placer fields":    27,
	"emit.Index methods":                     44,
	"emit.Reader fields":                     19,
	"internal/demangle/cxx":                  20,
	"internal/demangle/cxx.tree fields":      31,
	"internal/demangle/cxx.tree methods":     177,
	"internal/demangle/dlang.parser methods": 41,
	"internal/demangle/swift.Reader methods": 121,
	"internal/standin.rustFlags fields":      24,
	"internal/inflate":                       5,
	"sframe.FDE fields":                      20,
	"walk":                                   8,
	"walk.Facts fields":                      19,
	"walk.Module fields":                     17,
	"walk.Process fields":                    18,
	"walk/corefile":                          9,
	"walk/corefile.Core fields":              18,
	"walk/corefile.Core methods":             45,
	"walk/microdump.Dump fields":             18,
	"walk/internal/mdmp.Dump fields":         24,
	"walk/internal/mdmp.Dump methods":        57,
	"walk/report":                            5,
	"walk/report.crashView fields":           23,
	"walk/report.jsonReport fields":          18,
	"walk/symserver.Server fields":           17,
}

// records lists structs that are options or records of a format: lists of values, which no code changes together.
var records = map[string]bool{"serve.Options": true}

// A checkedPackage is a package of the module with its syntax and types.
type checkedPackage struct {
	name  string // relative to the module
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	types *types.Package
}

// TestShape: packages can be read from the bottom up, and no type does everything.
func TestShape(t *testing.T) {
	t.Chdir(top)
	found := map[string]int{}
	for _, pkg := range checkedPackages(t) {
		if n := pkg.upward(); n > mostUpward {
			found[pkg.name] = n
		}
		for _, name := range pkg.types.Scope().Names() {
			obj, ok := pkg.types.Scope().Lookup(name).(*types.TypeName)
			if !ok || obj.IsAlias() {
				continue
			}
			typ, ok := obj.Type().(*types.Named)
			if !ok {
				continue
			}
			key := pkg.name + "." + name
			if n := typ.NumMethods(); n > mostMethods {
				found[key+" methods"] = n
			}
			fields, ok := typ.Underlying().(*types.Struct)
			if ok && fields.NumFields() > mostFields && !records[key] {
				found[key+" fields"] = fields.NumFields()
			}
		}
	}

	for _, key := range slices.Sorted(maps.Keys(found)) {
		if found[key] != shapes[key] {
			t.Errorf("%s: %d; shapes has %d", key, found[key], shapes[key])
		}
	}
	for key := range shapes {
		if found[key] == 0 {
			t.Errorf("%s is within the limits: remove it from shapes", key)
		}
	}
}

// checkedPackages returns all packages of the module that are part of the product.
func checkedPackages(t *testing.T) (pkgs []*checkedPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-pgo=off", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	export := map[string]string{}
	var own []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg listed
		err := dec.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		export[pkg.ImportPath] = pkg.Export
		name, ok := strings.CutPrefix(pkg.ImportPath, "symkit/")
		if ok && !strings.HasPrefix(name, "test/") && !strings.HasPrefix(name, "scripts/") {
			own = append(own, pkg)
		}
	}

	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(export[path])
	})
	for _, l := range own {
		pkg := &checkedPackage{name: strings.TrimPrefix(l.ImportPath, "symkit/"), fset: fset}
		for _, name := range l.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			pkg.files = append(pkg.files, f)
		}
		pkg.info = &types.Info{Uses: map[*ast.Ident]types.Object{}}
		pkg.types, err = (&types.Config{Importer: imp}).Check(l.ImportPath, fset, pkg.files, pkg.info)
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, pkg)
	}
	return pkgs
}

// upward returns how many references run upwards: pairs of files. Files that use each other are ordered so that few
// do: first those that use most and are used least.
func (p *checkedPackage) upward() int {
	uses := map[string]map[string]bool{}
	for _, f := range p.files {
		uses[p.fset.Position(f.Pos()).Filename] = map[string]bool{}
	}
	for ident, obj := range p.info.Uses {
		if obj.Pkg() != p.types || !obj.Pos().IsValid() {
			continue
		}
		from, to := p.fset.Position(ident.Pos()).Filename, p.fset.Position(obj.Pos()).Filename
		if from != to && uses[to] != nil {
			uses[from][to] = true
		}
	}

	// The order of Eades, Lin and Smyth: files without users go to the top, files that use none to the ground.
	rank := map[string]int{}
	top, ground := len(uses), 0
	left := slices.Sorted(maps.Keys(uses))
	for len(left) > 0 {
		best, bestScore := 0, -len(uses)*4
		for i, f := range left {
			out, in := 0, 0
			for _, g := range left {
				if uses[f][g] {
					out++
				}
				if uses[g][f] {
					in++
				}
			}
			score := out - in
			if out == 0 || in == 0 {
				score += 2 * len(uses)
			}
			if out == 0 {
				score += 2 * len(uses)
			}
			if score > bestScore {
				best, bestScore = i, score
			}
		}
		f := left[best]
		left = slices.Delete(left, best, best+1)
		if bestScore >= 3*len(uses) {
			rank[f] = ground
			ground++
		} else {
			rank[f] = top
			top--
		}
	}

	n := 0
	for f, used := range uses {
		for g := range used {
			if rank[g] > rank[f] {
				n++
			}
		}
	}
	return n
}
