package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/testfile"
)

// TestUnprintable checks names in the ELF file, in the symbol file, and of both files, in every
// format of every command.
func TestUnprintable(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	data, err := fixture(filepath.Join("..", ".."), name)
	if err != nil {
		t.Fatal(err)
	}
	own, err := fixture(filepath.Join("..", ".."), name+".sym")
	if err != nil {
		t.Fatal(err)
	}
	sections := []string{".strtab", ".dynstr", ".debug_str", ".debug_line_str"}
	dir := filepath.Join(t.TempDir(), testfile.Hostile)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
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
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), append(args, "--format="+format, "--limit=1000", "--require=cfi"), &stdout, &stderr); code == 2 {
				findings++
			}
			for name, out := range map[string]*bytes.Buffer{"stdout": &stdout, "stderr": &stderr} {
				if err := testfile.Unprintable(out.Bytes()); err != nil {
					t.Errorf("%.40q --format=%s: %s: %v", args, format, name, err)
				}
			}
		}
	}
	if findings < 4*testfile.HostileShifts() {
		t.Errorf("findings in %d runs only", findings)
	}
}
