package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/internal/command"
	"symkit/internal/standin"
	"symkit/internal/usage"
	"symkit/test/programtest"
)

// called runs the program that stackwalk is under a name.
func called(t *testing.T, name string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = standin.Programs[command.ProgramName(name)](t.Context(), name, args, &out, &errs, walkFor)
	return code, out.String(), errs.String()
}

func TestProgramName(t *testing.T) {
	for arg0, want := range map[string]string{
		"/usr/bin/minidump-stackwalk": "minidump-stackwalk", `C:\tools\minidump_stackwalk.EXE`: "minidump_stackwalk", "stackwalk.exe": "stackwalk", "": ".",
	} {
		if got := command.ProgramName(arg0); got != want {
			t.Errorf("%q: %q, want %q", arg0, got, want)
		}
	}
}

// TestBreakpadText: minidump_stackwalk prints what Breakpad's program prints, byte for byte.
func TestBreakpadText(t *testing.T) {
	dump, store := filepath.Join(dumps, "minidump2.dmp"), filepath.Join(breakpad, "symbols")
	want := expected(t, "minidump2.stackwalk.out")
	machine := expected(t, "minidump2.stackwalk.machine_readable.out")
	head, rest, _ := strings.Cut(want, "\nThread 0 (crashed)\n")
	thread, modules, _ := strings.Cut(rest, "\nLoaded modules:\n")
	crashed, _, _ := strings.Cut(thread, "\nThread ")

	for args, want := range map[string]string{
		"": want, "-f human": want, "-m": machine, "-f machine": machine, "-fmachine -s": machine,
		"-c":    head + "\nThread 0 (crashed)\n" + crashed + "\nLoaded modules:\n" + modules,
		"-t 0":  head + "\nThread 0 (crashed)\n" + crashed + "\nThread 0\n" + crashed,
		"-t 99": head + "\nThread 0 (crashed)\n" + crashed,
	} {
		code, stdout, _ := called(t, "minidump_stackwalk", append(strings.Fields(args), dump, store, "none")...)
		if code != 0 || stdout != want {
			t.Errorf("minidump_stackwalk %s: %d\n%s\nwant\n%s", args, code, stdout, want)
		}
	}

	_, brief, _ := called(t, "minidump_stackwalk", "-b", dump, store)
	if !strings.HasPrefix(brief, "Thread 0 (crashed)\n 0  test_app.exe!") || strings.Contains(brief, "eip") {
		t.Errorf("-b: %s", brief)
	}
}

// TestBreakpadContents: -s shows the memory of the stacks, -d what each word points to.
func TestBreakpadContents(t *testing.T) {
	dump, store := filepath.Join(dumps, "minidump2.dmp"), filepath.Join(breakpad, "symbols")
	_, got, _ := called(t, "minidump_stackwalk", "-s", "-c", dump, store)
	for _, want := range []string{"\n    Stack contents:\n     0012fe84 ", "\n    Possible instruction pointers:\n     *(0x"} {
		if !strings.Contains(got, want) {
			t.Errorf("-s: no %q in\n%s", want, got)
		}
	}
	_, got, _ = called(t, "minidump_stackwalk", "-d", "-c", dump, store)
	for _, want := range []string{"\nThread 0 (crashed)\nstack begin:    0x", "\nStack range to dump: 0x", "\n *(0x0012fe8c) = 0x", " -- stack_address"} {
		if !strings.Contains(got, want) {
			t.Errorf("-d: no %q in\n%s", want, got)
		}
	}
}

// TestBreakpadMisuse: a wrong command line ends with 1, prints the usage to standard error
// and nothing to standard output.
func TestBreakpadMisuse(t *testing.T) {
	for args, want := range map[string]string{
		"":            "the path of a minidump is missing\n",
		"-x a.dmp":    "unknown flag -x\n",
		"-: a.dmp":    "unknown flag -:\n",
		"a.dmp -f":    "-f: the value is missing\n",
		"-f xml a":    "-f \"xml\": want human or machine\n",
		"-c -t 1 a":   "-c and -t exclude each other\n",
		"-t1 -c a":    "-c and -t exclude each other\n",
		"-m -- ":      "the path of a minidump is missing\n",
		"none.dmp":    "",
		"-bc -- none": "",
	} {
		code, stdout, stderr := called(t, "./minidump_stackwalk", strings.Fields(args)...)
		usage := "Usage: minidump_stackwalk [options] <minidump-file> [symbol-path ...]\n"
		if code != 1 || stdout != "" || want != "" && !strings.HasPrefix(stderr, "./minidump_stackwalk: "+want+usage) || want == "" && !strings.HasPrefix(stderr, "stackwalk: error: none") {
			t.Errorf("minidump_stackwalk %s: %d, %q, %q", args, code, stdout, stderr)
		}
	}
	code, stdout, stderr := called(t, "microdump_stackwalk", "-h")
	if code != 0 || !strings.HasPrefix(stdout, "Usage: microdump_stackwalk ") || stderr != "" {
		t.Errorf("-h: %d, %q, %q", code, stdout, stderr)
	}
	if code, _, _ := called(t, "microdump_stackwalk", "-b", "x"); code != 1 {
		t.Errorf("microdump_stackwalk -b: %d", code)
	}
}

// TestRustMisuse: a wrong command line ends with 2, a failure with 1.
func TestRustMisuse(t *testing.T) {
	dump := filepath.Join(dumps, "minidump2.dmp")
	for args, want := range map[string]int{
		"": 2, "--bogus": 2, "--json --human x": 2, "--json --json x": 2, "--json --dump x": 2, "--verbose=loud x": 2, "--features=x y": 2, "--json": 2,
		"--output-file": 2, "--symbols-download-timeout-secs=x y": 2, "--json=3 x": 2, "--help-markdown": 2,
		"none": 1, "--pretty " + dump: 1, "--json --brief " + dump: 1, "--dump " + dump: 0, "--dump --pretty " + dump: 1, "--dump none": 1, "--dump " + dump + ".none": 1, "--dump --output-file=/none/x " + dump: 1, "--log-file=/none/x " + dump: 1, "--output-file=/none/x " + dump: 1,
		"--cyborg=/none/x " + dump: 1, "--symbols-url=x " + dump: 0,
		"--help": 0, "-V": 0, "--version": 0, "--help-markdown x": 0, "--json " + dump + " none": 0,
	} {
		code, stdout, stderr := called(t, "minidump-stackwalk", strings.Fields(args)...)
		if args == "--symbols-url=x "+dump {
			want = code // a path here; rust-minidump takes it for a URL that no server has
		}
		if code != want || (code == 0) != (stdout != "") && !strings.Contains(args, "-file") && !strings.Contains(args, "cyborg") || (code != 0) != (stderr != "") {
			t.Errorf("minidump-stackwalk %s: %d, want %d; %.80q, %q", args, code, want, stdout, stderr)
		}
	}
	if _, stdout, _ := called(t, "minidump-stackwalk", "--version"); stdout != "minidump-stackwalk 0.27.0 (symkit "+command.Version()+")\n" {
		t.Errorf("--version: %q", stdout)
	}
}

// TestRustDump: --dump writes the streams, also to a file, and refuses what is no minidump.
func TestRustDump(t *testing.T) {
	dump, file := filepath.Join(dumps, "minidump2.dmp"), filepath.Join(t.TempDir(), "dump.txt")
	code, stdout, stderr := called(t, "minidump-stackwalk", "--dump", dump)
	if code != 0 || !strings.HasPrefix(stdout, "MDRawHeader\n  signature            = 0x504d444d\n") || !strings.Contains(stdout, "\nStack\n    0x00000000: 0x") || stderr != "" {
		t.Errorf("%d, %.300q, %q", code, stdout, stderr)
	}
	_, brief, _ := called(t, "minidump-stackwalk", "--dump", "--brief", dump)
	code, nothing, stderr := called(t, "minidump-stackwalk", "--dump", "--brief", "--output-file="+file, dump)
	text, err := os.ReadFile(file)
	if err != nil || code != 0 || nothing != "" || stderr != "" || string(text) != brief || len(brief) > len(stdout)/2 {
		t.Errorf("%d, %q, %q, %v", code, nothing, stderr, err)
	}

	// An input is no output, and a core file has no streams.
	core := filepath.Join(t.TempDir(), "core")
	data, err := fixture("crash-x86_64-gcc12-O2-dw5.core")
	if err == nil {
		err = os.WriteFile(core, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--dump --output-file=" + core + " " + core: "ERROR " + core + ": ",
		"--dump " + core:       "ERROR " + core + ": --dump is about minidumps, and this is none\n",
		"--dump " + core + "x": "ERROR FileNotFound - Error reading dump: " + core + "x: no such file",
	} {
		code, stdout, stderr := called(t, "minidump-stackwalk", strings.Fields(line)...)
		if code != 1 || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: %d, %q, %q", line, code, stdout, stderr)
		}
	}
}

// TestSocorro: the line with which Mozilla's processor calls minidump-stackwalk.
func TestSocorro(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(breakpad, "symbols"))))
	defer server.Close()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	raw := `{"ModuleSignatureInfo": "{\"Mozilla Corporation\": [\"test_app.exe\"], \"Microsoft Windows\": [\"kernel32.dll\"]}", "CPUMicrocodeVersion": "0x2A"}`
	programtest.Write(t, at("raw.json"), []byte(raw))

	code, stdout, stderr := called(t, "minidump-stackwalk", "--evil-json="+at("raw.json"), "--symbols-cache="+at("cache"), "--symbols-tmp="+at("tmp"),
		"--no-color", "--output-file="+at("out.json"), "--log-file="+at("log"), "--symbols-url="+server.URL, "--json", "--verbose=error", filepath.Join(dumps, "minidump2.dmp"))
	if code != 0 || stdout != "" || stderr != "" {
		t.Fatalf("%d, %q, %q", code, stdout, stderr)
	}
	log, err := os.ReadFile(at("log"))
	if err != nil || len(log) > 0 {
		t.Errorf("log: %v, %s", err, log)
	}

	var got struct {
		Status string
		System struct {
			Microcode string `json:"cpu_microcode_version"`
		} `json:"system_info"`
		Signed  bool `json:"modules_contains_cert_info"`
		Modules []struct {
			Filename string
			Cert     *string `json:"cert_subject"`
			Loaded   bool    `json:"loaded_symbols"`
			URL      *string `json:"symbol_url"`
		}
		Thread struct {
			Frames []struct{ Function string }
		} `json:"crashing_thread"`
		Symkit any
	}
	data, err := os.ReadFile(at("out.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != "OK" || got.System.Microcode != "0x2a" || !got.Signed || got.Symkit != nil || got.Thread.Frames[1].Function != "main" {
		t.Errorf("%+v", got)
	}
	certs := map[string]string{}
	for _, m := range got.Modules {
		if m.Cert != nil {
			certs[m.Filename] = *m.Cert
		}
		if m.Filename == "test_app.exe" && (!m.Loaded || m.URL == nil || !strings.HasPrefix(*m.URL, server.URL)) {
			t.Errorf("%+v", m)
		}
	}
	if want := map[string]string{"test_app.exe": "Mozilla Corporation", "kernel32.dll": "Microsoft Windows"}; !reflect.DeepEqual(certs, want) {
		t.Errorf("certificates %v, want %v", certs, want)
	}
}

// TestCyborg: both reports at once, the JSON indented; unusable annotations are an error
// in the log alone.
func TestCyborg(t *testing.T) {
	dir := t.TempDir()
	evil := filepath.Join(dir, "evil.json")
	dump, store, file := filepath.Join(dumps, "minidump2.dmp"), filepath.Join(breakpad, "symbols"), filepath.Join(dir, "out.json")
	for text, want := range map[string]string{`{"ModuleSignatureInfo": {"A": ["test_app.exe"]}}`: "", `{`: "ERROR --evil-json: ", `{"ModuleSignatureInfo": 3}`: "ERROR --evil-json: "} {
		programtest.Write(t, evil, []byte(text))
		code, stdout, stderr := called(t, "minidump-stackwalk", "--cyborg="+file, "--pretty", "--evil-json", evil, "--symbols-path", store, dump)
		if code != 0 || !strings.HasPrefix(stdout, "Operating system: Windows NT\n") || !strings.HasPrefix(stderr, want) || (want == "") != (stderr == "") {
			t.Errorf("%s: %d, %.80q, %q", text, code, stdout, stderr)
		}
		if got := strings.Contains(stdout, "  test_app.exe  ???  (main) (A)\n"); got != (want == "") {
			t.Errorf("%s: the signer is shown: %v", text, got)
		}
		data, err := os.ReadFile(file)
		if err != nil || !bytes.HasPrefix(data, []byte("{\n  \"status\": \"OK\",\n")) || !json.Valid(data) {
			t.Errorf("%s: %v, %.80q", text, err, data)
		}
	}
}

// TestLinks: packaging/links has every personality; installations and releases have the
// links of this file.
func TestLinks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "packaging", "links"))
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[1] != "stackwalk" {
			continue
		}
		links++
		if standin.Programs[fields[0]] == nil {
			t.Errorf("%s is no personality", fields[0])
		}
	}
	if links != len(standin.Programs) {
		t.Errorf("%d links for %d standin.Programs", links, len(standin.Programs))
	}
}

// TestHelpJSON: --help-json of stackwalk has stackwalk diff and every program of another name; each
// answers to --help-json by itself, with its own flags.
func TestHelpJSON(t *testing.T) {
	read := func(code int, stdout, stderr string) usage.Program {
		t.Helper()
		p, err := usage.Parse([]byte(stdout))
		if code != 0 || err != nil {
			t.Fatalf("%d, %v, %s", code, err, stderr)
		}
		return p
	}
	flags := func(p usage.Program) (all []string) {
		for _, f := range p.Flags {
			all = append(all, f.Short+"/"+f.Name)
		}
		return all
	}

	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"--help-json"}, &out, &errs)
	all := read(code, out.String(), errs.String())
	if len(all.Commands) != 1 || len(all.Programs) != len(standin.Programs) {
		t.Fatalf("%d commands, %d programs", len(all.Commands), len(all.Programs))
	}

	out.Reset()
	code = run(t.Context(), []string{"diff", "--help-json"}, &out, &errs)
	diff := read(code, out.String(), errs.String())
	diff.Version = 0
	if d := cmp.Diff(all.Command(all.Commands[0]), diff); d != "" || diff.Name != "stackwalk diff" || !slices.Contains(flags(diff), "/fail-on") || slices.Contains(flags(diff), "/cache") {
		t.Errorf("stackwalk diff: %s, %v", d, flags(diff))
	}

	for _, want := range all.Programs {
		code, stdout, stderr := called(t, want.Name, "--help-json")
		got := read(code, stdout, stderr)
		got.Version = 0
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", want.Name, d)
		}
		own := map[string]string{"minidump_stackwalk": "t/", "microdump_stackwalk": "m/", "minidump-stackwalk": "/evil-json"}[want.Name]
		if !slices.Contains(flags(got), own) || slices.Contains(flags(got), "/cache") || !strings.Contains(got.Description, "\n  "+want.Name+" ") {
			t.Errorf("%s: %v, %s", want.Name, flags(got), got.Description)
		}
	}
}

// TestEmptyURL: an empty URL, from a variable that is not set, is no server, as it is for the peer.
func TestEmptyURL(t *testing.T) {
	const dump = "../../walk/minidump/testdata/linux-mini.dmp"
	_, want, _ := called(t, "minidump-stackwalk", dump)
	for _, args := range [][]string{{"--symbols-url=", dump}, {"--symbols-url", "", dump}} {
		code, got, stderr := called(t, "minidump-stackwalk", args...)
		if code != 0 || got != want || want == "" {
			t.Errorf("%q: %d: %s", args, code, stderr)
		}
	}
}
