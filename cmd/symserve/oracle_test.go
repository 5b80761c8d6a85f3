//go:build oracle

package main

import (
	"archive/zip"
	"bytes"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// TestOracleClients: dump_syms sends the symbols and the program of a crash to a server, and programs of other projects
// read them there: minidump-stackwalk (SYMKIT_PEERS), stackwalk, debuginfod-find and gdb (Debian).
func TestOracleClients(t *testing.T) {
	for _, need := range []string{"debuginfod-find", "gdb", "strip", "readelf"} {
		_, err := exec.LookPath(need)
		if err != nil {
			t.Fatalf("%v; .ci/install debuginfod gdb binutils", err)
		}
	}
	walker := programtest.Peer(t, "minidump-stackwalk")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	command := func(env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), env...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // what is missing in the text says enough
		return string(out)
	}
	build := exec.Command("go", "build", "-pgo=off", "-o", dir, "../dump_syms", "../stackwalk")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	elf := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.elf")
	programtest.Write(t, at("crash"), elf)
	programtest.Write(t, at("core"), programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core.xz"))
	tokens := programtest.Write(t, at("tokens"), []byte("ci upload "+token+"\n"))
	command(nil, at("stackwalk"), "core", "--minidump", "crash.dmp")
	s := start(t, "--tokens", tokens, "--accept", "check", at("store"))

	// Symbols by our own client, and the program by a form.
	for _, protocol := range []string{"tecken", "breakpad"} {
		got := command([]string{"SYMKIT_TOKEN=" + token}, at("dump_syms"), "--inlines", "--store", protocol+"+"+s.url+"/", "crash")
		if got != "" { // it is silent about one module
			t.Errorf("dump_syms: %s", got)
		}
	}
	const key = "crash/0847E5D5E188F8BE72F06618D991C7E60/crash"
	if got := sendZip(t, s.url, key, elf); got != http.StatusCreated {
		t.Errorf("the program: %d", got)
	}

	for what, test := range map[string]struct{ got, want string }{
		"minidump-stackwalk": {command(nil, walker, "--symbols-url", s.url, "--symbols-cache", at("cache"), "--symbols-tmp", at("cache"), "crash.dmp"), "crash!poke [crash.c : 17]"},
		"stackwalk":          {command([]string{"XDG_CACHE_HOME=" + at("xdg")}, at("stackwalk"), "--symbols", s.url, "crash.dmp"), "crash!poke [/symkit/src/crash.c:17]"},
		"debuginfod-find":    {command([]string{"DEBUGINFOD_URLS=" + s.url, "DEBUGINFOD_CACHE_PATH=" + at("found")}, "debuginfod-find", "executable", "crash"), at("found")},
	} {
		if !strings.Contains(test.got, test.want) {
			t.Errorf("%s: no %q in\n%s", what, test.want, test.got)
		}
	}
	found, err := filepath.Glob(filepath.Join(at("found"), "*", "executable"))
	data := []byte(nil)
	if err == nil && len(found) == 1 {
		data, err = os.ReadFile(found[0])
	}
	if err != nil || !bytes.Equal(data, elf) {
		t.Errorf("debuginfod-find: %q, %d bytes, %v", found, len(data), err)
	}
	command(nil, "strip", "-o", "stripped", "crash")
	got := command([]string{"DEBUGINFOD_URLS=" + s.url, "DEBUGINFOD_CACHE_PATH=" + at("gdb")}, "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled on", "-ex", "info line crash", "stripped")
	if !strings.Contains(got, `Line 63 of "src/crash.c" starts at address`) {
		t.Errorf("gdb: %s", got)
	}
}

// TestOracleUploaders: other projects' programs send symbol files: Breakpad's sym_upload by both of its protocols, and
// Bugsnag's program. They send a worse file, a better one, that one again, the program itself where the protocol has
// it, which refutes no right file, and the worse one again, which is refused then.
func TestOracleUploaders(t *testing.T) {
	elf := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.elf")
	const id = "0847E5D5E188F8BE72F06618D991C7E60"
	dir := t.TempDir()
	program := programtest.Write(t, filepath.Join(dir, "crash"), elf)
	build := exec.Command("go", "build", "-pgo=off", "-o", dir, "../dump_syms")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sym, err := exec.Command(filepath.Join(dir, "dump_syms"), program).Output()
	if err != nil {
		t.Fatal(err)
	}
	whole := programtest.Write(t, filepath.Join(dir, "whole.sym"), sym)
	poor := programtest.Write(t, filepath.Join(dir, "poor.sym"), regexp.MustCompile(`(?m)^[0-9a-f].*\n`).ReplaceAll(sym, nil)) // without lines

	type step struct{ file, says, verdict string }
	sends := func(worse string) []step {
		return []step{{poor, "", "new"}, {whole, "", "better"}, {whole, "", "same"}, {poor, worse, "worse"}}
	}
	for _, client := range []struct {
		name, peer string
		args       func(url, file string) []string
		steps      []step
	}{
		{"sym-upload-v1", "sym_upload", func(url, file string) []string { return []string{file, url + "/sym-upload?key=" + token} }, sends("Failed to send symbol file")},
		{"sym-upload-v2", "sym_upload", func(url, file string) []string {
			args := []string{"-p", "sym-upload-v2", "-k", token, "-f", file, url}
			if file == program {
				args = append([]string{"-t", "ELF", "-c", "crash", "-i", id}, args...)
			}
			return args
		}, append(sends("is better, and stays"), step{program, "", "new"}, step{poor, "does not say what the ELF file says", "refused"})},
		{"Bugsnag", "bugsnag-cli", func(url, file string) []string {
			return []string{"upload", "breakpad", "--api-key", token, "--upload-api-root-url", url, file}
		}, sends("Duplicate file detected")},
	} {
		t.Run(client.name, func(t *testing.T) {
			peer := programtest.Peer(t, client.peer)
			journal := filepath.Join(t.TempDir(), "journal")
			tokens := programtest.Write(t, filepath.Join(t.TempDir(), "tokens"), []byte("ci upload "+token+"\n"))
			s := start(t, "--tokens", tokens, "--accept", "check", "--journal", journal, filepath.Join(t.TempDir(), "store"))
			for i, step := range client.steps {
				out, err := exec.Command(peer, client.args(s.url, step.file)...).CombinedOutput()
				if (err != nil) != (step.says != "" && client.peer == "sym_upload") || !strings.Contains(string(out), step.says) {
					t.Errorf("step %d: %v: %s", i, err, out)
				}
				lines, err := os.ReadFile(journal)
				text := strings.Split(strings.TrimSpace(string(lines)), "\n")
				if err != nil || len(text) != i+1 || !strings.Contains(text[i], `"verdict":"`+step.verdict+`"`) {
					t.Errorf("step %d: %v: %s", i, err, text[len(text)-1])
				}
			}
		})
	}
}

// sendZip sends a file by Tecken's first protocol, and returns the status.
func sendZip(t *testing.T, url, key string, data []byte) int {
	t.Helper()
	var archive, form bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create(key)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	m := multipart.NewWriter(&form)
	part, formErr := m.CreateFormFile("symbols.zip", "symbols.zip")
	if err != nil || formErr != nil {
		t.Fatal(err, formErr)
	}
	_, _ = part.Write(archive.Bytes()) // into memory
	m.Close()
	req, err := http.NewRequest(http.MethodPost, url+"/upload/", &form)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Auth-Token", token)
	req.Header.Set("Content-Type", m.FormDataContentType())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
