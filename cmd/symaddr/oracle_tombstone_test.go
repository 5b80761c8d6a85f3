//go:build oracle

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// TestOracleTombstones: the places of the frames of all tombstones are those of llvm-symbolizer at the same addresses.
func TestOracleTombstones(t *testing.T) {
	programs := map[string]string{"290ecb03": "aarch64-gcc12-O2", "96f10493": "thumb-gcc12-O2", "4c1b1e8a": "x86_64-clang14-O2",
		"fe191f26": "i686-gcc12-O2", "e7c2e641": "riscv64-gcc12-O2", "libgame.so": "thumb-gcc12-O2", "libold.so": "arm-gcc12-O2",
		"x86/libflutter.so": "i686-gcc12-O2", "libcocos2dcpp.so": "arm-gcc12-O2"}
	frame, clone := regexp.MustCompile(`#\d\d +(?:pc +(?:0x)?|0x)([0-9a-f]+) `), regexp.MustCompile(` \(\..*\)$`)
	dir := programtest.TombstoneFiles(t)
	paths, err := filepath.Glob(filepath.Join(tombstones, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, path := range paths {
		if ext := filepath.Ext(path); ext != ".txt" && ext != ".log" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			m := frame.FindStringSubmatch(line)
			for key, name := range programs {
				if m == nil || !strings.Contains(line, key) {
					continue
				}
				program := "../../testdata/elf/cxx-" + name + "-dw5.elf"
				out, err := exec.Command("llvm-symbolizer", "-i", "--basenames", "--obj="+program, "0x"+m[1]).Output()
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				for i := 0; i+1 < len(lines); i += 2 {
					want = append(want, fmt.Sprintf("%s at %s", clone.ReplaceAllString(lines[i], ""), lines[i+1]))
				}
				in := line
				if !strings.Contains(line, "BuildId") {
					in = strings.Replace(line, filepath.Base(key), filepath.Base(program), 1)
				}
				args := []string{"--debug-dir", dir, "--basenames"}
				if in != line {
					args = append(args, program)
				}
				got := runWith(t, "symaddr", in, args...)
				if place := strings.Join(want, " (inlined by) "); !strings.Contains(got.stdout, " "+place) {
					t.Errorf("%s: %s%s, want %s", path, line, got.stdout, place)
				}
				compared++
				break
			}
		}
	}
	if compared < 60 {
		t.Errorf("%d frames were compared", compared)
	}
}
