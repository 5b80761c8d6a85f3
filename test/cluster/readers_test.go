package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReaders: stackwalk, its worker and symcheck read dumps, symbols and ELF files from a bucket, and
// print what they print for the same files in directories. Symbols are packed with gzip there.
func TestReaders(t *testing.T) {
	g := start(t)
	work := t.TempDir()
	program, err := os.ReadFile("../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	elf := filepath.Join(work, "crash") // its name in the core file
	if err := os.WriteFile(elf, program, 0o777); err != nil {
		t.Fatal(err)
	}
	core, err := exec.Command("xz", "-dc", "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz").Output()
	if err != nil {
		t.Fatal(err)
	}
	dumps := map[string][]byte{"core": core}
	dumps["app.dmp"], err = os.ReadFile("../../walk/minidump/testdata/minidump2.dmp")
	if err != nil {
		t.Fatal(err)
	}

	// The symbols of the program come from dump_syms, those of the minidump from Breakpad.
	store := filepath.Join(work, "store")
	for _, where := range []string{store, "s3://" + bucket + "/sym"} {
		out, err := dump(t, g.env(), "--inlines", "-s", where, "--compress", "gzip", elf)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for name, data := range tree(t, "../../cmd/stackwalk/testdata/breakpad/symbols") {
		path := filepath.Join(store, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		g.put(t, "sym/"+name, data)
	}
	for name, data := range dumps {
		if err := os.WriteFile(filepath.Join(work, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
		g.put(t, "dumps/"+name, data)
	}
	g.put(t, "bin/crash", program)

	// Each program runs twice: with directories, and with addresses in their place.
	local, remote := work+"/", "s3://"+bucket+"/dumps/"
	read := func(env []string, in, name string, args ...string) string {
		cmd := exec.Command(filepath.Join(programs(t), name), args...)
		cmd.Env, cmd.Stdin = env, strings.NewReader(in)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v: %s", cmd, err, stderr.Bytes())
		}
		return string(out)
	}
	bucketStore := "s3://" + bucket + "/sym"
	for name, function := range map[string]string{"core": `"function":"handler"`, "app.dmp": "`anonymous namespace'::CrashFunction"} {
		args := []string{"--no-elf", "--format=json", "--cache", filepath.Join(work, "cache."+name)}
		want := comparable(t, read(os.Environ(), "", "stackwalk", append(args, "--symbols", store, local+name)...))
		got := comparable(t, read(g.env(), "", "stackwalk", append(args, "--symbols", bucketStore, remote+name)...))
		if got != want || !strings.Contains(got, function) {
			t.Errorf("%s: from the bucket:\n%.2000s\nwant, with %s:\n%.2000s", name, got, function, want)
		}
	}

	// The worker's lines are addresses, one of them of an object that does not exist.
	args := []string{"--worker", "--no-elf", "--cache", filepath.Join(work, "cache.worker"), "--symbols"}
	var answers [2][]string
	for i, where := range []string{local, remote} {
		lines := where + "core\n" + where + "app.dmp\n" + where + "none\n" + where + "core\n"
		out := read(g.env(), lines, "stackwalk", append(args, []string{store, bucketStore}[i])...)
		for line := range strings.Lines(out) {
			answers[i] = append(answers[i], comparable(t, strings.ReplaceAll(line, where, "")))
		}
		if len(answers[i]) != 4 || !strings.Contains(answers[i][2], `"status":"failed"`) {
			t.Fatalf("%s: the worker's answers:\n%.3000s", where, out)
		}
		answers[i] = slices.Delete(answers[i], 2, 3) // the reasons differ
	}
	if !slices.Equal(answers[0], answers[1]) {
		t.Errorf("the worker, from the bucket:\n%.3000q\nwant\n%.3000q", answers[1], answers[0])
	}

	// symcheck compares a symbol file and its program, both in the bucket.
	names, err := filepath.Glob(filepath.Join(store, "crash*", "*", "*.sym.gz"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%q, %v", names, err)
	}
	object, err := filepath.Rel(store, strings.TrimSuffix(names[0], ".gz"))
	if err != nil {
		t.Fatal(err)
	}
	got := read(g.env(), "", "symcheck", "-v", bucketStore+"/"+object, "s3://"+bucket+"/bin/crash")
	if !strings.Contains(got, "functions") {
		t.Errorf("symcheck: %s", got)
	}

	// A symbol file of another program is found wrong, and a missing one is an error with its address.
	g.put(t, "bin/other.elf", program[:len(program)/2])
	for _, test := range []struct{ args, want string }{
		{bucketStore + "/" + object + " s3://" + bucket + "/bin/other.elf", "s3://" + bucket + "/bin/other.elf: "},
		{bucketStore + "/none.sym s3://" + bucket + "/bin/crash", "s3://" + bucket + "/sym/none.sym: not in the bucket"},
		{"lint s3://none/x.sym", "the bucket does not exist"},
	} {
		cmd := exec.Command(filepath.Join(programs(t), "symcheck"), strings.Fields(test.args)...)
		cmd.Env = g.env()
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.want) {
			t.Errorf("symcheck %s: %v: %s, want %s", test.args, err, out, test.want)
		}
	}
}

// comparable returns a report without the places where the symbols of modules were looked for.
func comparable(t *testing.T, report string) string {
	t.Helper()
	var value map[string]any
	err := json.Unmarshal([]byte(report), &value)
	if err != nil {
		t.Fatalf("%v: %.1000s", err, report)
	}
	inner := value
	if result, ok := value["result"].(map[string]any); ok { // an answer of the worker
		inner = result
	}
	modules, _ := inner["modules"].([]any)
	for _, m := range modules {
		delete(m.(map[string]any), "symkit")
		delete(m.(map[string]any), "symbol_url")
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCrashService: the program of testdata/importer dumps a directory into a bucket, and walks a crash with it.
func TestCrashService(t *testing.T) {
	g := start(t)
	work := t.TempDir()
	core, err := exec.Command("xz", "-dc", "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz").Output()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf")
	if err == nil {
		err = os.Mkdir(filepath.Join(work, "programs"), 0o777)
	}
	for name, data := range map[string][]byte{"core": core, "programs/crash": program} {
		if err == nil {
			err = os.WriteFile(filepath.Join(work, name), data, 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}

	build := exec.Command("go", "build", "-pgo=off", "-o", filepath.Join(work, "crashservice"), "./crashservice")
	build.Dir = "../../testdata/importer"
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(filepath.Join(work, "crashservice"), filepath.Join(work, "programs"), "s3://"+bucket+"/sym", filepath.Join(work, "core"))
	cmd.Env = g.env("XDG_CACHE_HOME=" + work)
	out, err = cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("crash!crash + 0x6 [/symkit/src/crash.c:64]")) {
		t.Errorf("%v: %s", err, out)
	}
}
