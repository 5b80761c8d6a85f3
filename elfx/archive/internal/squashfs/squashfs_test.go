package squashfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"symkit/located"
)

// image returns an image of testdata/images.sh.
func image(t testing.TB, how string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + how + ".squashfs")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// seen is what Walk finds: the files with their contents, and what is damaged.
type seen struct {
	names    []string
	content  map[string]string
	links    map[string]uint32
	damaged  map[string]error
	unpacked int
	read     int
}

func walked(data []byte) (s seen, err error) {
	s = seen{content: map[string]string{}, links: map[string]uint32{}, damaged: map[string]error{}}
	im, err := Open(bytes.NewReader(data), Options{Unpacked: func(n int) error {
		s.unpacked += n
		if s.unpacked > 32<<20 {
			return errLimit
		}
		return nil
	}})
	if err != nil {
		return s, err
	}
	err = im.Walk(Visitor{
		File: func(f *File) error {
			got, err := io.ReadAll(f)
			s.read += len(got)
			if err == nil {
				s.names = append(s.names, f.Name)
				s.content[f.Name], s.links[f.Name] = string(got), f.Links
			}
			return err
		},
		Damaged: func(name string, err error) { s.damaged[name] = err },
	})
	return s, err
}

var errLimit = errors.New("limit")

// library is the content of usr/lib/libapp.so in the images.
func library() string {
	return "\x7fELF" + strings.Repeat("library\n", 750) + strings.Repeat("\x00", 9000) + strings.Repeat("end\n", 750)
}

func TestWalk(t *testing.T) {
	for _, how := range []string{"gzip", "xz", "zstd", "lz4"} {
		got, err := walked(image(t, how))
		if err != nil || len(got.damaged) > 0 || len(got.names) != 305 {
			t.Fatalf("%s: %d names, %v, %v", how, len(got.names), got.damaged, err)
		}
		first := []string{"usr/bin/app", "usr/lib/deep/also", "usr/lib/empty", "usr/lib/libapp.so", "usr/lib/whole.so", "usr/share/file0"}
		if !slices.Equal(got.names[:6], first) {
			t.Errorf("%s: %q", how, got.names[:6])
		}
		for name, want := range map[string]string{
			"usr/bin/app": "\x7fELFapp", "usr/lib/deep/also": "\x7fELFapp", "usr/lib/empty": "", "usr/lib/libapp.so": library(),
			"usr/lib/whole.so": "\x7fELF" + strings.Repeat("whole\n", 1364) + "whol", "usr/share/file299": "text\n",
		} {
			if got.content[name] != want {
				t.Errorf("%s: %s has %.20q, %d bytes", how, name, got.content[name], len(got.content[name]))
			}
		}
		if got.links["usr/bin/app"] != 2 || got.links["usr/lib/deep/also"] != 2 || got.links["usr/lib/libapp.so"] != 1 {
			t.Errorf("%s: links %v", how, got.links)
		}
	}
}

// TestOpen: images that are none, and those that are not read.
func TestOpen(t *testing.T) {
	change := func(at int, value ...byte) []byte {
		data := image(t, "gzip")
		copy(data[at:], value)
		return data
	}
	for name, test := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"short":         {image(t, "gzip")[:95], located.ErrTruncated, "squashfs+0x0: truncated"},
		"magic":         {change(0, 'x'), errFormat, "squashfs+0x0: damaged squashfs image"},
		"block size":    {change(12, 0, 0, 0, 1), errFormat, "squashfs+0xc: damaged squashfs image"},
		"small blocks":  {change(12, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 11), errFormat, "squashfs+0xc: damaged squashfs image"},
		"logarithm":     {change(22, 13), errFormat, "squashfs+0xc: damaged squashfs image"},
		"version":       {change(28, 3), ErrUnread, ErrUnread.Error() + ": version 3.0"},
		"compressor":    {change(20, 9), ErrUnread, ErrUnread.Error() + ": compressor 9"},
		"LZO":           {image(t, "lzo"), ErrUnread, ErrUnread.Error() + ": compressed with lzo"},
		"no compressor": {change(20, 0), ErrUnread, ErrUnread.Error() + ": compressor 0"},
	} {
		_, err := Open(bytes.NewReader(test.data), Options{})
		if !errors.Is(err, test.want) || err.Error() != test.text {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamage: what is damaged costs itself.
func TestDamage(t *testing.T) {
	whole := image(t, "gzip")

	// The first data block of the library is the first block of the image.
	data := bytes.Clone(whole)
	data[superblockSize+4] ^= 0xff
	got, err := walked(data)
	if err != nil || len(got.damaged) != 1 || !errors.Is(got.damaged["usr/lib/libapp.so"], errFormat) || len(got.names) != 304 {
		t.Errorf("a block: %v, %v, %d names", got.damaged, err, len(got.names))
	}
	if e, ok := errors.AsType[*located.Error](got.damaged["usr/lib/libapp.so"]); !ok || e.Offset != superblockSize {
		t.Errorf("a block: %v", got.damaged)
	}

	// Without fragments no small file has its bytes. Files of whole blocks do.
	data = bytes.Clone(whole)
	binary.LittleEndian.PutUint32(data[16:], 0)
	got, err = walked(data)
	if err != nil || got.damaged["usr/share/file7"] == nil || got.content["usr/lib/whole.so"] == "" {
		t.Errorf("fragments: %d damaged, %v", len(got.damaged), err)
	}

	// A table that is elsewhere costs what is in it.
	for at, name := range map[int]string{64: "inodes", 72: "directories"} {
		data = bytes.Clone(whole)
		binary.LittleEndian.PutUint64(data[at:], uint64(len(data)))
		_, err = walked(data)
		e, ok := errors.AsType[*located.Error](err)
		if !errors.Is(err, located.ErrTruncated) || !ok || e.Offset < len(data) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for cut := superblockSize; cut < len(whole); cut += 17 {
		got, err := walked(whole[:cut])
		if err == nil && len(got.damaged) == 0 && cut < len(whole)-100 { // the last tables are not read
			t.Errorf("cut at %d: no error", cut)
		}
	}
}

// TestLoop: a directory that contains itself is damage of the inner one, and so are names that lead
// elsewhere.
func TestLoop(t *testing.T) {
	for name, want := range map[string]string{"sub": "no directory of its own", "..": "a name that is none", "a/b": "a name that is none"} {
		got, err := walked(looped(name))
		if err != nil || len(got.damaged) != 1 || got.damaged[name] == nil || !strings.Contains(got.damaged[name].Error(), want) {
			t.Errorf("%s: %v, %v", name, got.damaged, err)
		}
	}
}

// looped returns an image whose root has one entry, the root itself.
func looped(name string) []byte {
	le := binary.LittleEndian
	block := func(data []byte) []byte { return append(le.AppendUint16(nil, uint16(1<<15|len(data))), data...) }

	root := make([]byte, 32)
	root[0], root[20] = directory, 2
	le.PutUint16(root[24:], uint16(12+8+len(name)+emptyDirectory))
	inodes := block(root)

	entries := make([]byte, 12+8, 12+8+len(name))
	entries[12+4], entries[12+6] = directory, byte(len(name)-1)
	image := make([]byte, superblockSize)
	copy(image, Magic)
	le.PutUint32(image[12:], minBlock)
	image[20], image[22], image[28] = 1, 12, 4
	le.PutUint64(image[64:], superblockSize)
	le.PutUint64(image[72:], uint64(superblockSize+len(inodes)))
	le.PutUint64(image[80:], noTable)
	return slices.Concat(image, inodes, block(append(entries, name...)))
}

// TestStop: errors of the visitor, of Options.Unpacked and of the file system end Walk.
func TestStop(t *testing.T) {
	data, other := image(t, "zstd"), errors.New("other")
	im, err := Open(bytes.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = im.Walk(Visitor{File: func(*File) error {
		n++
		return other
	}})
	if err != other || n != 1 {
		t.Errorf("File: %v after %d calls", err, n)
	}
	im, _ = Open(bytes.NewReader(data), Options{})
	err = im.Walk(Visitor{File: func(*File) error { return nil }, Directory: func(name string) error { return fmt.Errorf("%s: %w", name, other) }})
	if !errors.Is(err, other) || err.Error() != "usr: other" {
		t.Errorf("Directory: %v", err)
	}
	im, _ = Open(bytes.NewReader(data), Options{Unpacked: func(n int) error {
		if n == im.blockSize {
			return other
		}
		return nil
	}})
	err = im.Walk(Visitor{File: func(f *File) error {
		_, err := io.ReadAll(f)
		return err
	}})
	if err != other {
		t.Errorf("Unpacked: %v", err)
	}
	// Directories that share a list of entries cost no block.
	entries := 0
	im, _ = Open(bytes.NewReader(data), Options{Unpacked: func(n int) error {
		if n != EntryCost {
			return nil
		}
		entries++
		if entries > 10 {
			return other
		}
		return nil
	}})
	n = 0
	err = im.Walk(Visitor{File: func(*File) error {
		n++
		return nil
	}})
	if err != other || entries != 11 || n >= 10 {
		t.Errorf("Unpacked: %v after %d entries, %d files", err, entries, n)
	}

	im, _ = Open(bytes.NewReader(data), Options{})
	im.r = failing{}
	err = im.Walk(Visitor{File: func(*File) error { return nil }})
	if err != os.ErrPermission {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, os.ErrPermission }
