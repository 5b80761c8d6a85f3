package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/profile"
	"symkit/test/programtest"
)

// number and message are fields of a profile.
func protoNumber(field, n uint64) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, field<<3), n))
}

func protoMessage(field uint64, parts ...string) string {
	text := strings.Join(parts, "")
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, field<<3|2), uint64(len(text)))) + text
}

// rawProfile returns a profile with an address in each of some mappings, which are at 0x401000 as in the fixture.
func rawProfile(mappings ...[2]string) string {
	text, locations, table := "", "", protoMessage(6)
	for i, m := range mappings {
		id := uint64(i) + 1
		text += protoMessage(3, protoNumber(1, id), protoNumber(2, 0x401000), protoNumber(3, 0x402000), protoNumber(4, 0x1000), protoNumber(5, 2*id-1), protoNumber(6, 2*id))
		locations += protoMessage(4, protoNumber(1, id), protoNumber(2, id), protoNumber(3, 0x4012de))
		table += protoMessage(6, m[0]) + protoMessage(6, m[1])
	}
	return text + locations + table
}

// TestProfile: addresses of modules that are found have their functions; of each other one a warning says so.
func TestProfile(t *testing.T) {
	const id = "8cb693933a6223a77971790e89f1dba9597e3982"
	path, err := filepath.Abs(program86)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	debug := filepath.Join(dir, ".build-id", id[:2])
	err = os.MkdirAll(debug, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	programtest.Write(t, filepath.Join(debug, id[2:]+".debug"), programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5-stripped.debug"))

	const at = " at 0x401000: "
	for _, tt := range []struct{ args, path, id, want, stderr string }{
		{"", path, id, "shop::Stack<int, 4>::pop()", ""},
		{"", path, "", "shop::Stack<int, 4>::pop()", ""},
		{"", path, "not hexadecimal", "shop::Stack<int, 4>::pop()", ""},
		{"--mangled", path, id, "", ""},
		{"", path, "0badcafe", "", path + at + path + ": has the build id " + id + ", not 0badcafe"},
		{"", "/missing", id, "", "/missing" + at + "/missing: file does not exist"},
		{"--sysroot " + filepath.Dir(path), "/" + filepath.Base(path), id, "shop::Stack<int, 4>::pop()", ""},
		{"", "[vdso]", "", "", "[vdso]" + at + "no file"},
		{"", "", "", "", "without a name" + at + "no file"},
		{"", "//anon", "", "", "//anon" + at + "//anon: file does not exist"},
		{"", "main.go", "", "", "main.go" + at + "main.go: neither an ELF file, a symbol file nor a GSYM file: it is a text file"},
	} {
		file, output := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		programtest.Write(t, file, []byte(rawProfile([2]string{tt.path, tt.id})))
		got := runWith(t, "symaddr", "", append([]string{"profile", file, "-o", output}, strings.Fields(tt.args)...)...)
		warning := ""
		if tt.stderr != "" {
			warning = "symaddr profile: warning: mapping " + tt.stderr + "\n"
		}
		if want := (ran{0, "", warning}); got != want {
			t.Errorf("%s %+v: %+v, want %+v", tt.args, tt, got, want)
		}
		data := unpacked(t, output)
		if got := strings.Contains(data, "shop::Stack"); got != (tt.want != "") || !strings.Contains(data, tt.want) {
			t.Errorf("%s %s %s: %q", tt.args, tt.path, tt.id, data)
		}
		if tt.args == "--mangled" && !strings.Contains(data, "_ZN4shop5StackIiLi4EE3popEv") {
			t.Errorf("--mangled: %q", data)
		}
		_, err := profile.Parse([]byte(data))
		if err != nil {
			t.Error(err)
		}
	}

	// Packed, from standard input to standard output.
	var in bytes.Buffer
	z := gzip.NewWriter(&in)
	_, err = io.WriteString(z, rawProfile([2]string{path, id}))
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	got := runWith(t, "symaddr", in.String(), "profile", "-", "-o", "-")
	programtest.Write(t, filepath.Join(dir, "out"), []byte(got.stdout))
	if text := unpacked(t, filepath.Join(dir, "out")); got.code != 0 || !strings.Contains(text, "shop::Stack<int, 4>::pop()") {
		t.Errorf("%+v", got)
	}
}

// TestProfileStore: a module that is not here has its functions from a store, if the profile says where it is: by a
// mapping of all pages of its code, or of its first byte.
func TestProfileStore(t *testing.T) {
	const id, name = "8cb693933a6223a77971790e89f1dba9597e3982", "app.so"
	dir := t.TempDir()
	module := filepath.Join(dir, "store", name, "9393B68C623AA7237971790E89F1DBA90")
	err := os.MkdirAll(module, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	const first, end = "FUNC 12d0 20 0 first\n12d0 20 5 0\n", "PUBLIC 2fff 0 end\n"
	header := protoMessage(3, protoNumber(1, 9), protoNumber(2, 0x400000), protoNumber(3, 0x401000), protoNumber(5, 1), protoNumber(6, 2))
	for _, tt := range []struct{ sym, before, want string }{
		{first, "", "first"},
		{first + end, "", ""},
		{first + end, header, "first"},
	} {
		programtest.Write(t, filepath.Join(module, name+".sym"), []byte("MODULE Linux x86_64 9393B68C623AA7237971790E89F1DBA90 app.so\nFILE 0 a.c\n"+tt.sym))
		file, output := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		programtest.Write(t, file, []byte(tt.before+rawProfile([2]string{"/x/" + name, id})))
		got := runWith(t, "symaddr", "", "profile", "--symbols", filepath.Join(dir, "store"), file, "-o", output)
		want := ran{}
		if tt.want == "" {
			want.stderr = "symaddr profile: warning: mapping /x/app.so at 0x401000: app.so: 0x4012de is not an address of its code\n"
		}
		if data := unpacked(t, output); got != want || strings.Contains(data, "first") != (tt.want != "") {
			t.Errorf("%q: %+v, want %+v: %q", tt.sym, got, want, data)
		}
	}
}

// unpacked returns the content of a packed file.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestProfileMessages: what symaddr profile says of wrong command lines and files, which leave no output.
func TestProfileMessages(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	programtest.Write(t, "empty", nil)
	programtest.Write(t, "text", []byte("text"))
	programtest.Write(t, "packed", []byte("\x1f\x8b\x08"))
	programtest.Write(t, "location", []byte(rawProfile([2]string{"", ""})+protoMessage(4, "\x0b")))
	programtest.Write(t, "good", []byte(rawProfile([2]string{"", ""})))
	for args, want := range map[string]ran{
		"missing -o out":             {1, "", "symaddr profile: error: missing: no such file or directory\n"},
		"empty -o out":               {1, "", "symaddr profile: error: empty: no profile of pprof\n"},
		"text -o out":                {1, "", "symaddr profile: error: text: profile+0x0: unknown type of a field\n"},
		"packed -o out":              {1, "", "symaddr profile: error: packed: unexpected EOF\n"},
		"location -o out":            {1, "", "symaddr profile: warning: mapping without a name at 0x401000: no file\nsymaddr profile: error: location: profile+0x28: unknown type of a field\n"},
		"good -o good":               {1, "", "symaddr profile: error: good: the output is the same file as the input good; give it another name\n"},
		"good":                       {80, "", "symaddr profile: error: missing flags: --output=FILE; see symaddr profile --help\n"},
		"good -o out --sysroot=none": {1, "", "symaddr profile: error: --sysroot none: no such file or directory; give a directory\n"},
	} {
		got := runWith(t, "symaddr", "", append([]string{"profile"}, strings.Fields(args)...)...)
		if got != want {
			t.Errorf("%s: %+v, want %+v", args, got, want)
		}
		_, err := os.Stat("out")
		if err == nil {
			t.Fatalf("%s: there is an output", args)
		}
	}
}
