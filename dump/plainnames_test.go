package dump

import (
	"slices"
	"testing"
)

// TestPlainNames: where -g1 leaves the plain name of a function, the symbol that has this name gives the
// others: not that of an alias (a), and none where the plain name is a symbol (plain). GCC leaves the
// plain names of static functions alone.
func TestPlainNames(t *testing.T) {
	want := []string{
		"int shop::Box::as<int>(int) const", "int shop::half<int>(int)", "own(int)", "plain",
		"shop::(anonymous namespace)::hidden(int)", "shop::Box::Box(int)", "shop::Box::get(int) const",
		"shop::Box::operator char const*() const", "shop::Box::operator<<(int) const", "shop::Box::operator[](int) const",
		"shop::Box::~Box()", "shop::open(int)",
	}
	for _, name := range []string{"lines-clang23.o", "lines-gcc16.o"} {
		f := openSound(t, name)
		m, _ := dumpText(t, f, Options{Inlines: true})
		var got []string
		for f := range m.Funcs() {
			got = append(got, f.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
