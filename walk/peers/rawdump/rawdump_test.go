package rawdump

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/wire"
	"symkit/test/testfile"
	"symkit/walk/internal/mdmp"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestText: every kind of stream and of registers in both byte orders. TestOraclePeerDump in
// cmd/stackwalk compares the same dumps with rust-minidump's program.
func TestText(t *testing.T) {
	dumps, err := filepath.Glob("testdata/*.dmp")
	if err != nil || len(dumps) < 9 {
		t.Fatal(dumps, err)
	}
	for _, path := range dumps {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := Write(&got, data, Options{}); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := testfile.Unprintable(got.Bytes()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		golden := strings.TrimSuffix(path, ".dmp") + ".txt"
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs from %s (%v): look at git diff after go test -update", path, golden, err)
		}
	}
}

// TestBrief: the contents of memory are left out, and nothing else.
func TestBrief(t *testing.T) {
	data, err := os.ReadFile("testdata/windows-x86.dmp")
	if err != nil {
		t.Fatal(err)
	}
	var whole, brief strings.Builder
	if err := errors.Join(Write(&whole, data, Options{}), Write(&brief, data, Options{Brief: true})); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	skip := false
	for line := range strings.Lines(whole.String()) {
		skip = strings.HasPrefix(line, "Stack\n") || line == "Memory\n" || skip && strings.HasPrefix(line, "    0")
		if !skip {
			want.WriteString(line)
		}
	}
	if brief.String() != want.String() {
		t.Errorf("%s\nwant\n%s", brief.String(), want.String())
	}
}

// TestReject: what is no minidump, with the place.
func TestReject(t *testing.T) {
	const header = "MDMP\x93\xa7\x00\x00\x01\x00\x00\x00\x20\x00\x00\x00"
	rest := strings.Repeat("\x00", 16)
	for data, want := range map[string]error{
		"":                                      &wire.Error{Section: mdmp.Section, Offset: 0, Err: mdmp.ErrSignature},
		"MDMQ":                                  &wire.Error{Section: mdmp.Section, Offset: 0, Err: mdmp.ErrSignature},
		"MDMP\x00\x00\x00\x00" + rest:           &wire.Error{Section: mdmp.Section, Offset: 4, Err: mdmp.ErrVersion},
		header:                                  &wire.Error{Section: mdmp.Section, Offset: 16, Err: wire.ErrTruncated},
		header + rest:                           &wire.Error{Section: mdmp.Section, Offset: 32, Err: mdmp.ErrCount},
		header[:12] + "\xff\x00\x00\x00" + rest: &wire.Error{Section: mdmp.Section, Offset: 12, Err: wire.ErrOffset},
	} {
		err := Write(io.Discard, []byte(data), Options{})
		if fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", data, err, want)
		}
	}
}

// failing is a writer that takes n bytes.
type failing struct{ n int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	f.n -= len(p)
	if f.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestFull: the first error of the output ends the work.
func TestFull(t *testing.T) {
	data, err := os.ReadFile("testdata/windows-x86.dmp")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if err := Write(&failing{n * 1000}, data, Options{}); !errors.Is(err, errFull) {
			t.Errorf("%d bytes: %v", n*1000, err)
		}
	}
}

// TestSharedMemory: many regions that share their bytes do not take more work than the output
// takes text.
func TestSharedMemory(t *testing.T) {
	const regions = 20000
	data := []byte("MDMP\x93\xa7\x00\x00\x01\x00\x00\x00\x20\x00\x00\x00" + strings.Repeat("\x00", 16))
	data = append(data, "\x05\x00\x00\x00"...)
	data = append(data, byte(4+16*regions&0xff), byte((4+16*regions)>>8&0xff), byte((4+16*regions)>>16), 0, 44, 0, 0, 0)
	data = append(data, byte(regions&0xff), byte(regions>>8), 0, 0)
	for range regions {
		data = append(data, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0) // 256 KiB from offset 1
	}
	out := &failing{1 << 20}
	if err := Write(out, data, Options{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// FuzzWrite: any bytes give text without control characters, or an error with a place.
func FuzzWrite(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.dmp")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, brief bool) {
		var out bytes.Buffer
		err := Write(&limited{&out, 1 << 20}, data, Options{Brief: brief})
		if e, ok := errors.AsType[*wire.Error](err); ok && (e.Offset > len(data) || out.Len() > 0) {
			t.Fatalf("%v, after %d bytes of text", err, out.Len())
		} else if err != nil && !ok && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		if err := testfile.Unprintable(out.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}

// limited passes n bytes on.
type limited struct {
	w io.Writer
	n int
}

func (l *limited) Write(p []byte) (int, error) {
	l.n -= len(p)
	if l.n < 0 {
		return 0, errFull
	}
	return l.w.Write(p)
}
