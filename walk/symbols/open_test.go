package symbols

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"

	"symkit/walk"
	"symkit/walk/symserver"
)

// TestOpen: stores and servers are tried in the order of the paths, then ELF files; a Sources for many processes
// shares the symbols of equal modules; paths and addresses of nothing are errors.
func TestOpen(t *testing.T) {
	const store = "../../cmd/stackwalk/testdata/breakpad/symbols"
	web := httptest.NewServer(http.FileServer(http.Dir(store)))
	defer web.Close()
	module := func() *walk.Module {
		return &walk.Module{Name: "test_app.pdb", DebugID: "5A9832E5287241C1838ED98914E9B7FF1", Path: "/none/test_app.exe"}
	}

	for name, test := range map[string]struct {
		paths  []string
		opt    Options
		online bool
		tried  int // places before that of the symbols
	}{
		"store":  {[]string{store}, Options{}, false, 0},
		"server": {[]string{t.TempDir(), web.URL, store}, Options{Cache: t.TempDir()}, true, 12},
		"many":   {[]string{t.TempDir(), store}, Options{Keep: 1 << 20, PathsOnly: true}, false, 12},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), test.paths, test.opt)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			first, second := s.Symbols(t.Context(), module()), s.Symbols(t.Context(), module())
			if first.Index == nil || len(first.Tried) != test.tried || s.Online() != test.online {
				t.Errorf("%v, %d places, online %v", first.Tried, len(first.Tried), s.Online())
			}
			if shared := first.Index == second.Index; shared != (test.opt.Keep > 0) {
				t.Errorf("shared: %v", shared)
			}
			for _, syms := range []*walk.Symbols{first, second} {
				if syms.Close != nil {
					syms.Close()
				}
			}
		})
	}

	elf := "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"
	s, err := Open(t.Context(), nil, Options{Exe: elf})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := &walk.Module{Name: "app", Path: elf, Base: 0x1000, End: 0x2000}
	if got := s.Symbols(t.Context(), m); got.Index == nil || got.From != elf {
		t.Errorf("%+v", got)
	}

	_, missing := Open(t.Context(), []string{"none"}, Options{})
	_, wrong := Open(t.Context(), []string{"https://"}, Options{})
	if !errors.Is(missing, fs.ErrNotExist) || !errors.Is(wrong, symserver.ErrURL) {
		t.Error(missing, wrong)
	}
}
