package peers

import (
	"reflect"
	"testing"
)

func TestArgumentTypes(t *testing.T) {
	for name, want := range map[string]struct {
		scope string
		types []string
		ok    bool
	}{
		"f(int, char *)":                  {"f", []string{"int", "char *"}, true},
		"A::f(B<int, C<D>>, void (*)(E))": {"A::f", []string{"B<int, C<D>>", "void (*)(E)"}, true},
		"f()":                             {"f", []string{""}, true},
		"f":                               {},
		"f(":                              {},
		"f(a>b)":                          {},
		"f(a<b)":                          {"f", []string{"a<b"}, false},
		"f(a)b)":                          {},
	} {
		scope, types, ok := argumentTypes(name)
		if ok != want.ok || scope != want.scope && ok || ok && !reflect.DeepEqual(types, want.types) {
			t.Errorf("%s: %q %q %v", name, scope, types, ok)
		}
	}
}
