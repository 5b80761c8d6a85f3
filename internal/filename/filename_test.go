package filename

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for name, want := range map[string]string{
		// Characters that change what a terminal shows.
		"a\x1b\u009bb\u202ec\u2066\u2028": "a__b_c__", "\u061c\u200e\u200f\u2029é": "____é",

		// Ordinary names stay.
		"libz.so.1": "libz.so.1", "libstdc++.so.6": "libstdc++.so.6", "[vdso]": "[vdso]", "app.pdb": "app.pdb", ".hidden": ".hidden",
		"two words": "two words", " x": " x", "straße": "straße", "\ufffd": "\ufffd", "a+b~c#d%e&f{g}h$i!j@k'l(m)n,o;p=q^r`s": "a+b~c#d%e&f{g}h$i!j@k'l(m)n,o;p=q^r`s",
		"console": "console", "aux1": "aux1", "comm": "comm", "com12": "com12", "lptx": "lptx", "nulls.so": "nulls.so", "libcon.so": "libcon.so", "con_.so": "con_.so",
		// What leads elsewhere.
		"/usr/lib/libz.so": "libz.so", `C:\bin\app`: "app", "../../etc/passwd": "passwd", "": "_", ".": "_", "..": "_", "a/..": "_", "a/": "_",
		// Characters.
		"tab\there": "tab_here", "nl\n": "nl_", "nul\x00x": "nul_x", "bad\xffutf": "bad_utf", "c1\u0085x": "c1_x", "del\x7f": "del_",
		"a:b": "a_b", `<a>"|?*`: "_a_____",
		// Ends.
		"...": "___", "lib.so.": "lib.so_", "lib.so. .": "lib.so___", "x ": "x_",
		// Devices.
		"CON": "CON_", "con": "con_", "Nul.so.1": "Nul_.so.1", "aux.": "aux_", "prn.pdb": "prn_.pdb", "com1": "com1_", "LPT9.so": "LPT9_.so", "com¹.x": "com¹_.x",
		"COM0": "COM0_", "conin$": "conin$_", "CON .so": "CON _.so", "/dev/nul": "nul_",
	} {
		if got := Escape(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzEscape: the result leads nowhere, names no device, and stays as it is.
func FuzzEscape(f *testing.F) {
	for _, name := range []string{"libz.so", "..", "/", "a/../b", "x\x00", "\xff", "é/\u2028", "CON.", "aux .x", "a: ."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := Escape(name)
		base, _, _ := strings.Cut(got, ".")
		switch {
		case !filepath.IsLocal(got), got == ".", Escape(got) != got,
			strings.ContainsAny(got, "/\\\x00\n\r<>:\"|?*"),
			strings.HasSuffix(got, "."), strings.HasSuffix(got, " "),
			isDevice(strings.ToUpper(strings.TrimRight(base, " "))):
			t.Errorf("%q: %q", name, got)
		}
	})
}
