package architecture

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPublicAPI: nothing that an importer can refer to has a type of an internal
// package, which the importer could not name. The compiler's export data has all
// signatures.
func TestPublicAPI(t *testing.T) {
	for _, pkg := range publicPackages(t) {
		for _, fault := range internalTypes(pkg) {
			t.Error(fault)
		}
	}
}

// publicPackages returns the packages that an importer can name.
func publicPackages(t *testing.T) (pkgs []*types.Package) {
	t.Helper()
	t.Chdir(top)
	out, err := exec.Command("go", "list", "-pgo=off", "-export", "-deps", "-json=ImportPath,Export,Name", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	export := map[string]string{}
	var public []string
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct{ ImportPath, Export, Name string }
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		export[pkg.ImportPath] = pkg.Export
		if own(pkg.ImportPath) && pkg.Name != "main" && !internal(pkg.ImportPath) && pkg.Export != "" {
			public = append(public, pkg.ImportPath)
		}
	}
	if !slices.Contains(public, "symkit/dump") {
		t.Fatalf("go list found the packages %q", public)
	}

	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(export[path])
	})
	for _, path := range public {
		pkg, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, pkg)
	}
	return pkgs
}

// TestInternalTypes: every kind of mention of an internal type is found.
func TestInternalTypes(t *testing.T) {
	t.Chdir(top)
	hidden := types.NewPackage("symkit/internal/hidden", "hidden")
	secret := named(hidden, "Secret", types.NewStruct(nil, nil))
	result := func(typ types.Type) *types.Signature {
		return types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewVar(0, nil, "", typ)), false)
	}
	field := func(pkg *types.Package, name string, embedded bool, typ types.Type) *types.Struct {
		return types.NewStruct([]*types.Var{types.NewField(0, pkg, name, typ, embedded)}, nil)
	}

	for what, declare := range map[string]func(*types.Package) types.Object{
		"result":   func(p *types.Package) types.Object { return types.NewFunc(0, p, "F", result(types.NewPointer(secret))) },
		"variable": func(p *types.Package) types.Object { return types.NewVar(0, p, "V", types.NewSlice(secret)) },
		"constant": func(p *types.Package) types.Object { return types.NewConst(0, p, "C", secret, nil) },
		"alias":    func(p *types.Package) types.Object { return types.NewTypeName(0, p, "A", nil) },
		"field": func(p *types.Package) types.Object {
			return named(p, "T", field(p, "F", false, types.NewMap(types.Typ[types.Int], secret))).Obj()
		},
		"embedded type": func(p *types.Package) types.Object { return named(p, "T", field(p, "Secret", true, secret)).Obj() },
		"method": func(p *types.Package) types.Object {
			n := named(p, "T", types.NewStruct(nil, nil))
			n.AddMethod(types.NewFunc(0, p, "M", types.NewSignatureType(types.NewVar(0, p, "", n), nil, nil, nil, types.NewTuple(types.NewVar(0, p, "", secret)), false)))
			return n.Obj()
		},
		"underlying type": func(p *types.Package) types.Object { return named(p, "T", types.NewChan(types.SendRecv, secret)).Obj() },
		"interface": func(p *types.Package) types.Object {
			i := types.NewInterfaceType([]*types.Func{types.NewFunc(0, p, "M", result(secret))}, nil).Complete()
			return named(p, "I", i).Obj()
		},
		"field of an unexported type": func(p *types.Package) types.Object {
			return types.NewFunc(0, p, "F", result(named(p, "t", field(p, "F", false, secret))))
		},
	} {
		pkg := types.NewPackage("symkit/shown", "shown")
		obj := declare(pkg)
		if what == "alias" {
			types.NewAlias(obj.(*types.TypeName), secret)
		}
		pkg.Scope().Insert(obj)
		if faults := internalTypes(pkg); len(faults) != 1 || !strings.Contains(faults[0], "internal/hidden.Secret") {
			t.Errorf("%s: %q", what, faults)
		}
	}

	// What an importer cannot refer to may have any type.
	pkg := types.NewPackage("symkit/shown", "shown")
	pkg.Scope().Insert(types.NewVar(0, pkg, "v", secret))
	pkg.Scope().Insert(named(pkg, "T", field(pkg, "f", false, secret)).Obj())
	if faults := internalTypes(pkg); faults != nil {
		t.Errorf("unexported: %q", faults)
	}
}

// named returns a defined type.
func named(pkg *types.Package, name string, underlying types.Type) *types.Named {
	return types.NewNamed(types.NewTypeName(0, pkg, name, nil), underlying, nil)
}

// own reports whether a package is one of this module.
func own(path string) bool { return strings.HasPrefix(path, "symkit/") }

// internal reports whether a package is in or below a directory named internal, or is for tests only.
func internal(path string) bool {
	parts := strings.Split(path, "/")
	return slices.Contains(parts, "internal") || len(parts) > 1 && parts[1] == "test"
}

// internalTypes returns a text for each exported identifier of pkg whose type mentions
// a type of an internal package of this module.
func internalTypes(pkg *types.Package) (faults []string) {
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		v := visitor{pkg: pkg, seen: map[types.Type]bool{}}
		switch typ := obj.Type().(type) {
		case *types.Alias:
			v.visit(name, typ.Rhs())
		default:
			v.visit(name, typ)
		}
		faults = append(faults, v.faults...)
	}
	return faults
}

// visitor walks over the types that an importer reaches from one identifier.
type visitor struct {
	pkg    *types.Package
	seen   map[types.Type]bool
	faults []string
}

// visit notes where typ, the type of what path names, mentions internal types.
func (v *visitor) visit(path string, typ types.Type) {
	if v.seen[typ] {
		return
	}
	v.seen[typ] = true

	switch typ := typ.(type) {
	case *types.Alias:
		if v.allowed(path, typ.Obj()) {
			v.visit(path, typ.Rhs())
		}
	case *types.Named:
		if !v.allowed(path, typ.Obj()) {
			return
		}
		for arg := range typ.TypeArgs().Types() {
			v.visit(path, arg)
		}

		// The types of other packages are visited with their packages.
		if typ.Obj().Pkg() == v.pkg {
			v.members(path, typ)
		}
	case interface{ Elem() types.Type }:
		v.visit(path, typ.Elem())
		if m, ok := typ.(*types.Map); ok {
			v.visit(path, m.Key())
		}
	case *types.Signature:
		for p := range typ.TypeParams().TypeParams() {
			v.visit(path, p.Constraint())
		}
		for p := range typ.Params().Variables() {
			v.visit(path, p.Type())
		}
		for p := range typ.Results().Variables() {
			v.visit(path, p.Type())
		}
	case *types.Struct:
		for f := range typ.Fields() {
			if f.Exported() || f.Embedded() {
				v.visit(path+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range typ.Methods() {
			if m.Exported() {
				v.visit(path+"."+m.Name(), m.Type())
			}
		}
	}
}

// members visits what a type of the package consists of, and its exported methods.
func (v *visitor) members(path string, typ *types.Named) {
	v.visit(path, typ.Underlying())
	for m := range typ.Methods() {
		if m.Exported() {
			v.visit(path+"."+m.Name(), m.Type())
		}
	}
}

// allowed notes a fault if obj, a type, is of an internal package of this module.
func (v *visitor) allowed(path string, obj *types.TypeName) bool {
	if obj.Pkg() == nil || !own(obj.Pkg().Path()) || !internal(obj.Pkg().Path()) {
		return true
	}
	v.faults = append(v.faults, fmt.Sprintf("%s.%s mentions %s.%s, which no importer can name", v.pkg.Path(), path, obj.Pkg().Path(), obj.Name()))
	return false
}
