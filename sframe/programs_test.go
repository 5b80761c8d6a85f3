//go:build oracle

package sframe

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestToolsPrograms compares the rows of objects and programs of all assemblers and linkers with those
// that readelf prints, and, of versions up to 2, with llvm-readobj's. Both print the first header.
func TestToolsPrograms(t *testing.T) {
	bin := filepath.Dir(tool(t, "v3-readelf"))
	paths, err := filepath.Glob(filepath.Join(bin, "..", "programs", "*"))
	if err != nil || len(paths) < 80 {
		t.Fatalf("%d programs, %v", len(paths), err)
	}
	files, byReadelf, byLLVM := 0, 0, 0
	for _, path := range paths {
		if strings.HasSuffix(path, ".refused") {
			continue // the linker did not make it
		}
		c, single := firstChunk(t, path)
		if c == nil {
			continue // the linker dropped the section
		}
		files++
		if c.big && !single {
			continue // readelf refuses what comes after the first header in the other byte order
		}
		text := string(c.appendText(nil, ".sframe"))
		want := string(output(t, filepath.Join(bin, "v3-readelf"), "--sframe", path))
		if unlike(c) {
			text, want = places.ReplaceAllString(text, ""), places.ReplaceAllString(want, "")
		}
		if d := cmp.Diff(want, text); d != "" {
			t.Errorf("%s: -readelf +got:\n%s", filepath.Base(path), d)
		}
		byReadelf += int(c.NumFREs)

		// llvm-readobj 22 and 23 read version 2. It takes start addresses for what the flags say, and knows
		// no RA word of 0, nor the scale of s390x.
		if c.Version > 2 {
			continue
		}
		got, llvm := rowTexts(c), llvmRows(string(output(t, filepath.Join(bin, "e1-readobj"), "--sframe", path)))
		if d := cmp.Diff(llvm, got); d != "" {
			t.Errorf("%s: -llvm-readobj +got:\n%s", filepath.Base(path), d)
		}
		if d := cmp.Diff(llvmRows(string(output(t, filepath.Join(bin, "e2-readobj"), "--sframe", path))), got); d != "" {
			t.Errorf("%s: -llvm-readobj 23 +got:\n%s", filepath.Base(path), d)
		}
		byLLVM += len(got)
	}
	t.Logf("%d of %d files have SFrame; rows equal readelf's: %d, llvm-readobj's: %d", files, len(paths), byReadelf, byLLVM)
}

// places matches the addresses in the text of readelf.
var places = regexp.MustCompile(`pc = 0x[0-9a-f]+|(?m:^    [0-9a-f]{16})`)

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return out
}

// firstChunk reads the first header of a file, nil if the file has none, and whether there is no other.
func firstChunk(t *testing.T, path string) (c *Chunk, single bool) {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	section := file.Section(".sframe")
	if section == nil || section.Size == 0 {
		return nil, false
	}
	var parsed *Section
	if file.Type == elf.ET_REL {
		data, opts := relocated(t, path)
		parsed = parse(t, data, opts)
	} else {
		data, err := section.Data()
		if err != nil {
			t.Fatal(err)
		}
		parsed = parse(t, data, Options{Addr: section.Addr})
	}
	return &parsed.Chunks[0], len(parsed.Chunks) == 1
}

// rowTexts returns the rows as llvm-readobj has them: start in the function, base of the CFA, offsets.
func rowTexts(c *Chunk) (texts []string) {
	for f, err := range c.FDEs() {
		if err != nil {
			return append(texts, err.Error())
		}
		for e, err := range f.FREs() {
			if err != nil {
				return append(texts, err.Error())
			}
			base := "FP"
			if e.Info&freBaseSP != 0 {
				base = "SP"
			}
			cfa, ra, fp := f.Rules(&e)
			text := fmt.Sprintf("%#x %v %s CFA%+d", e.Start, e.mangled(), base, cfa.Off)
			if ra.Off != 0 {
				text += fmt.Sprintf(" RA%+d", ra.Off)
			}
			if fp.Off != 0 {
				text += fmt.Sprintf(" FP%+d", fp.Off)
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// llvmRows returns the same from the output of llvm-readobj. In an object the address of a function
// comes with its relocation.
func llvmRows(out string) (texts []string) {
	var pc uint64
	row := ""
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		number, _ := strconv.ParseUint(value, 0, 64)
		switch {
		case key == "PC", key == "Start Address" && !strings.HasPrefix(line, "          "):
			pc = number
		case key == "FDE Type" && strings.HasPrefix(value, "PCMask"):
			pc = 0 // rows count from the block
		case key == "Start Address":
			row = fmt.Sprintf("%#x", number-pc)
		case key == "Return Address Signed":
			row += fmt.Sprintf(" %v", value == "Yes")
		case key == "Base Register":
			row += " " + value[:2]
		case key == "CFA Offset", key == "RA Offset", key == "FP Offset":
			n, _ := strconv.ParseInt(value, 0, 64)
			row += fmt.Sprintf(" %s%+d", key[:strings.Index(key, " ")], n)
		case key == "}" && row != "" && strings.HasPrefix(line, "        }"):
			texts, row = append(texts, row), ""
		}
	}
	return texts
}
