package dwarfinfo

import (
	"encoding/binary"
	"testing"
)

// TestLineFilePath checks that the directory does not count for absolute names, nor the directory
// of the compilation for absolute directories (DWARF 5 §6.2.4).
func TestLineFilePath(t *testing.T) {
	for _, test := range []struct {
		name, dirName string
		dir           uint64
		base, want    string
	}{
		{"x.c", "/b", 0, "/b", "/b/x.c"},
		{"/s/x.c", "/b", 0, "/b", "/s/x.c"},
		{"/s/x.c", "inc", 1, "/b", "/s/x.c"},
		{"x.h", "inc", 1, "/b", "/b/inc/x.h"},
		{"x.h", "/usr/include", 1, "/b", "/usr/include/x.h"},
		{"x.h", "", 1, "/b", "/b/x.h"},
		{"x.h", "inc", 1, "", "inc/x.h"},
		{"x.c", ".", 0, "/b", "/b/x.c"},
		{`D:\s\x.c`, `C:\b`, 0, `C:\b`, `D:\s\x.c`},
		{`x.h`, `C:\b\inc`, 1, `C:\b`, `C:\b\inc/x.h`},
		{"", "/b", 0, "/b", ""},
	} {
		header := lineHeader{dirs: [][]byte{nil, []byte(test.dirName)}}
		if got := string(header.path(lineFile{[]byte(test.name), test.dir}, test.base)); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// TestLineHeaderLimits checks that a header whose counts exceed its bytes is rejected.
func TestLineHeaderLimits(t *testing.T) {
	head := func(body ...byte) []byte {
		h := append([]byte{5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1}, body...)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(h))), h...)
	}
	d := &Info{line: head(1, 1, 8, 1, 'd', 0, 2, 1, 8, 2, 11, 2, 'a', 0, 0, 'b', 0, 7)}
	h, err := d.lineHeader(0, 0)
	if err != nil || h.version != 5 || len(h.files) != 2 || h.files[0].dir != 0 || h.files[1].dir != 7 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, body := range [][]byte{
		{1, 1, 8, 0xff, 0xff, 0xff, 0xff, 0x7f}, // directories
		{0, 0xff, 0xff, 0xff, 0xff, 0x7f},       // without a format
		{1, 1, 0x77, 1, 0},                      // unknown form
		{1, 1},
	} {
		d.line = head(body...)
		if _, err := d.lineHeader(0, 0); err == nil {
			t.Errorf("% x: no error", body)
		}
	}
}

// TestLineBase checks that of two directories of the compilation the absolute one counts.
func TestLineBase(t *testing.T) {
	for _, test := range []struct{ compDir, dir, want string }{
		{"/b", "/b", "/b"},
		{"/b", "", "/b"},
		{"/b", ".", "/b"},
		{"/b", "/other", "/b"},
		{"./build", "/b/build", "/b/build"},
		{"./build", "build", "./build"},
		{"./build", "", "./build"},
		{"", "/b", "/b"},
		{"", "build", "build"},
		{"", "", ""},
	} {
		header := lineHeader{dirs: [][]byte{[]byte(test.dir)}}
		if got := header.base(test.compDir); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
