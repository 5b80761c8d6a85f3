package architecture

import (
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// publicNames has the number of exported names and methods of each public package. All
// together are to be at most 750: a name is exported because an importer wants it.
var publicNames = map[string]int{
	"cfi":                  54,
	"check":                8,
	"check/diff":           4,
	"check/lint":           1,
	"check/rank":           4,
	"check/report":         48,
	"check/storecheck":     5,
	"dump":                 27,
	"dump/batch":           40,
	"dump/pathmap":         5,
	"dump/single":          12,
	"dump/store":           29,
	"dump/upkeep":          15,
	"elfx":                 90,
	"elfx/archive":         12,
	"elfx/archive/pkg":     21,
	"elfx/companion":       38,
	"elfx/debuginfod":      20,
	"elfx/identity":        5,
	"emit":                 86,
	"limits":               10,
	"located":              9,
	"lookup":               46,
	"lookup/gsym":          19,
	"lookup/logs":          4,
	"lookup/source":        27,
	"serve":                6,
	"serve/gate":           19,
	"serve/symbolicate":    9,
	"sframe":               30,
	"walk":                 66,
	"walk/compare":         7,
	"walk/corefile":        10,
	"walk/dumpfile":        10,
	"walk/microdump":       7,
	"walk/minidump":        10,
	"walk/peers":           6,
	"walk/peers/rawdump":   3,
	"walk/report":          13,
	"walk/signature":       6,
	"walk/symbols":         7,
	"walk/symbols/elfsyms": 3,
	"walk/symbols/sources": 39,
	"walk/symserver":       13,
	"walk/tombstone":       8,
}

// TestPublicNames: packages export as many names as the table has. A package that exports
// fewer gets a smaller number; a larger one needs a reason.
func TestPublicNames(t *testing.T) {
	found, all := map[string]int{}, 0
	for _, pkg := range publicPackages(t) {
		name := strings.TrimPrefix(pkg.Path(), "symkit/")
		found[name] = exported(pkg)
		all += found[name]
	}

	for _, name := range slices.Sorted(maps.Keys(found)) {
		if found[name] != publicNames[name] {
			t.Errorf("%s exports %d names; publicNames has %d", name, found[name], publicNames[name])
		}
	}
	for name := range publicNames {
		if found[name] == 0 {
			t.Errorf("there is no public package %s: remove it from publicNames", name)
		}
	}
	t.Logf("%d names in all packages", all)
}

// exported returns the number of exported names of a package and of exported methods of its
// types.
func exported(pkg *types.Package) (n int) {
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		n++
		typ, ok := obj.Type().(*types.Named)
		if _, isType := obj.(*types.TypeName); !isType || !ok {
			continue
		}
		for m := range typ.Methods() {
			if m.Exported() {
				n++
			}
		}
		if iface, ok := typ.Underlying().(*types.Interface); ok {
			for m := range iface.ExplicitMethods() {
				if m.Exported() {
					n++
				}
			}
		}
	}
	return n
}
