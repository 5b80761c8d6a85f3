package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
)

const program86 = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"

// ran is what a program gives.
type ran struct {
	code           int
	stdout, stderr string
}

// runWith runs symaddr, or the program of another name.
func runWith(t *testing.T, name, stdin string, args ...string) ran {
	t.Helper()
	var out, errs bytes.Buffer
	in := strings.NewReader(stdin)
	other := personality(name)
	if other != nil {
		return ran{other(t.Context(), name, args, in, &out, &errs), out.String(), errs.String()}
	}
	return ran{run(t.Context(), args, in, &out, &errs), out.String(), errs.String()}
}

// TestSymaddr: addresses, symbols with offsets, lines of logs.
func TestSymaddr(t *testing.T) {
	const pop = "shop::Stack<int, 4>::pop() at /symkit/src/cxx.h:36:19\n (inlined by) run at /symkit/src/cxx.cc:117:25\n"
	inline := strings.TrimSuffix(strings.ReplaceAll(pop, "\n", ""), "\n")
	path, err := filepath.Abs(program86)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, stdin, want string }{
		{"FILE 0x4012de", "", "0x4012de: " + pop},
		{"FILE 4012de run+0x6e", "", "4012de: " + pop + "run+0x6e: " + pop},
		{"--addresses=relative FILE 12de", "", "12de: " + pop},
		{"--addresses=offset FILE 12de", "", "12de: " + pop},
		{"--no-inlines --basenames FILE 4012de", "", "4012de: run at cxx.h:36:19\n"},
		{"--mangled FILE 4012de", "", "4012de: " + strings.Replace(pop, "shop::Stack<int, 4>::pop()", "_ZN4shop5StackIiLi4EE3popEv", 1)},
		{"FILE 10", "", "10: ??\n"},
		{"FILE", "0x4012de\nhello\n", "0x4012de: " + pop + "hello\n"},
		{"FILE", "RIP: 0010:run+0x6e/0x90\n", "RIP: 0010:" + inline + "\n"},
		{"FILE", "#1 0x1 (/x/" + filepath.Base(program86) + "+0x12de) end\n", "#1 0x1 " + inline + " end\n"},
		{"FILE", "    #01 abs 0000007a1b4012df virt 00000000004012df _kDartIsolateSnapshotInstructions+0x2df\n", "    #01 " + inline + "\n"},
		{"FILE", "a[7]: segfault at 8 ip 00000000004012de sp 00007ffe error 4 in " + filepath.Base(program86) + "[12de,401000+1000] likely on CPU 1\n",
			"a[7]: segfault at 8 ip 00000000004012de sp 00007ffe error 4 in " + inline + " likely on CPU 1\n"},
		{"FILE", "a[7]: segfault at 8 ip 00007f00000012de sp 00007ffe error 4 in " + filepath.Base(program86) + "[7f0000001000+1000]\n",
			"a[7]: segfault at 8 ip 00007f00000012de sp 00007ffe error 4 in " + inline + "\n"},
		{"FILE", "    @     0x4012df run\n    @     0x7f8a1b2c3d40 (unknown)\n", "    @     " + inline + " run\n    @     0x7f8a1b2c3d40 (unknown)\n"},
		{"FILE", "#1 0x1 (/x/other+0x12de)\n", "#1 0x1 (/x/other+0x12de)\n"},
		{"", "#1 0x1 (" + path + "+0x12de)\n", "#1 0x1 " + inline + "\n"},
		{"", "#1 0x1 (" + path + "+0x12de) (BuildId: 0badcafe)\n", "#1 0x1 (" + path + "+0x12de) (BuildId: 0badcafe)\n"},
		{"", path + "(run+0x6f) [0x1]\n", inline + "\n"},
		{"", path + "(+0x1510) [0x1]\n", "_start\n"}, // no call is before
		{"", "frame #1: run + 0x6f (0x1 in " + path + ")\n", "frame #1: " + inline + "\n"},
		{"", path + "(shop::Heavy::~Heavy()+0x5) [0x1]\n", "shop::Heavy::~Heavy() at /symkit/src/cxx.h:25:7\n"},
		{"FILE", " 3: (shop::Stack<int, 4>::push(int) [clone .isra.0]+0x5) [0x1]\n", " 3: shop::Stack<int, 4>::push(int) at /symkit/src/cxx.h:46:2\n"}, // of both units
		{"FILE", " ? _ZN4shop12_GLOBAL__N_14bookEi+0x4/0x10\n", " ? _ZN4shop12_GLOBAL__N_14bookEi+0x4/0x10\n"},
		{"FILE", " ? _ZN4shop12_GLOBAL__N_14bookEi+0x4/0x49\n", " ? shop::(anonymous namespace)::book(int) at /symkit/src/cxx.cc:16:10\n"},
	} {
		got := runWith(t, "symaddr", tt.stdin, strings.Fields(strings.ReplaceAll(tt.args, "FILE", program86))...)
		if want := (ran{0, tt.want, ""}); got != want {
			t.Errorf("symaddr %s: %+v, want %+v", tt.args, got, want)
		}
	}
}

// TestJSON: an object for each address, with a version.
func TestJSON(t *testing.T) {
	got := runWith(t, "symaddr", "", "--format=json", program86, "4012de")
	const want = `{"version":1,"file":"` + program86 + `","build_id":"8cb693933a6223a77971790e89f1dba9597e3982","address":"0x4012de","frames":[` +
		`{"function":"shop::Stack<int, 4>::pop()","linkage_name":"_ZN4shop5StackIiLi4EE3popEv","file":"/symkit/src/cxx.h","line":36,"column":19,` +
		`"start_file":"/symkit/src/cxx.h","start_line":36,"start_address":"0x4012dc","inlined":true},` +
		`{"function":"run","file":"/symkit/src/cxx.cc","line":117,"column":25,"start_file":"/symkit/src/cxx.cc","start_line":109,"start_address":"0x401270"}]}` + "\n"
	if got.code != 0 || got.stdout != want {
		t.Errorf("%+v", got)
	}
}

// TestPlain: lines that are addresses alone, which are answered in another way, are answered as others.
func TestPlain(t *testing.T) {
	for _, args := range []string{"llvm-symbolizer --obj=FILE", "llvm-symbolizer --obj=FILE -a --no-inlines", "llvm-symbolizer --obj=FILE --adjust-vma=1 -p -a",
		"llvm-symbolizer --obj=FILE --output-style=JSON", "llvm-symbolizer --obj=missing --output-style=JSON", "llvm-addr2line -a -f -i -e FILE",
		"symaddr --format=json FILE", "symaddr --format=json --no-inlines FILE", "symaddr --format=json --addresses=offset FILE",
		"symaddr --format=json --addresses=relative FILE"} {
		words := strings.Fields(strings.ReplaceAll(args, "FILE", program86))
		base := 0x401000
		if strings.Contains(args, "--addresses") {
			base = 0x1000
		}
		var plain, others strings.Builder
		for i := range 20_000 {
			addr := base + i*7919%0x600
			fmt.Fprintf(&plain, "%#x\n", addr)
			fmt.Fprintf(&others, "0x0%x\n", addr)
		}
		got, want := runWith(t, words[0], plain.String(), words[1:]...), runWith(t, words[0], others.String(), words[1:]...)
		if got != want || got.stdout == "" {
			t.Errorf("%s: %d bytes, want %d", args, len(got.stdout), len(want.stdout))
		}
	}
}

// TestStore: modules that are not on this machine are found in a symbol store, by build id.
func TestStore(t *testing.T) {
	const id, name = "8cb693933a6223a77971790e89f1dba9597e3982", "app.so"
	store := t.TempDir()
	dir := filepath.Join(store, name, "9393B68C623AA7237971790E89F1DBA90")
	err := os.MkdirAll(dir, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	text := "MODULE Linux x86_64 9393B68C623AA7237971790E89F1DBA90 app.so\nFILE 0 a.c\nFUNC 1000 20 0 outer\n1000 20 5 0\n"
	err = os.WriteFile(filepath.Join(dir, name+".sym"), []byte(text), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	log := "#1 0x1 (/nowhere/app.so+0x1004) (BuildId: " + id + ")\n"
	for _, tt := range []struct {
		args, stdin string
		want        ran
	}{
		{"--build-id=" + id + " " + name + " 1004", "", ran{0, "1004: outer at a.c:5\n", ""}},
		{"", log, ran{0, "#1 0x1 outer at a.c:5\n", ""}},
		{"", strings.Replace(log, "8cb6", "0000", 1), ran{0, strings.Replace(log, "8cb6", "0000", 1), ""}},
		{"--build-id=0badcafe x 1", "", ran{1, "", "symaddr: error: x, build id 0badcafe: --symbols has no symbols of this module\n"}},
	} {
		got := runWith(t, "symaddr", tt.stdin, append([]string{"--symbols", store}, strings.Fields(tt.args)...)...)
		if got != tt.want {
			t.Errorf("symaddr %s: %+v, want %+v", tt.args, got, tt.want)
		}
	}
}

// TestNoDebug: without debug information, symaddr says why there are no lines, once. addr2line says nothing.
func TestNoDebug(t *testing.T) {
	const file = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5-mini.elf"
	const name = "_ZN4shop12never_calledEi"
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	warning := ": no debug information; --debug-dir says where its debug file is, --debuginfod asks servers\n"
	log := "#1 0x1 (" + path + "+0x120b)\n#2 0x1 (" + path + "+0x120b)\n"
	for _, tt := range []struct {
		name, args, stdin string
		want              ran
	}{
		{"symaddr", "--mangled " + file + " 40120b", "", ran{0, "40120b: " + name + "\n", "symaddr: warning: " + file + warning}},
		{"symaddr", "--mangled", path + "(" + name + "+0x1) [0x2]\n", ran{0, path + "(" + name + "+0x1) [0x2]\n", "symaddr: warning: " + path + warning}},
		{"symaddr", "", path + "(" + name + "+0x1) [0x2]\n", ran{0, "shop::never_called(int)\n", "symaddr: warning: " + path + warning}},
		{"symaddr", "--mangled", log, ran{0, "#1 0x1 " + name + "\n#2 0x1 " + name + "\n", "symaddr: warning: " + path + warning}},
		{"addr2line", "-f -e " + file + " 40120b", "", ran{0, name + "\n??:?\n", ""}},
	} {
		got := runWith(t, tt.name, tt.stdin, strings.Fields(tt.args)...)
		if got != tt.want {
			t.Errorf("%s %s: %+v, want %+v", tt.name, tt.args, got, tt.want)
		}
	}
}

// TestNoCompanion: without dwz's file or the split one, symaddr says what is missing and how to give it, once.
func TestNoCompanion(t *testing.T) {
	for name, want := range map[string]string{
		"cxx-x86_64-gcc12-O2-dw5-dwz.elf":     "the supplementary file \"cxx-x86_64-gcc12-O2-dw5-dwz.alt\" was not found: functions that are described there have the names of symbols, or none; --debug-dir says where, --debuginfod asks servers\n",
		"cxx-x86_64-clang14-O2-dw5-split.elf": "its split DWARF file was not found; --dwo-dir says where\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		programtest.Write(t, path, programtest.Fixture(t, name))
		got := runWith(t, "symaddr", "", path, "run", "run")
		if got.code != 0 || got.stderr != "symaddr: warning: "+path+": "+want {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
}

// TestMessages: what symaddr says of wrong command lines and files.
func TestMessages(t *testing.T) {
	p := programtest.Program{Name: "symaddr", Run: func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(ctx, args, strings.NewReader(""), stdout, stderr)
	}}
	p.Messages(t, "symaddr: error: ", map[string]programtest.Message{
		"missing 10":      {1, "missing: no such file or directory; give the path of an ELF file, a symbol file or a GSYM file"},
		". 10":            {1, ".: not a regular file: it is a directory; give the path of an ELF file, a symbol file or a GSYM file"},
		"main.go 10":      {1, "main.go: neither an ELF file, a symbol file nor a GSYM file: it is a text file"},
		program86 + " zz": {1, program86 + ": zz: want a hexadecimal address, or a symbol of the file with an offset, such as main+0x10"},
		program86 + " _ZN4shop12_GLOBAL__N_14bookEi+1":  {1, program86 + ": _ZN4shop12_GLOBAL__N_14bookEi+1: 2 symbols have this name: give an address, 0x401061, 0x401431"},
		program86 + " run+zz":                           {1, program86 + ": run+zz: want a hexadecimal address, or a symbol of the file with an offset, such as main+0x10"},
		"--build-id=zz x 1":                             {80, "--build-id zz: want hexadecimal digits; see symaddr --help"},
		"--addresses=offset " + program86 + " ffffffff": {1, "ffffffff: no segment of " + program86 + " has this file offset"},
		"--format=xml " + program86:                     {80, `--format must be one of "text","json" but got "xml"; see symaddr --help`},
	})
}

// TestNames: the names of other programs, as distributions write them.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"addr2line": true, "x86_64-linux-gnu-addr2line": true, "llvm-symbolizer-14": true, "llvm-addr2line": true, "symaddr": false} {
		if got := personality(name) != nil; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPeers: command lines of the peers, in the forms that callers use.
func TestPeers(t *testing.T) {
	const gnu = "_ZN4shop5StackIiLi4EE3popEv\n/symkit/src/cxx.h:36\nrun\n/symkit/src/cxx.cc:117\n"
	const llvm = "shop::Stack<int, 4>::pop()\n/symkit/src/cxx.h:36:19\nrun\n/symkit/src/cxx.cc:117:25\n\n"
	file := filepath.Join(t.TempDir(), "args")
	err := os.WriteFile(file, []byte("\\-f '-i'\n-e \""+program86+"\""), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, args, stdin string
		want              ran
	}{
		{"addr2line", "-e FILE -f -i", "4012de\n", ran{0, gnu, ""}},
		{"addr2line", "-fie FILE 4012de", "", ran{0, gnu, ""}},
		{"addr2line", "--exe=FILE --functions --inlines 0x4012de", "", ran{0, gnu, ""}},
		{"addr2line", "@" + file + " 4012de", "", ran{0, gnu, ""}},
		{"addr2line", "-e FILE -afiC", "4012de\n", ran{0, "0x00000000004012de\n" + strings.Replace(gnu, "_ZN4shop5StackIiLi4EE3popEv", "shop::Stack<int, 4>::pop()", 1), ""}},
		{"addr2line", "-e FILE -f -i -j .text 2de", "", ran{0, gnu, ""}},
		{"addr2line", "-e FILE -a -f -i -j .text 2de", "", ran{0, "0x00000000000002de\n" + gnu, ""}},
		{"addr2line", "-e FILE -a -j .text 3fe2de", "", ran{0, "0x00000000003fe2de\n??:0\n", ""}},
		{"addr2line", "-e FILE -j .debug_line 4012de", "", ran{0, "??:0\n", ""}},
		{"addr2line", "-e FILE -j .bss 0", "", ran{0, "??:0\n", ""}},
		{"addr2line", "-e FILE -j .nosuch 0", "", ran{1, "", "addr2line: FILE: cannot find section .nosuch\n"}},
		{"addr2line", "--ex FILE --fun --inl --no-recurs --dem=none +0x4012de", "", ran{0, gnu, ""}},
		{"addr2line", "-e FILE --demangle=gnu 1", "", ran{1, "", "addr2line: unknown demangling style `gnu'\n"}},
		{"addr2line", "-e missing 1", "", ran{1, "", "addr2line: missing: no such file or directory\n"}},
		{"llvm-addr2line", "-fie FILE 4012de", "", ran{0, gnu, ""}},
		{"llvm-symbolizer", "--obj=FILE 0x4012de", "", ran{0, llvm, ""}},
		{"llvm-symbolizer", "-e FILE", "0x4012de\n", ran{0, llvm, ""}},
		{"llvm-symbolizer", "--inlining -demangle=true", "CODE FILE 0x4012de\n", ran{0, llvm, ""}},
		{"llvm-symbolizer", "--inlining=true --default-arch=x86_64", "\"FILE\" 0x4012de\n", ran{0, llvm, ""}},
		{"llvm-symbolizer", "--inlining=false -functions=short --output-style=GNU", "FILE 0x4012de\n", ran{0, "pop\n/symkit/src/cxx.h:36\n", ""}},
		{"llvm-symbolizer", "", "missing 0x1\n", ran{0, "??\n??:0:0\n\n", "llvm-symbolizer: error: 'missing': No such file or directory\n"}},
		{"llvm-symbolizer", "--output-style=JSON -p -e FILE --no-inlines -s", "0x4012de\n", ran{0, "{\n  \"Address\": \"0x4012de\",\n  \"ModuleName\": \"FILE\",\n  \"Symbol\": [\n    {\n      \"Column\": 19,\n      \"Discriminator\": 0,\n" +
			"      \"FileName\": \"cxx.h\",\n      \"FunctionName\": \"run\",\n      \"Line\": 36,\n      \"StartAddress\": \"0x401270\",\n      \"StartFileName\": \"cxx.h\",\n      \"StartLine\": 36\n    }\n  ]\n}\n", ""}},
		{"llvm-symbolizer", "--output-style=GNU --verbose -e FILE --no-inlines -s run+110", "", ran{0, "run\n  Filename: cxx.h\n  Function start filename: cxx.h\n  Function start line: 36\n  Line: 36\n  Column: 19\n", ""}},
		{"llvm-symbolizer", "", "FILE run+0x6e\nFILE nosuch\n", ran{0, "run\n/symkit/src/cxx.h:36:19\n\nFILE nosuch\n", ""}},
		{"llvm-symbolizer", "--output-style=JSON --functions=none", "FILE run+110\nFILE 1x\n", ran{0, `{"Loc":[{"Column":19,"Discriminator":0,"FileName":"/symkit/src/cxx.h","FunctionName":"","Line":36,"StartAddress":"0x4012dc","StartFileName":"/symkit/src/cxx.h","StartLine":36}],"ModuleName":"FILE","SymName":"run"}` +
			"\n" + `{"Error":{"Message":"unable to parse arguments: FILE 1x"},"ModuleName":"FILE"}` + "\n", ""}},
		{"llvm-symbolizer", "--relativenames -e FILE 0x4012de", "", ran{0, strings.ReplaceAll(llvm, "/symkit/", ""), ""}},
		{"llvm-symbolizer", "--output-style=XML", "", ran{1, "", "llvm-symbolizer: error: --output-style=XML: want LLVM, GNU or JSON\n"}},
	} {
		replace := func(s string) string { return strings.ReplaceAll(s, "FILE", program86) }
		tt.want.stdout, tt.want.stderr = replace(tt.want.stdout), replace(tt.want.stderr)
		got := runWith(t, tt.name, replace(tt.stdin), strings.Fields(replace(tt.args))...)
		if got != tt.want {
			t.Errorf("%s %s: %+v, want %+v", tt.name, tt.args, got, tt.want)
		}
	}
}

// TestSourceLines: lines of source files that are here, with their numbers.
func TestSourceLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.sym")
	programtest.Write(t, filepath.Join(dir, "a.c"), []byte("one\n\ttwo\x1b\r\nthree"))
	programtest.Write(t, path, []byte("MODULE Linux x86_64 0 s\nFILE 0 "+dir+"/a.c\nFILE 1 "+dir+"/none.c\nFUNC 10 20 0 f\n10 10 3 0\n20 10 3 1\n"))
	for args, want := range map[string]string{
		"--print-source-context-lines=2 0x10":                     "f\nDIR/a.c:3:0\n2  : \ttwo\\x1b\n3 >: three\n\n",
		"--print-source-context-lines=20 --output-style=GNU 0x10": "f\nDIR/a.c:3\n 1  : one\n 2  : \ttwo\\x1b\n 3 >: three\n",
		"--print-source-context-lines=2 0x20":                     "f\nDIR/none.c:3:0\n\n",
		"--print-source-context-lines=0 0x10":                     "f\nDIR/a.c:3:0\n\n",
		"--print-source-context-lines=1 --output-style=JSON 0x10": `[{"Address":"0x10","ModuleName":"DIR/s.sym","Symbol":[{"Column":0,"Discriminator":0,"FileName":"DIR/a.c","FunctionName":"f","Line":3,"Source":"3 >: three\n","StartAddress":"0x10","StartFileName":"","StartLine":0}]}]` + "\n",
	} {
		got := runWith(t, "llvm-symbolizer", "", append(strings.Fields(args), "-e", path)...)
		if got.code != 0 || strings.ReplaceAll(got.stdout, dir, "DIR") != want {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
}

// TestVariables: the variables with flags of llvm-symbolizer and llvm-addr2line.
func TestVariables(t *testing.T) {
	t.Setenv("LLVM_SYMBOLIZER_OPTS", "-e '"+program86+"' --functions=none --output-style=GNU")
	t.Setenv("LLVM_ADDR2LINE_OPTS", "-f")
	got := runWith(t, "llvm-symbolizer", "", "--no-inlines", "0x4012de")
	if got != (ran{0, "/symkit/src/cxx.h:36\n", ""}) {
		t.Errorf("%+v", got)
	}
	got = runWith(t, "llvm-addr2line", "", "-e", program86, "0x4012de")
	if got != (ran{0, "_ZN4shop5StackIiLi4EE3popEv\n/symkit/src/cxx.h:36\n", ""}) {
		t.Errorf("%+v", got)
	}
}

// TestLLVMBuildID: llvm-symbolizer finds a debug file by its build id; an id that no file has, or that is none, is a file
// that is not there.
func TestLLVMBuildID(t *testing.T) {
	const id = "8cb693933a6223a77971790e89f1dba9597e3982"
	dir := t.TempDir()
	err := os.MkdirAll(filepath.Join(dir, ".build-id", id[:2]), 0o777)
	if err != nil {
		t.Fatal(err)
	}
	programtest.Write(t, filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug"), programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5-stripped.debug"))
	const found, none = "shop::Stack<int, 4>::pop()\n/symkit/src/cxx.h:36:19\nrun\n/symkit/src/cxx.cc:117:25\n\n", "??\n??:0:0\n\n"
	for line, want := range map[string]string{"BUILDID:" + id + " 0x4012de": found, "BUILDID:" + strings.ToUpper(id) + " 0x4012de": found,
		"BUILDID:8c 1": none, "BUILDID:../x 1": none, "BUILDID:0000" + id[4:] + " 1": none} {
		got := runWith(t, "llvm-symbolizer", line+"\n", "--debug-file-directory="+dir)
		if got.code != 0 || got.stdout != want {
			t.Errorf("%s: %+v, want %s", line, got, want)
		}
	}
}
