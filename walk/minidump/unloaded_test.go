package minidump

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/walk"
	"symkit/walk/report"

	"symkit/walk/internal/mdmp/synth"
)

// TestUnloaded: a frame in modules that were unloaded, some of them several
// times, as in rust-minidump's test of that name.
func TestUnloaded(t *testing.T) {
	d, err := New(synth.Assemble(t, false, `stream SystemInfo u16 0 0 0 u8 1 0 u32 0 0 0 0 0 u16 0 0 zero 24
stream ThreadList u32 1 0x1234 0 0 0 u64 0 0x1000 loc stack loc context
block stack zero 4096
block context u32 0x1003f zero 24 zero 112 zero 44 u32 0xf00800 0 0 0x1010 0 zero 512
stream UnloadedModuleList u32 12 24 8
u64 0xa003a0 u32 0x1000 0x34571371 0xb1054d2a rva unused
u64 0xf00000 u32 0x1000 0x34571371 0xb1054d2a rva many
u64 0xaf00220 u32 0x2000 0x34571371 0xb1054d2a rva solo
u64 0xf00100 u32 0x1000 0x34571371 0xb1054d2a rva many
u64 0xf003a0 u32 0x1000 0x34571371 0xb1054d2a rva many
u64 0xf00220 u32 0x2000 0x34571371 0xb1054d2a rva solo
u64 0xaf00220 u32 0x2000 0x34571371 0xb1054d2a rva solo
u64 0xf00000 u32 0x1000 0x34571371 0xb1054d2a rva many
block many str "many.dll" block solo str "solo.dll" block unused str "unused.dll"`).Data)
	if err != nil {
		t.Fatal(err)
	}
	res, err := walk.Walk(context.Background(), d.Process(), nil, walk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.JSON(&out, res); err != nil {
		t.Fatal(err)
	}
	snapshot, err := os.ReadFile("testdata/json-pretty-unloaded.json")
	if err != nil {
		t.Fatal(err)
	}
	type part struct {
		Threads []struct {
			Count  int `json:"frame_count"`
			Frames []struct {
				Offset, Trust string
				Module        *string
				Unloaded      []struct {
					Module  string
					Offsets []string
				} `json:"unloaded_modules"`
			}
		}
		Unloaded []struct {
			Base   string `json:"base_addr"`
			End    string `json:"end_addr"`
			CodeID string `json:"code_id"`
			Name   string `json:"filename"`
		} `json:"unloaded_modules"`
	}
	var got, want part
	for text, p := range map[string]*part{out.String(): &got, string(snapshot): &want} {
		if err := json.Unmarshal([]byte(text), p); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
