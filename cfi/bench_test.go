package cfi

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
)

// corpusSection returns python3.11d's .eh_frame: 11,319 FDEs, 92,053 rows.
func corpusSection(b *testing.B) *Section {
	dir := os.Getenv("SYMKIT_CORPUS")
	if dir == "" {
		b.Skip("SYMKIT_CORPUS is not set")
	}
	f, err := elf.Open(filepath.Join(dir, "python3.11-dbg/usr/bin/python3.11d"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	es := f.Section(".eh_frame")
	data, err := es.Data()
	if err != nil {
		b.Fatal(err)
	}
	return &Section{Data: data, Addr: es.Addr, AddrSize: 8, Machine: f.Machine}
}

func BenchmarkRowsPython(b *testing.B) { benchRows(b, corpusSection(b)) }
func BenchmarkTextPython(b *testing.B) { benchText(b, corpusSection(b)) }

func benchRows(b *testing.B, s *Section) {
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		for f, err := range s.FDEs() {
			if err != nil {
				b.Fatal(err)
			}
			for _, err := range f.Rows() {
				if err != nil {
					b.Fatal(err)
				}
				rows++
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func benchText(b *testing.B, s *Section) {
	b.ReportAllocs()
	text, rows := NewText(&x86_64), 0
	for b.Loop() {
		for f := range s.FDEs() {
			text.Reset()
			text.Begin(f.CIE.RA)
			for row := range f.Rows() {
				text.Add(row)
				rows++
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
