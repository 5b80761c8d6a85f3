package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"symkit/test/mutant"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestMutantOutputs damages dumps that have control characters in their names, and wants that
// every format is text for people, on standard output and in files: no control character, and not
// more than 16 KiB on standard error. test/soak does so with 100,000 files.
func TestMutantOutputs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(dumps, "*.dmp"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	core := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core")
	seeds := [][]byte{core}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, data)
	}

	dir := t.TempDir()
	perf := filepath.Join(dir, "perf.map")
	programtest.Write(t, perf, []byte("1000 1000 generated"+testfile.Hostile+"\n"))
	random := rand.New(rand.NewPCG(23, 7))
	for i := range 3 * len(seeds) {
		seed := seeds[i%len(seeds)]
		layout := mutant.Of(seed)
		changed, kind := layout.Mutate(seed, random)
		changed = bytes.Clone(changed)
		if len(changed) > 64 {
			testfile.HostileStrings(changed[33:], i, i%2 == 0)
		}
		dump := filepath.Join(dir, fmt.Sprint(testfile.Hostile, i))
		programtest.Write(t, dump, changed)

		out := filepath.Join(dir, fmt.Sprint("out", i))
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		peerOutputs(t, fmt.Sprint(i, ", ", kind), dump, filepath.Join(out, "peer"))
		for _, format := range []string{"text", "json", "machine"} {
			for _, args := range [][]string{
				{"--perf-map", perf, "--stack-contents", dump},
				{"--symbols", filepath.Join(breakpad, "symbols"), "-b", "-o", filepath.Join(out, "result"), dump},
				{"--out", filepath.Join(out, "all"), dump, dump + testfile.Hostile},
			} {
				// The results in --out have the names of the dumps.
				tested.Bounded(t, fmt.Sprint(i, kind), append(args, "--no-elf", "--format="+format))
				for _, path := range []string{filepath.Join(out, "result"), filepath.Join(out, "all", filepath.Base(dump)+map[string]string{"text": ".txt", "json": ".json", "machine": ".machine"}[format])} {
					text, err := os.ReadFile(path)
					if err == nil {
						err = testfile.Unprintable(text)
					} else if os.IsNotExist(err) {
						err = nil
					}
					if err != nil {
						t.Errorf("%d, %s: %.40q %s: %v", i, kind, path, format, err)
					}
				}
			}
		}
	}
}

// peerOutputs wants the same of the formats of other programs.
func peerOutputs(t *testing.T, what, dump, path string) {
	t.Helper()
	for _, line := range [][]string{
		{"minidump-stackwalk", "--dump", dump}, {"minidump-stackwalk", "--dump", "--brief", "--output-file", path, dump},
		{"minidump-stackwalk", "--human", dump}, {"minidump-stackwalk", "--json", dump},
		{"minidump_stackwalk", "-s", dump}, {"minidump_stackwalk", "-m", dump}, {"microdump_stackwalk", dump},
	} {
		_, stdout, stderr := called(t, line[0], line[1:]...)
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := errors.Join(testfile.Outputs([]byte(stdout), []byte(stderr)), testfile.Unprintable(text)); err != nil {
			t.Errorf("%s: %.40q: %v", what, line, err)
		}
	}
}

// TestManyDumps: thousands of dumps that cannot be read are a bounded number of lines.
func TestManyDumps(t *testing.T) {
	args := []string{"--out", t.TempDir()}
	for i := range 3000 {
		args = append(args, fmt.Sprintf("%s%0200d", testfile.Hostile, i))
	}
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	if err := testfile.Outputs(stdout.Bytes(), stderr.Bytes()); err != nil || code != 1 || stderr.Len() < 1000 {
		t.Errorf("exit code %d, %d bytes on stderr: %v", code, stderr.Len(), err)
	}
}
