package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// storeOf makes a store with a good file, one with findings, one that is damaged, and a program with its symbol file, whose
// directory has control characters in its name.
func storeOf(t *testing.T) (at string) {
	t.Helper()
	const id = "0123456789ABCDEF0123456789ABCDEF0"
	const program = "cxx-x86_64-gcc12-O2-dw5.elf"
	at = filepath.Join(t.TempDir(), "store"+testfile.Hostile)
	for name, text := range map[string]string{"good": "", "bad": "FUNC 10 10 0 f\nFUNC 18 10 0 g\n", "damaged": "\x1f\x8b\x08"} {
		if name != "damaged" {
			text = "MODULE Linux x86_64 " + id + " " + name + "\n" + text
		}
		place := filepath.Join(at, name, id)
		err := os.MkdirAll(place, 0o777)
		if err != nil {
			t.Fatal(err)
		}
		programtest.Write(t, filepath.Join(place, name+".sym"), []byte(text))
	}
	programtest.Write(t, filepath.Join(at, "hello.sym"), programtest.File(t, "check/testdata/own/"+program+".sym"))
	programtest.Write(t, filepath.Join(at, program), programtest.Fixture(t, program))
	return at
}

// TestStore: every format has the four files, and what was found; files that cannot be read are exit code 1.
func TestStore(t *testing.T) {
	at := storeOf(t)
	outputs := map[string]string{}
	for _, format := range []string{"text", "json", "junit", "sarif", "html"} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"--store", at, "--format", format, at}, &stdout, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), "1 of 4 symbol files could not be checked") {
			t.Errorf("%s: exit code %d: %s", format, code, &stderr)
		}
		if err := testfile.Outputs(stdout.Bytes(), stderr.Bytes()); err != nil && format != "html" {
			t.Errorf("%s: %v", format, err)
		}
		outputs[format] = stdout.String()
	}

	if !strings.Contains(outputs["text"], "4 symbol files, 1 compared with ELF files: 1 finding in 1 file, 1 could not be checked\n") ||
		!strings.Contains(outputs["text"], "damaged.sym: unexpected EOF") || !strings.Contains(outputs["text"], "bad.sym:3: FUNC 18 10 0 g: begins inside") {
		t.Error(outputs["text"])
	}
	var doc struct {
		Version int
		Store   struct {
			Files, Compared, Bad, Failed int
			Members                      []struct{ File, Error string }
		}
		Results []struct{ File string }
	}
	err := json.Unmarshal([]byte(outputs["json"]), &doc)
	got := fmt.Sprint(doc.Version, doc.Store.Files, doc.Store.Compared, doc.Store.Bad, doc.Store.Failed, len(doc.Store.Members), len(doc.Results))
	if err != nil || got != "1 4 1 1 1 4 1" {
		t.Errorf("%v: %s", err, outputs["json"])
	}
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
		} `xml:"testsuite"`
	}
	err = xml.Unmarshal([]byte(outputs["junit"]), &suites)
	if err != nil || len(suites.Suites) != 2 || suites.Suites[0].Tests != 4 || suites.Suites[0].Failures != 2 {
		t.Errorf("%v: %s", err, outputs["junit"])
	}
	for format, want := range map[string]int{"sarif": strings.Count(outputs["sarif"], `"ruleId"`), "html": strings.Count(outputs["html"], "<h1")} {
		if want != 2 { // of sarif two results, of the page the store and the file with a finding
			t.Errorf("%s: %d: %s", format, want, outputs[format])
		}
	}
}

// TestStoreCodes: exit codes and messages of --store.
func TestStoreCodes(t *testing.T) {
	at, empty := storeOf(t), t.TempDir()
	list := filepath.Join(t.TempDir(), "list")
	const id = "0123456789ABCDEF0123456789ABCDEF0"
	programtest.Write(t, list, []byte("good "+id+"\n"))
	both := list + "2"
	programtest.Write(t, both, []byte("good "+id+"\nbad/"+id+"\n"))
	wrong := list + "3"
	programtest.Write(t, wrong, []byte("good "+id+"\ngood\n"))
	for _, test := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"--store", at, "--modules", list}, 0, ""},
		{[]string{"--store", at, "--modules", both}, 2, ""},
		{[]string{"--store", at, "--modules", both, "--only=rules"}, 0, ""},
		{[]string{"--store", at, "--modules", list, "--require=lines"}, 2, ""},
		{[]string{"--store", at, "--modules", wrong}, 1, "line 2: want NAME ID, NAME/ID, a path of the store, a MODULE record, or a line of a manifest of dump_syms"},
		{[]string{"--store", at, "--modules", list + "4"}, 1, "no such file or directory; give a list of modules, one per line"},
		{[]string{"--store", empty}, 1, "no symbol file in the store"},
		{[]string{"--store", filepath.Join(empty, "none")}, 1, "none: no such file or directory"},
		{[]string{"--store", "https://127.0.0.1:1/"}, 1, "a server cannot be listed: give the list of its modules with --modules"},
		{[]string{"--store", "gs://b"}, 80, "--store gs://b: not an address that is known"},
		{[]string{"--store", at, "--id", id}, 80, "--store and --id exclude each other"},
		{[]string{"--modules", list, at, at}, 80, "--modules needs --store"},
		{[]string{"--memory", "1G", at, at}, 80, "--memory needs --store"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), test.args, &stdout, &stderr)
		if code != test.code || !strings.Contains(stderr.String(), test.stderr) || test.stderr == "" && stderr.Len() > 0 {
			t.Errorf("%q: exit code %d, %s", test.args, code, &stderr)
		}
	}
}
