package check

import "testing"

// TestLineFilePath: the directory does not count for absolute names, nor that of the
// compilation for absolute directories (DWARF 5 §6.2.4).
func TestLineFilePath(t *testing.T) {
	for _, test := range []struct {
		name, dirName string
		dir           uint64
		compDir, want string
	}{
		{"x.c", "/b", 0, "/b", "/b/x.c"},
		{"/s/x.c", "/b", 0, "/b", "/s/x.c"},
		{"/s/x.c", "inc", 1, "/b", "/s/x.c"},
		{"x.h", "inc", 1, "/b", "/b/inc/x.h"},
		{"x.h", "/usr/include", 1, "/b", "/usr/include/x.h"},
		{"x.h", "", 1, "/b", "/b/x.h"},
		{"x.h", "inc", 1, "", "inc/x.h"},
		{"x.c", ".", 0, "/b", "./x.c"}, // the directory of the compilation is what the table says
		{`D:\s\x.c`, `C:\b`, 0, `C:\b`, `D:\s\x.c`},
		{`x.h`, `C:\b\inc`, 1, `C:\b`, `C:\b\inc/x.h`},
		{"", "/b", 0, "/b", ""},
	} {
		f := lineFile{name: []byte(test.name), dirName: []byte(test.dirName), dir: test.dir}
		if got := f.path(test.compDir); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
