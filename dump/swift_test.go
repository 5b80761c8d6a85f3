package dump

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/test/testfile"
)

// TestSwift: names of functions, of inlined calls, and of functions without a linkage name in a type whose
// DIE has a mangled name are in Swift's own spelling; none is mangled in part.
func TestSwift(t *testing.T) {
	const name = "swift-swiftc62.o"
	data, err := testfile.Read(filepath.Join("..", "check", "testdata", "sound", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.NewFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	_, text := dumpText(t, f, Options{Inlines: true})

	// The texts of FUNC and INLINE_ORIGIN records.
	var names []string
	for line := range strings.Lines(string(text)) {
		switch fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5); {
		case fields[0] == "FUNC":
			names = append(names, fields[4])
		case fields[0] == "INLINE_ORIGIN":
			names = append(names, strings.Join(fields[2:], " "))
		}
	}
	for _, want := range []string{
		"Int.cubed()", "static Int.+++ infix(_:_:)", "Box.side.didset", "Box.side.modify", "Box.__allocating_init(side:value:)",
		"Box.__deallocating_deinit", "largest<A>(_:_:)", "static Main.later(_:)", "Main.main", "Main.$main",
		"protocol witness for Shape.area(scale:) in conformance Box<A>", "type metadata accessor for Box",
		"specialized thunk for @escaping @convention(thin) @async () -> ()",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("no record for %q", want)
		}
	}
	for _, n := range names {
		if strings.Contains(n, "$s") || strings.HasPrefix(n, "Swift.Int") {
			t.Errorf("%q", n)
		}
	}
}
