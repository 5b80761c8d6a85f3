package sframe

import (
	"debug/elf"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func BenchmarkRows(b *testing.B) { benchRows(b, benchSection()) }

// BenchmarkRowsFiles reads the ELF files that SYMKIT_SFRAME lists.
func BenchmarkRowsFiles(b *testing.B) {
	paths := filepath.SplitList(os.Getenv("SYMKIT_SFRAME"))
	if len(paths) == 0 {
		b.Skip("SYMKIT_SFRAME is not set")
	}
	for _, path := range paths {
		f, err := elf.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		data, err := f.Section(".sframe").Data()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(path), func(b *testing.B) { benchRows(b, data) })
	}
}

// benchRows reports rows per second, also of the thread's CPU time: that is the
// rate of a core on a machine that has other work to do.
func benchRows(b *testing.B, data []byte) {
	s, err := Parse(data, Options{})
	if err != nil {
		b.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	rows, cpu := 0, threadTime(b)
	for b.Loop() {
		rows += countRows(b, s)
	}
	cpu = threadTime(b) - cpu
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	b.ReportMetric(float64(rows)/cpu.Seconds()/1e6, "Mrows/cpu-s")
}

// threadTime is the CPU time that the thread has used.
func threadTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkParse(b *testing.B) {
	data := benchSection()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
