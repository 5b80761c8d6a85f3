package gosym

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build compiles testdata/prog with env and flags, and returns the file.
func build(t testing.TB, gocmd string, env []string, flags ...string) string {
	t.Helper()
	return buildIn(t, filepath.Join("testdata", "prog"), gocmd, env, flags...)
}

// buildIn compiles the program in dir.
func buildIn(t testing.TB, dir, gocmd string, env []string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "prog")
	cmd := exec.Command(gocmd, append([]string{"build", "-o", out}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	cmd.Env = append(cmd.Env, env...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, msg)
	}
	return out
}

// file is a Go program as the caller of the package sees it.
type file struct {
	*elf.File
	image   Image
	section string
	addr    uint64
	pclntab []byte
}

// loaded is the bytes of a segment, relocated.
type loaded struct {
	addr uint64
	data []byte
}

func openFile(t testing.TB, path string) *file {
	t.Helper()
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	f := &file{File: e}
	var segs []loaded
	for _, p := range e.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		segs = append(segs, loaded{p.Vaddr, data})
	}
	read := func(addr, n uint64) []byte {
		for _, s := range segs {
			if off := addr - s.addr; addr >= s.addr && off <= uint64(len(s.data)) && n <= uint64(len(s.data))-off {
				return s.data[off:][:n:n]
			}
		}
		return nil
	}
	relocate(t, e, read)
	f.image.Read = read
	for _, s := range e.Sections {
		r := Range{Lo: s.Addr, Hi: s.Addr + s.Size}
		switch {
		case s.Flags&elf.SHF_ALLOC == 0 || s.Type == elf.SHT_NOBITS:
		case strings.HasSuffix(s.Name, ".gopclntab"):
			f.section, f.addr, f.pclntab = s.Name, s.Addr, read(s.Addr, s.Size)
		case s.Flags&elf.SHF_EXECINSTR != 0:
			f.image.Exec = append(f.image.Exec, r)
			if s.Name == ".text" {
				f.image.Text = s.Addr
			}
		case s.Flags&elf.SHF_WRITE != 0:
			f.image.Data = append(f.image.Data, r)
		}
	}
	return f
}

// relocate applies the relative relocations of a position-independent file.
func relocate(t testing.TB, e *elf.File, read func(addr, n uint64) []byte) {
	relative := map[elf.Machine]uint32{
		elf.EM_X86_64:  uint32(elf.R_X86_64_RELATIVE),
		elf.EM_AARCH64: uint32(elf.R_AARCH64_RELATIVE),
		elf.EM_S390:    uint32(elf.R_390_RELATIVE),
		elf.EM_RISCV:   uint32(elf.R_RISCV_RELATIVE),
		elf.EM_PPC64:   uint32(elf.R_PPC64_RELATIVE),
	}
	for _, s := range e.Sections {
		if s.Type != elf.SHT_RELA || e.Class != elf.ELFCLASS64 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(data) >= 24; data = data[24:] {
			if uint32(e.ByteOrder.Uint64(data[8:])) == relative[e.Machine] {
				if word := read(e.ByteOrder.Uint64(data), 8); word != nil {
					e.ByteOrder.PutUint64(word, e.ByteOrder.Uint64(data[16:]))
				}
			}
		}
	}
}

// table opens the pclntab of the file.
func (f *file) table(t testing.TB) *Table {
	t.Helper()
	tab, err := Open(f.section, f.pclntab, f.addr, f.image)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// text is the value of runtime.text, which is not the start of .text where C
// code is in front of it.
func (f *file) text(t testing.TB) uint64 {
	syms, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == "runtime.text" {
			return s.Value
		}
	}
	return f.image.Text
}
