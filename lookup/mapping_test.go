package lookup_test

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx/companion"
	"symkit/lookup"
)

// TestMapping: addresses in memory are addresses of the file, wherever the loader has put it.
func TestMapping(t *testing.T) {
	const program, library, alone, object = "cxx-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-gcc12-O2-dw5.so", "cxx-x86_64-gcc12-O2-dw5-stripped.debug", "cxx-x86_64-gcc12-O2-dw5-partial.o"
	const kernel = 0xffffffff81000000
	second := open(t, object, lookup.Options{}).Symbols(nil, "_ZNK4shop5Heavy6weightEv", -1)[0].Addr // of its code sections
	for _, tt := range []struct {
		file       string
		m          lookup.Mapping
		addr, want uint64 // 0: none
	}{
		{program, lookup.Mapping{Start: 0x401000, Limit: 0x402000, Offset: 0x1000}, 0x4012de, 0x4012de},
		{program, lookup.Mapping{Start: 0x401000, Limit: 0x402000, Offset: 0x1000}, 0x400fff, 0},
		{program, lookup.Mapping{Start: 0x401000, Limit: 0x402000, Offset: 0x1000}, 0x402000, 0},
		{program, lookup.Mapping{Start: 0x401000, Limit: 0x402000, Offset: 0x1000}, 0x401fff, 0}, // after the end of the segment
		{program, lookup.Mapping{}, 0x4012de, 0x4012de},
		{program, lookup.Mapping{Limit: ^uint64(0)}, 0x4012de, 0x4012de},
		{library, lookup.Mapping{Start: 0x7f0000001000, Limit: 0x7f0000002000, Offset: 0x1000}, 0x7f0000001370, 0x1370},
		{library, lookup.Mapping{Start: 0x7f0000000000, Limit: 0x7f0000004000}, 0x7f0000001370, 0x1370},
		{alone, lookup.Mapping{Start: 0x401000, Limit: 0x402000, Offset: 0x1000}, 0x4012de, 0x4012de},
		{alone, lookup.Mapping{Start: 0x401000, Limit: 0x403000, Offset: 0x1000}, 0x4012de, 0},
		{library, lookup.Mapping{Start: 0x7f0000001000, Limit: 0x7f0000002000, Whole: true}, 0x7f0000001370, 0x1370},
		{library, lookup.Mapping{Start: 0x7f0000001000, Limit: 0x7f0000003000, Whole: true}, 0x7f0000001370, 0},
		{alone, lookup.Mapping{Start: 0x401000, Limit: 0x402000, Whole: true}, 0x4012de, 0x4012de},
		{program, lookup.Mapping{Start: kernel + 0x270, Limit: kernel + 0x10000, Symbol: "run"}, kernel + 0x2de, 0x4012de},
		{program, lookup.Mapping{Start: kernel, Limit: kernel + 0x10000, Offset: kernel, Symbol: "run"}, kernel + 0x2de, 0x4012de},
		{object, lookup.Mapping{Start: kernel, Limit: kernel + 0x10000}, kernel + 0x12, second + 2},
		{object, lookup.Mapping{Start: kernel, Limit: kernel + 0x10000}, kernel + 0xffff, 0},
	} {
		got, ok := tt.m.Address(open(t, tt.file, lookup.Options{}), tt.addr)
		if got != tt.want || ok != (tt.want != 0) {
			t.Errorf("%s: %#x of %+v: %#x, %v, want %#x", tt.file, tt.addr, tt.m, got, ok, tt.want)
		}
	}
}

// TestOpenModule: the file is that at the path, below a root first, unless it is of another build; or that with the
// build id.
func TestOpenModule(t *testing.T) {
	data, err := os.ReadFile(fixtures + "cxx-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	const text = "8cb693933a6223a77971790e89f1dba9597e3982"
	root := t.TempDir()
	below, debug := filepath.Join(root, "bin/app"), filepath.Join(root, "usr/lib/debug/.build-id", text[:2], text[2:]+".debug")
	for _, path := range []string{below, debug} {
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	own, err := filepath.Abs(fixtures + "cxx-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct{ path, id, want string }{
		{"/bin/app", "", below},
		{"/bin/app", text, below},
		{own, text, own},
		{"/other", text, debug},
		{"", text, debug},
		{"/other", "", ""},
		{"", "00", ""},
		{root, "", ""}, // a directory
	} {
		id, _ := hex.DecodeString(tt.id)
		f, err := lookup.OpenModule(t.Context(), tt.path, id, lookup.Options{Search: companion.Search{Sysroots: []string{root}}})
		if tt.want == "" {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q of %s: %v", tt.path, tt.id, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q of %s: %v", tt.path, tt.id, err)
			continue
		}
		if f.Path() != tt.want {
			t.Errorf("%q of %s: %s", tt.path, tt.id, f.Path())
		}
		f.Close()
	}

	_, err = lookup.OpenModule(t.Context(), own, []byte{1, 2}, lookup.Options{})
	if err == nil || !strings.Contains(err.Error(), "has the build id "+text+", not 0102") {
		t.Errorf("another build: %v", err)
	}
}
