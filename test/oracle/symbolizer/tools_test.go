//go:build oracle

package symbolizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"symkit/test/oracle/symfile"
)

// symbolizer asks another program for the stack at each PC.
type symbolizer func(t *testing.T, file string, pcs []uint64) []symfile.Stack

// feed runs a program that reads addresses and returns what it prints.
func feed(t *testing.T, pcs []uint64, program string, args ...string) string {
	t.Helper()
	var in, out bytes.Buffer
	for _, pc := range pcs {
		fmt.Fprintf(&in, "%#x\n", pc)
	}

	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout = &in, &out
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	// eu-addr2line exits with 1 if it knows nothing of an address.
	if status, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || status.ExitCode() != 1 || stderr.Len() > 0) {
		t.Fatalf("%s: %v: %s", program, err, stderr.String())
	}
	return out.String()
}

// llvmSymbolizer asks llvm-symbolizer for linkage names, or plain ones where there are
// none.
func llvmSymbolizer(t *testing.T, file string, pcs []uint64) []symfile.Stack {
	t.Helper()
	return llvm(t, "linkage", file, pcs)
}

// llvmPlainNames asks llvm-symbolizer for names as in DW_AT_name.
func llvmPlainNames(t *testing.T, file string, pcs []uint64) []symfile.Stack {
	t.Helper()
	return llvm(t, "short", file, pcs)
}

// llvm reads llvm-symbolizer's output, an object for each address.
func llvm(t *testing.T, names, file string, pcs []uint64) (out []symfile.Stack) {
	t.Helper()
	text := feed(t, pcs, "llvm-symbolizer", "--obj="+file, "--inlines", "--functions="+names, "--no-demangle", "--output-style=JSON")
	for line := range strings.Lines(text) {
		var answer struct {
			Symbol []struct {
				FunctionName, FileName string
				Line                   uint32
			}
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("llvm-symbolizer: %v: %s", err, line)
		}
		var s symfile.Stack
		for _, f := range answer.Symbol {
			s = append(s, symfile.Frame{Name: f.FunctionName, File: f.FileName, Line: f.Line})
		}
		out = append(out, s)
	}
	return out
}

// addr2line asks addr2line of binutils.
func addr2line(t *testing.T, file string, pcs []uint64) []symfile.Stack {
	t.Helper()
	return pairs(t, feed(t, pcs, "addr2line", "-a", "-i", "-f", "-e", file))
}

// euAddr2line asks addr2line of elfutils.
func euAddr2line(t *testing.T, file string, pcs []uint64) []symfile.Stack {
	t.Helper()
	return pairs(t, feed(t, pcs, "eu-addr2line", "-A", "-a", "-i", "-f", "-e", file))
}

// withoutSymbols copies a file without its symbol table.
func withoutSymbols(t *testing.T, file string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(file))
	cmd := exec.Command("objcopy", "--decompress-debug-sections", "--strip-all", "--keep-section=.debug_*", file, out)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, text)
	}
	return out
}

// pairs reads the output of both addr2lines: for each address a line with it, then
// for each frame two lines, the function and its place.
func pairs(t *testing.T, text string) (out []symfile.Stack) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "0x") {
			t.Fatalf("line %d of the output is no address: %s", i, lines[i])
		}
		var s symfile.Stack
		for i++; i+1 < len(lines) && !strings.HasPrefix(lines[i], "0x"); i += 2 {
			name, _, _ := strings.Cut(lines[i], " inlined at ")
			file, line := filePosition(lines[i+1])
			s = append(s, symfile.Frame{Name: name, File: file, Line: line})
		}
		out = append(out, s)
	}
	return out
}

// filePosition reads FILE:LINE, which ":COLUMN" or " (discriminator N)" may follow. An
// unknown line is "?" or 0.
func filePosition(text string) (file string, line uint32) {
	text, _, _ = strings.Cut(text, " (discriminator ")
	parts := strings.Split(text, ":")
	n := len(parts)
	if n > 2 {
		if _, err := strconv.ParseUint(parts[n-2], 10, 32); err == nil {
			parts = parts[:n-1] // the column
		}
	}
	n = len(parts)
	number, _ := strconv.ParseUint(parts[n-1], 10, 32)
	return strings.Join(parts[:n-1], ":"), uint32(number)
}
