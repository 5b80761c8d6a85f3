package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"symkit/dump"
	"symkit/dump/single"
	"symkit/elfx/companion"
	"symkit/walk/minidump"
)

// TestImages: what the writer makes is sound. Each record gives something to the symbol file, without a loss, and
// symcheck finds all of the file's records in the input.
func TestImages(t *testing.T) {
	for _, s := range shapes {
		if s.make(1).image == nil {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			few, many := dumped(t, &s, 3), dumped(t, &s, 40)
			if len(many) <= len(few) && !flat[s.name] {
				t.Errorf("3 records give %d bytes, 40 give %d", len(few), len(many))
			}
		})
	}
}

// flat are the shapes of records that give nothing to the symbol file.
var flat = map[string]bool{"smallest units": true, "functions of one address": true, "symbols of one address": true, "notes": true,
	"units at one address": true, "line sequences at one address": true}

// dumped returns the symbol file of an input of n records.
func dumped(t *testing.T, s *shape, n int) []byte {
	dir := t.TempDir()
	err := s.write(n, dir)
	if err != nil {
		t.Fatal(err)
	}
	opened, warnings, err := companion.Open(t.Context(), []string{filepath.Join(dir, moduleName)}, companion.Search{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	m := single.New(opened, warnings)
	opt := single.Options{Options: dump.Options{Inlines: true}, Check: true}
	d, err := m.Dump(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	rep, err := m.Write(t.Context(), d, opt, func(write func(io.Writer) error) error { return write(&text) })
	if err != nil {
		t.Fatal(err)
	}
	if rep.Total() != 0 || len(d.Stats.Losses) != 0 {
		t.Errorf("%d records: %d findings, losses %v", n, rep.Total(), d.Stats.Losses)
	}
	return text.Bytes()
}

// TestCrashes: a minidump has the threads and modules that it was made of, and their symbol files are in the store.
func TestCrashes(t *testing.T) {
	for _, s := range shapes {
		in := s.make(40)
		if in.crash == nil {
			continue
		}
		dir := t.TempDir()
		err := s.write(40, dir)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(crashFile)))
		if err != nil {
			t.Fatal(err)
		}
		d, err := minidump.New(data)
		if err != nil {
			t.Fatal(err)
		}
		p := d.Process()
		if len(p.Threads) != len(in.crash.Threads) || len(p.Modules) != len(in.crash.Modules) {
			t.Errorf("%s: %d threads and %d modules, of %d and %d", s.name, len(p.Threads), len(p.Modules), len(in.crash.Threads), len(in.crash.Modules))
		}
		for path := range in.crash.symbols {
			_, err := os.Stat(filepath.Join(dir, filepath.Base(storeDir), path))
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
	}
}

// TestExponents: the cost of a single record is not part of the slope, and costs at the start's own tell nothing.
func TestExponents(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    func(n float64) float64
		least float64
		most  float64
	}{
		{"linear", func(n float64) float64 { return n * 1e-5 }, 0.99, 1.01},
		{"n log n", func(n float64) float64 { return n * math.Log(n) * 1e-6 }, 1.05, most},
		{"quadratic", func(n float64) float64 { return n * n * 1e-8 }, 1.98, 2.01},
		{"constant", func(float64) float64 { return 0 }, 0, 0},
	} {
		s := series{{Records: 1, Seconds: 0.02, Memory: 20, Runs: 1}}
		for n := 10_000; n <= 640_000; n *= 2 {
			s = append(s, cost{Records: n, Seconds: 0.02 + c.of(float64(n)), Memory: 20 + 100*c.of(float64(n)), Runs: 1})
		}
		seconds, memory := s.exponents()
		if seconds < c.least || seconds > c.most || memory < c.least || memory > c.most {
			t.Errorf("%s: exponents %.3f and %.3f, want %.2f to %.2f", c.name, seconds, memory, c.least, c.most)
		}
	}
}
