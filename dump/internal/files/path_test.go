package files

import "testing"

func TestAppendPath(t *testing.T) {
	for _, tt := range []struct{ comp, dir, name, want string }{
		{"/build", "src", "a.c", "/build/src/a.c"},
		{"/build", "/usr/include", "stdio.h", "/usr/include/stdio.h"},
		{"/build", "src", "/abs/a.c", "/abs/a.c"},
		{"/build/", "", "a.c", "/build/a.c"},
		{"/build", "./src/.", "../a.c", "/build/a.c"},
		{"/build", "../../..", "a.c", "/a.c"},
		{"./obj/src", "../../x", "a.c", "x/a.c"},
		{"", "../up", "a.c", "../up/a.c"},
		{"", "../up/..", "../a.c", "../../a.c"},
		{"", "", "a.c", "a.c"},
		{"", "", "", ""},
		{"", "a", "..", "."},
		{"/", "", "..", "/"},
		{"/a//b", "c///d", "e.c", "/a/b/c/d/e.c"},
		{`C:\src`, `inc\..\lib`, `x.c`, `C:\src\lib\x.c`},
		{"/build", `C:/src/./lib`, `x.c`, `C:/src/lib/x.c`},
		{`C:\src`, `inc/sub`, `x/y.c`, `C:\src\inc\sub\x\y.c`},
		{`C:/src`, `inc\sub`, `..\y.c`, `C:/src/inc/y.c`},
		{`d:/src\lib`, ``, `y.c`, `d:/src/lib/y.c`},
		{`\\host\share/a`, `b/c`, `d.c`, `\\host\share\a\b\c\d.c`},
		{`\\`, "", `a`, `\\a`},
		{`C:\src`, "/usr/a", `b\c.c`, `/usr/a/b\c.c`},
		{"/build", `\\host\share\..`, `x.c`, `\\host\x.c`},
		{`C:\src`, "/usr", "x.c", "/usr/x.c"},
		{"/b", "..a", "...", "/b/..a/..."},
		{"/b", "x\xff", "é.c", "/b/x\xff/é.c"},
	} {
		got := string(AppendPath([]byte("FILE "), []byte(tt.comp), []byte(tt.dir), []byte(tt.name)))
		if got != "FILE "+tt.want {
			t.Errorf("AppendPath(%q, %q, %q) = %q, want %q", tt.comp, tt.dir, tt.name, got[5:], tt.want)
		}
	}
}
