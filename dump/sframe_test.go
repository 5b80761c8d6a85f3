package dump

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/emit"
)

// TestSFrame dumps libraries of three assemblers (scripts/fixtures-sframe.sh).
// Compiler output must agree wholly. The special cases are written by hand:
// gas 2.40 and 2.44 pass over a changed return address (.cfi_register rip,
// .cfi_offset of another place: RA) and over remember/restore of an outermost
// frame (CFA); 2.40 also drops .cfi_def_cfa of other registers in the middle of a function.
func TestSFrame(t *testing.T) {
	for name, want := range map[string]Agreement{
		"v1-amd64-basic":        {Both: 585, Agree: 585, DWARFOnly: 67},
		"v1-amd64-basic-noeh":   {SFrameOnly: 585},
		"v1-amd64-special":      {Both: 112, Agree: 76, DWARFOnly: 64, CFA: 16, RA: 20},
		"v1-aarch64-basic":      {Both: 796, Agree: 796},
		"v1-aarch64-basic-noeh": {SFrameOnly: 796},
		"v1-aarch64-special":    {Both: 92, Agree: 84, RA: 8},
		"v2-amd64-basic":        {Both: 585, Agree: 585, DWARFOnly: 67},
		"v2-amd64-basic-noeh":   {SFrameOnly: 585},
		"v2-amd64-special":      {Both: 96, Agree: 64, DWARFOnly: 80, CFA: 8, RA: 24},
		"v2-aarch64-basic":      {Both: 796, Agree: 796},
		"v2-aarch64-basic-noeh": {SFrameOnly: 796},
		"v2-aarch64-special":    {Both: 92, Agree: 84, RA: 8},
		"v3-amd64-basic":        {Both: 652, Agree: 652},
		"v3-amd64-basic-noeh":   {SFrameOnly: 652},
		"v3-amd64-special":      {Both: 162, Agree: 162, DWARFOnly: 14},
		"v3-aarch64-basic":      {Both: 796, Agree: 796},
		"v3-aarch64-basic-noeh": {SFrameOnly: 796},
		"v3-aarch64-special":    {Both: 92, Agree: 92},
		"v3-aarch64be-basic":    {Both: 800, Agree: 800},
		"v3-s390x-basic":        {Both: 912, Agree: 912},
		"v3-s390x-basic-noeh":   {SFrameOnly: 912},
		"v3-s390x-special":      {Both: 94, Agree: 94},
	} {
		f := sframeFixture(t, name)
		m, text := dumpText(t, f, Options{})
		if m.Stats.SFrame != want {
			t.Errorf("%s: %+v, want %+v", name, m.Stats.SFrame, want)
		}
		for _, err := range m.Stats.Losses {
			t.Errorf("%s: lost: %v", name, err)
		}
		checkInits(t, name, text)
		_, only := dumpText(t, f, Options{SFrame: SFrameOnly})
		checkInits(t, name+" (only)", only)
		off, _ := dumpText(t, f, Options{SFrame: SFrameOff})
		if off.Stats.SFrame.Both+off.Stats.SFrame.SFrameOnly > 0 {
			t.Errorf("%s: SFrame was read though it is off: %+v", name, off.Stats.SFrame)
		}
	}
}

// TestSFrameOfOtherMachine: the section of a machine that has none is a loss, which
// says where it is.
func TestSFrameOfOtherMachine(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "sframe", "v2-amd64-basic.so"))
	if err != nil {
		t.Fatal(err)
	}
	const machineAt = 18 // e_machine
	data[machineAt], data[machineAt+1] = byte(elf.EM_RISCV), byte(elf.EM_RISCV>>8)
	f, err := elfx.NewFile("riscv.so", data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "riscv.so: .sframe+0x0: this machine has none"
	if !slices.ContainsFunc(m.Stats.Losses, func(err error) bool { return err.Error() == want }) {
		t.Errorf("losses %q, want %s", m.Stats.Losses, want)
	}
}

func sframeFixture(t *testing.T, name string) *elfx.File {
	t.Helper()
	f, err := elfx.Open(filepath.Join("testdata", "sframe", name+".so"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// checkInits reads the records back: no complaint, no overlap.
func checkInits(t *testing.T, name string, text []byte) {
	t.Helper()
	end := uint64(0)
	for record, err := range emit.NewReader(text).Records() {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if init, ok := record.(*emit.StackCFIInit); ok {
			if init.Addr < end {
				t.Errorf("%s: INIT %#x begins before %#x, where the last one ends", name, init.Addr, end)
			}
			end = init.Addr + uint64(init.Size)
		}
	}
	if end == 0 {
		t.Errorf("%s: no STACK CFI", name)
	}
}

// TestSFrameAloneEqualsDWARF compares the records of a library without
// .eh_frame with those of its twin, as far as SFrame goes: CFA, return address
// and frame pointer.
func TestSFrameAloneEqualsDWARF(t *testing.T) {
	for _, name := range []string{"v3-amd64-basic", "v3-aarch64-basic", "v3-s390x-basic"} {
		_, only := dumpText(t, sframeFixture(t, name), Options{SFrame: SFrameOnly, Name: "x", ID: "0"})
		_, alone := dumpText(t, sframeFixture(t, name+"-noeh"), Options{Name: "x", ID: "0"})
		if !bytes.Equal(stacks(only), stacks(alone)) {
			t.Errorf("%s: --sframe=only and a file without .eh_frame differ", name)
		}
	}
}

// TestDiscardedRelocation: `ld -r` leaves R_*_NONE in the place of an FDE's
// relocation where it has dropped the function, a COMDAT defined twice. In both
// tables that FDE is gone, without complaint, and the others are there.
func TestDiscardedRelocation(t *testing.T) {
	path := filepath.Join("..", "sframe", "testdata", "v3-amd64-rel.o")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dumped := func(name string, data []byte, use SFrameUse) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := elfx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, text := dumpText(t, f, Options{SFrame: use, ID: "0"})
		if len(m.Stats.Losses) > 0 {
			t.Errorf("%s: lost: %v", name, m.Stats.Losses)
		}
		return string(stacks(text))
	}
	for section, use := range map[string]SFrameUse{".rela.sframe": SFrameOnly, ".rela.eh_frame": SFrameOff} {
		f, err := elf.NewFile(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		const entry, info = 24, 8 // of the relocation of the second FDE
		damaged := bytes.Clone(whole)
		clear(damaged[f.Section(section).Offset+entry+info:][:8])
		const first, rest = "STACK CFI INIT 8 c ", "STACK CFI INIT 14 "
		want := dumped("whole.o", whole, use)
		i, k := strings.Index(want, first), strings.Index(want, rest)
		if i < 0 || k < i {
			t.Fatalf("no second FDE in\n%s", want)
		}
		if got := dumped("discarded.o", damaged, use); got != want[:i]+want[k:] {
			t.Errorf("%s:\n%s\nwhole:\n%s", section, got, want)
		}
	}
}

// stacks is the part of a symbol file from the first STACK record on.
func stacks(text []byte) []byte {
	return text[max(bytes.Index(text, []byte("STACK ")), 0):]
}
