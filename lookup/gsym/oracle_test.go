//go:build oracle

package gsym

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// offsets matches what llvm-gsymutil writes after names, and the end of a line with a place.
var offsets = regexp.MustCompile(`( \+ \d+)?( @ (.*):(\d+))?( \[inlined\])?$`)

// TestOracleWide: LLVM 23 finds in our files of version 2 what our reader finds, at each address of random functions, and
// reads them without an error.
func TestOracleWide(t *testing.T) {
	program := programtest.Peer(t, "llvm23-gsymutil")
	random := rand.New(rand.NewPCG(1, 2))
	addresses, path := 0, filepath.Join(t.TempDir(), "file.gsym")
	for round := range 50 {
		m := model{bytes: make([]byte, 2000), w: NewWriter([]byte("an id of more than twenty bytes")[:random.IntN(31)], false), want: map[uint64]string{}}
		for i := range m.bytes {
			m.bytes[i] = byte(random.UintN(256))
		}
		m.w.most = uint64(random.UintN(4000))
		for len(m.bytes) > 0 {
			m.function()
		}
		data := written(t, m.w)
		f, err := Open(data)
		if err != nil || f.ref != 8 {
			t.Fatalf("round %d: references of %d bytes, %v", round, f.ref, err)
		}
		programtest.Write(t, path, data)
		text, err := exec.Command(program, path).CombinedOutput()
		if err != nil || strings.Contains(string(text), "error: ") {
			t.Fatalf("round %d: %v: %s", round, err, text)
		}

		var in strings.Builder
		for addr := range m.at {
			fmt.Fprintf(&in, "%#x %s\n", addr, path)
		}
		cmd := exec.Command(program, "--addresses-from-stdin")
		cmd.Stdin = strings.NewReader(in.String())
		text, err = cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		answers := strings.Split(strings.TrimSuffix(string(text), "\n\n"), "\n\n")
		for addr, answer := range answers {
			got, want := theirs(answer), wideText(f, uint64(addr))
			if got != want {
				t.Fatalf("round %d: %#x: LLVM has %q, we have %q", round, addr, got, want)
			}
		}
		if len(answers) != int(m.at) {
			t.Fatalf("%d answers to %d addresses", len(answers), m.at)
		}
		addresses += len(answers)
	}
	t.Logf("%d addresses", addresses)
}

// theirs returns an answer of llvm-gsymutil in the form of wideText.
func theirs(answer string) string {
	_, answer, _ = strings.Cut(answer, ": ")
	if strings.HasPrefix(answer, "error: ") {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(answer) {
		b.WriteString(offsets.ReplaceAllString(strings.TrimSpace(line), " $3:$4;"))
	}
	return b.String()
}

// wideText returns the frames at an address. LLVM's reader finds no inlined calls and no file in a function without rows.
func wideText(f *File, addr uint64) string {
	_, frames, err := f.Lookup(nil, addr)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, frame := range frames {
		fmt.Fprintf(&b, "%s %s:", frame.Name, frame.AppendPath(nil))
		if len(frame.Base) > 0 {
			fmt.Fprint(&b, frame.Line)
		}
		b.WriteString(";")
	}
	return b.String()
}
