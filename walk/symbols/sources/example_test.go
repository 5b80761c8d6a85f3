package sources_test

import (
	"context"
	"fmt"

	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// Example looks for the symbols of a module in two stores. A walk asks a supplier like this.
func Example() {
	supplier := sources.Chain(
		&sources.Store{Dirs: []string{"testdata/empty"}},
		&sources.Store{Dirs: []string{"../../../cmd/stackwalk/testdata/breakpad/symbols"}},
	)
	m := &walk.Module{Name: "test_app.pdb", DebugID: "5A9832E5287241C1838ED98914E9B7FF1"}

	found := supplier.Symbols(context.Background(), m)
	fmt.Println(len(found.Tried), "places before, the first:", found.Tried[0].Path)
	if found.Index == nil {
		return
	}
	defer found.Close()
	fmt.Println(found.From)
	s, ok := found.Index.Symbol(0x429e)
	fmt.Printf("%s, line %d, %v\n", s.Calls[0].Func, s.Calls[0].Line, ok)
	// Output:
	// 9 places before, the first: testdata/empty/test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym
	// ../../../cmd/stackwalk/testdata/breakpad/symbols/test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym
	// `anonymous namespace'::CrashFunction, line 58, true
}
