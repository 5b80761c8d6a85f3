package check

import (
	"math/rand/v2"
	"os"
	"testing"

	"symkit/check/internal/naming"
	"symkit/check/internal/truth"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/limits"
)

// TestOverwrittenDebugInfo checks that reading ends, and nothing panics, if a file is overwritten
// while its units are read. Replay reports the change at its end.
func TestOverwrittenDebugInfo(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "lang-x86_64-gcc12-O2-dw5.elf"} {
		for seed := range uint64(20) {
			img, _ := own(t, name)
			code := truth.CodeOf(img.Main)
			d := dwarfinfo.Open(img.Main, limits.Limits{})
			if err := d.Load(false); err != nil {
				t.Fatal(err)
			}
			first, err := d.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}

			// Every eighth byte changes.
			path := img.Main.Path()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, seed))
			for range len(data) / 8 {
				data[rng.IntN(len(data))] = byte(rng.Uint32())
			}
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}

			names, failed := naming.NewTable(), 0
			for u := first; u != nil; u, err = d.Next(t.Context()) {
				var s dwarfinfo.Scan
				n := dwarfinfo.NewNamer(names)
				if s.Scan(t.Context(), u, code) != nil {
					failed++
				}
				n.Unit(&s)
				for k := range s.Funcs {
					n.ID(s.Funcs[k].Ref)
				}
				if _, _, err := u.Group().Lines(code, naming.NewPaths()); err != nil {
					failed++
				}
				d.Done(u)
			}
			if err != nil {
				failed++
			}
			if failed == 0 {
				t.Errorf("%s: no damage was found", name)
			}
		}
	}
}
