package sources

import (
	"bytes"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/walk"
)

// TestFiles: a file is taken for its build id, else for its program headers.
func TestFiles(t *testing.T) {
	const exe, other = "../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf", "../../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"
	f, err := elfx.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := uint64(0)
	for _, s := range f.Segments {
		if s.Type == elf.PT_LOAD {
			size = max(size, (s.Vaddr+s.Memsz+4095)&^4095-f.LoadAddress())
		}
	}
	abs, err := filepath.Abs(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		exe  string
		m    walk.Module
		want []error // of the probes; the last is nil when a file is found
	}{
		{"build id", exe, walk.Module{BuildID: f.BuildID()}, []error{nil}},
		{"other build id, nothing at the path", other, walk.Module{Path: "/none", BuildID: f.BuildID()}, []error{elfx.ErrOtherBuildID, fs.ErrNotExist}},
		{"the path", exe, walk.Module{Path: abs, BuildID: []byte{1}}, []error{elfx.ErrOtherBuildID, elfx.ErrOtherBuildID}},
		{"program headers", exe, walk.Module{Path: exe, Segments: f.Segments}, []error{nil}},
		{"other program headers", other, walk.Module{Path: other, Segments: f.Segments}, []error{ErrOtherLayout}},
		{"nothing known but the name", other, walk.Module{Path: "elsewhere/" + filepath.Base(other)}, []error{nil}},
		{"another name", other, walk.Module{Path: "app"}, nil},
		{"another name, program headers", exe, walk.Module{Path: "app", End: 1, Segments: f.Segments, Foreign: true}, []error{nil}},
		{"another name, other program headers", other, walk.Module{Path: "app", End: 1, Segments: f.Segments}, []error{ErrOtherLayout}},
		{"another name, the size", exe, walk.Module{Path: "app", Base: 1 << 20, End: 1<<20 + size, Foreign: true}, []error{nil}},
		{"another name, another size", exe, walk.Module{Path: "app", Base: 1 << 20, End: 1<<20 + size + 4096, Foreign: true}, []error{ErrOtherSize}},
	} {
		files := Files{Exe: test.exe, Search: nowhere}
		got, probes := files.Binary(&test.m)
		var errs []error
		for i, p := range probes {
			if i < len(test.want) && errors.Is(p.Err, test.want[i]) {
				p.Err = test.want[i]
			}
			errs = append(errs, p.Err)
		}
		if !slices.Equal(errs, test.want) || (got != nil) != (len(test.want) > 0 && test.want[len(test.want)-1] == nil) {
			t.Errorf("%s: %v, want %v", test.name, errs, test.want)
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTextHash: Breakpad's writer identifies a module without a build id by a hash of its code: the first
// page of .text, 16 bytes after another, each XORed with those before.
func TestTextHash(t *testing.T) {
	const exe = "../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	note := parsed.Section(".note.gnu.build-id")
	data[note.Offset+8] = 9 // the type of the note
	path := filepath.Join(t.TempDir(), "renamed")
	err = os.WriteFile(path, data, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	// The last 16 bytes may go beyond the section.
	text := parsed.Section(".text")
	hash := make([]byte, 16)
	for i, b := range data[text.Offset:][:(min(text.Size, 4096)+15)&^15] {
		hash[i%16] ^= b
	}
	for _, test := range []struct {
		id   []byte
		want error
	}{{hash, nil}, {append([]byte{hash[0] ^ 1}, hash[1:]...), elfx.ErrOtherBuildID}, {hash[:15], elfx.ErrOtherBuildID}} {
		files := Files{Exe: path}
		defer files.Close()
		m := &walk.Module{Path: "app", BuildID: test.id}
		got, probes := files.Binary(m)
		if (got != nil) != (test.want == nil) || len(probes) == 0 || !errors.Is(probes[0].Err, test.want) {
			t.Errorf("%x: %v, want %v", test.id, probes, test.want)
		}
		if err := files.ExeError([]*walk.Module{m}, m); !errors.Is(err, test.want) {
			t.Errorf("%x: %v, want %v", test.id, err, test.want)
		}
	}
}

// fileMemory is the memory of a process in which the bytes of a file are at an address.
type fileMemory struct {
	at   uint64
	data []byte
}

func (m fileMemory) Bytes(addr, n uint64) []byte {
	if addr < m.at || addr-m.at > uint64(len(m.data)) || n > uint64(len(m.data))-(addr-m.at) {
		return nil
	}
	return m.data[addr-m.at:][:n]
}

// TestHeaders: the program headers in the memory of a dump show which file is a module's, whatever the
// names and sizes are. Damaged headers are none.
func TestHeaders(t *testing.T) {
	for _, test := range []struct{ exe, other, cpu string }{
		{"../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf", "../../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf", "x86_64"},
		{"../../../test/soak/testdata/arm.elf", "../../../test/soak/testdata/i386.elf", "arm"},
		{"../../../test/soak/testdata/mips.elf", "../../../test/soak/testdata/arm.elf", "mips"},
	} {
		data, err := os.ReadFile(test.exe)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elfx.NewFile(test.exe, data)
		if err != nil {
			t.Fatal(err)
		}
		module := func(data []byte) (*walk.Process, *walk.Module) {
			m := &walk.Module{Path: "/srv/app", Base: 0x10000, End: 0x11000}
			p := &walk.Process{OS: "Linux", CPU: test.cpu, BigEndian: f.BigEndian, Modules: []*walk.Module{m}, Memory: fileMemory{m.Base, data}}
			(&Files{}).Headers(p)
			return p, m
		}
		_, m := module(data[:1024])
		if !slices.Equal(m.Segments, f.Segments) || m.Bias != 0x10000-f.LoadAddress() {
			t.Errorf("%s: %v, bias %#x", test.exe, m.Segments, m.Bias)
		}
		for exe, want := range map[string]error{test.exe: nil, test.other: ErrOtherLayout} {
			files := Files{Exe: exe}
			defer files.Close()
			got, probes := files.Binary(m)
			if (got != nil) != (want == nil) || !errors.Is(probes[0].Err, want) {
				t.Errorf("%s for %s: %v, want %v", exe, test.exe, probes, want)
			}
		}
		for n := range 200 {
			_, m := module(data[:n])
			if m.Segments != nil && n < 52+32 {
				t.Errorf("%s: headers in %d bytes", test.exe, n)
			}
		}
		for i := range 64 { // no damage of the header is a crash
			bad := slices.Clone(data[:1024])
			bad[i] ^= 0xff
			module(bad)
		}
	}
}

// nowhere has no directories of debug files.
var nowhere = companion.Search{DebugDirs: []string{}}

// TestFetch: a file that is not on this machine is fetched, once; it must be the module's.
func TestFetch(t *testing.T) {
	const exe = "../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"
	f, err := elfx.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls, failing := 0, errors.New("no server")
	files := Files{Search: nowhere, Fetch: func(m *walk.Module) (string, error) {
		calls++
		return exe, map[bool]error{true: failing}[m.Path == "fails"]
	}}
	defer files.Close()
	m, mismatch, fails, unknown := &walk.Module{BuildID: f.BuildID()}, &walk.Module{BuildID: []byte{1, 2}}, &walk.Module{Path: "fails", BuildID: f.BuildID()}, &walk.Module{}
	if files.Local(m) != nil || calls != 0 {
		t.Error("Local fetched")
	}
	for range 2 {
		got, probes := files.Binary(m)
		if got == nil || len(probes) != 1 || probes[0].Path != exe {
			t.Error(got, probes)
		}
	}
	if got, probes := files.Binary(mismatch); got != nil || !errors.Is(probes[0].Err, elfx.ErrOtherBuildID) {
		t.Error(got, probes)
	}
	if got, probes := files.Binary(fails); got != nil || probes[0] != (companion.Probe{Path: Fetched, Err: failing}) {
		t.Error(got, probes)
	}
	if got, probes := files.Binary(unknown); got != nil || probes != nil {
		t.Error(got, probes)
	}
	if calls != 3 {
		t.Errorf("fetched %d times", calls)
	}
}

// TestDebug: the debug file of a module that is missing itself.
func TestDebug(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".build-id", "d5"), 0o755); err != nil {
		t.Fatal(err)
	}
	id := []byte("\xd5\xe5\x47\x08\x88\xe1\xbe\xf8\x72\xf0\x66\x18\xd9\x91\xc7\xe6\x73\xaf\x1d\x30")
	path := filepath.Join(dir, ".build-id", "d5", "e5470888e1bef872f06618d991c7e673af1d30.debug")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	files := Files{Search: companion.Search{DebugDirs: []string{"none", dir}}}
	f, probes := files.Debug(&walk.Module{BuildID: id})
	if f == nil || len(probes) != 2 || !errors.Is(probes[0].Err, fs.ErrNotExist) || probes[1] != (companion.Probe{Path: path}) {
		t.Fatal(f, probes)
	}
	f.Close()
	if f, probes := files.Debug(&walk.Module{}); f != nil || probes != nil {
		t.Error(f, probes)
	}
}
