//go:build oracle

package sframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tool is one of the wrappers that scripts/fixtures-sframe.sh leaves in
// WORKDIR/bin, which SYMKIT_SFRAME_TOOLS names.
func tool(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(os.Getenv("SYMKIT_SFRAME_TOOLS"), name)
	if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
		t.Fatalf("SYMKIT_SFRAME_TOOLS must name the bin folder of scripts/fixtures-sframe.sh: %v", err)
	}
	return path
}

// wrapELF makes a shared object with nothing but data as its .sframe at addr.
func wrapELF(data []byte, addr uint64, abi ABI) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1}
	if abi.BigEndian() {
		order, ident[elf.EI_DATA] = binary.BigEndian, byte(elf.ELFDATA2MSB)
	}
	machine := map[ABI]elf.Machine{AMD64: elf.EM_X86_64, S390X: elf.EM_S390, AArch64BE: elf.EM_AARCH64, AArch64LE: elf.EM_AARCH64}[abi]
	const names = "\x00.sframe\x00.shstrtab\x00"
	body := append(append([]byte{}, data...), names...)
	body = append(body, make([]byte, -len(body)&7)...)
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, order, v) } // a Buffer does not fail
	put(elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1,
		Shoff: uint64(64 + len(body)), Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2})
	b.Write(body)
	put(elf.Section64{})
	put(elf.Section64{Name: 1, Type: 0x6ffffff4, Flags: uint64(elf.SHF_ALLOC), Addr: addr, Off: 64, Size: uint64(len(data)), Addralign: 8})
	put(elf.Section64{Name: 9, Type: uint32(elf.SHT_STRTAB), Off: 64 + uint64(len(data)), Size: uint64(len(names)), Addralign: 1})
	return b.Bytes()
}

// readelf is the text of data as readelf prints it, and whether it was content.
func readelf(t *testing.T, data []byte, addr uint64, abi ABI, version uint8) (string, bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.so")
	if err := os.WriteFile(path, wrapELF(data, addr, abi), 0o666); err != nil {
		t.Fatal(err)
	}
	name := "v3-readelf"
	if version == 1 {
		name = "v1-readelf"
	}
	cmd := exec.Command(tool(t, name), "--sframe", path)
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	return string(out), err == nil && diag.Len() == 0
}

// sound tells that the decoder finds no damage in a section of one chunk.
func sound(data []byte, opts Options) (*Section, bool) {
	s, err := Parse(data, opts)
	if err != nil || len(s.Chunks) == 0 {
		return s, false
	}
	for f, err := range s.Chunks[0].FDEs() {
		if err != nil {
			return s, false
		}
		for _, err := range f.FREs() {
			if err != nil {
				return s, false
			}
		}
	}
	return s, true
}

// TestOracleHandMade shows readelf what no producer at hand writes.
func TestOracleHandMade(t *testing.T) {
	for name, text := range handMade {
		t.Run(name, func(t *testing.T) {
			data := assemble(t, text)
			s, ok := sound(data, Options{Addr: 0x4000})
			if !ok {
				t.Fatal("damaged")
			}
			c := &s.Chunks[0]
			want, ok := readelf(t, data, 0x4000, c.ABI, c.Version)
			got := string(c.AppendText(nil, ".sframe"))
			if d := cmp.Diff(want, got); d != "" || !ok {
				t.Errorf("content %v, -readelf +got:\n%s", ok, d)
			}
		})
	}
}

// TestOracleMutated changes bytes of the fixtures. Where the decoder finds
// nothing wrong, and readelf neither, the texts are equal.
func TestOracleMutated(t *testing.T) {
	const perFixture = 12
	rnd := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for _, f := range fixtures(t) {
		if f.opts.Relocatable {
			continue
		}
		for range perFixture {
			data := bytes.Clone(f.data)
			for range 1 + rnd.IntN(3) {
				data[4+rnd.IntN(len(data)-4)] ^= byte(1 << rnd.IntN(8))
			}
			s, ok := sound(data, f.opts)
			if !ok {
				continue
			}
			c := &s.Chunks[0]
			want, ok := readelf(t, data, f.opts.Addr, c.ABI, c.Version)
			if !ok || unlike(c) {
				continue
			}
			compared++
			if d := cmp.Diff(want, string(c.AppendText(nil, ".sframe"))); d != "" {
				t.Errorf("%s: %x\n-readelf +got:\n%s", f.name, data, d)
			}
		}
	}
	t.Logf("%d compared", compared)
	if compared < 100 {
		t.Error("too few")
	}
}

// unlike tells of a chunk whose text readelf gets wrong.
func unlike(c *Chunk) bool {
	return c.Flags&(FDESorted|FuncStartPCRel) == 0
}
