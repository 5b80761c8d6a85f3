package testfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"
)

// TestCPULimit: time of processors counts, other time does not.
func TestCPULimit(t *testing.T) {
	idle, stop := CPULimit(t.Context(), time.Hour)
	defer stop()
	busy, stop := CPULimit(t.Context(), 50*time.Millisecond)
	defer stop()
	for begin := CPUTime(); busy.Err() == nil; {
		if CPUTime()-begin > time.Minute {
			t.Fatal("the context does not end")
		}
	}
	if err := context.Cause(busy); err != context.DeadlineExceeded || idle.Err() != nil {
		t.Errorf("%v, %v", err, idle.Err())
	}
}

// TestPatiently: the time doubles until there is no complaint.
func TestPatiently(t *testing.T) {
	var times []time.Duration
	Patiently(t, time.Second, func(timeout time.Duration) string {
		times = append(times, timeout)
		if timeout < 4*time.Second {
			return "too soon"
		}
		return ""
	})
	if len(times) != 3 || times[2] != 4*time.Second {
		t.Error(times)
	}
}

func TestRead(t *testing.T) {
	const elf = "../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core"
	named, err := Read(elf + ".xz")
	if err != nil {
		t.Fatal(err)
	}
	unnamed, err := Read(elf)
	if err != nil || !bytes.Equal(named, unnamed) || !bytes.HasPrefix(named, []byte("\x7fELF")) {
		t.Errorf("%d and %d bytes, %v; want the same ELF file", len(named), len(unnamed), err)
	}
	if _, err := Read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
