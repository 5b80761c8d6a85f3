package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestUnprintable checks names in the ELF file, in the symbol file, and of both files, in every
// format of every command.
func TestUnprintable(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	data := programtest.Fixture(t, name)
	own := programtest.File(t, "check/testdata/own/"+name+".sym")
	sections := []string{".strtab", ".dynstr", ".debug_str", ".debug_line_str"}
	dir := filepath.Join(t.TempDir(), testfile.Hostile)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		programtest.Write(t, path, data)
		return path
	}

	app, sym := write("app", data), write("app.sym", own)
	text := strings.ReplaceAll(string(own), "/symkit/", "/"+testfile.Hostile+"/")
	text = strings.ReplaceAll(text, "shop", testfile.Hostile)
	bad := write("bad.sym", []byte(text+"x"+testfile.Hostile+"\nSTACK CFI INIT 0 1 "+testfile.Hostile+"\n"))
	runs := [][]string{{bad, app}, {sym, bad}, {"lint", bad}, {"lint", sym + "1", sym + "2"}, {"diff", bad, sym}, {"--" + testfile.Hostile},
		{"--only=" + testfile.Hostile, sym, app}, {sym, app, dir + "/none"}}
	for shift := range testfile.HostileShifts() {
		changed, err := testfile.HostileELF(data, shift, sections...)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, []string{sym, write(fmt.Sprint("app", shift), changed)})
	}

	findings := 0
	for _, args := range runs {
		for _, format := range []string{"text", "json", "junit", "sarif"} {
			code, _, _ := tested.Printable(t, append(args, "--format="+format, "--limit=1000", "--require=cfi")...)
			if code == 2 {
				findings++
			}
		}
	}
	if findings < 4*testfile.HostileShifts() {
		t.Errorf("findings in %d runs only", findings)
	}
}
