package dump

import (
	"bytes"
	"path/filepath"
	"testing"

	"symkit/elfx"
	"symkit/emit"
)

// TestSFrame dumps libraries of three assemblers (scripts/fixtures-sframe.sh).
// Compiler output must agree wholly. The special cases are written by hand:
// gas 2.40 and 2.44 pass over a changed return address (.cfi_register rip,
// .cfi_offset of another place: RA) and over remember/restore of an outermost
// frame (CFA); 2.40 also drops .cfi_def_cfa of other registers half-way.
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

// stacks is the part of a symbol file from the first STACK record on.
func stacks(text []byte) []byte {
	return text[max(bytes.Index(text, []byte("STACK ")), 0):]
}
