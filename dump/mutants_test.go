package dump

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/emit"
)

// mutantCount returns the number in SYMKIT_MUTANTS, by default a few.
func mutantCount() int {
	if n, err := strconv.Atoi(os.Getenv("SYMKIT_MUTANTS")); err == nil {
		return n
	}
	return 40
}

// TestMutants dumps damaged programs: each fails with an error, or gives text
// that the strict reader takes. SYMKIT_MUTANTS sets how many of each seed.
func TestMutants(t *testing.T) {
	count := mutantCount()
	for _, name := range []string{
		"cxx-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-clang14-O2-dw5-64.elf", "cxx-x86_64-gcc12-O2-dw5-zstd.elf",
		"cxx-x86_64-gcc12-O2-dw4-types.elf", "cxx-x86_64-gcc12-O2-dw5.o", "lang-mips-gcc12-O2-dw4.elf",
		"lang-arm-gcc12-O2-dw5.elf", "cxx-x86_64-gcc12-O2-dw5-mini.elf", "rust-x86_64-rustc-O-dw5.so",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(fixtures + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(count) {
				mutant := mutate(data, rand.New(rand.NewPCG(seed, 1)))
				start := time.Now()
				dumpMutant(t, seed, mutant)
				if took := time.Since(start); took > 2*time.Minute { // a few milliseconds, usually
					t.Errorf("seed %d took %v", seed, took)
				}
			}
		})
	}
}

// mutate changes a few bytes, words or the length of data.
func mutate(data []byte, r *rand.Rand) []byte {
	data = slices.Clone(data)
	for range 1 + r.IntN(8) {
		at := r.IntN(len(data))
		switch r.IntN(6) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data[at] = byte(r.Uint32())
		case 2: // all ones, or nothing
			fill := byte(0xff * r.IntN(2))
			for i := at; i < min(at+1+r.IntN(8), len(data)); i++ {
				data[i] = fill
			}
		case 3: // bytes of another place
			from := r.IntN(len(data))
			copy(data[at:], data[from:min(from+r.IntN(64), len(data))])
		case 4: // the headers, where much depends on little
			data[r.IntN(min(1024, len(data)))] = byte(r.Uint32())
		case 5:
			if r.IntN(4) == 0 {
				data = data[:max(at, 64)]
			}
		}
	}
	return data
}

func dumpMutant(t *testing.T, seed uint64, data []byte) {
	f, err := elfx.NewFile("mutant", data)
	if err != nil {
		return
	}
	defer f.Close()
	m, err := Dump(context.Background(), &elfx.Image{Main: f}, Options{Inlines: true, Jobs: 1})
	if err != nil {
		return
	}
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	if out.Len() > 64<<20 {
		t.Errorf("seed %d: %d bytes of text from %d", seed, out.Len(), len(data))
	}
	for _, err := range emit.NewReader(out.Bytes()).Records() {
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			break
		}
	}
}
