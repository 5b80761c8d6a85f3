package dump

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/internal/demangle"
)

// TestPiecesMutants: a damaged .debug_info has the same outcome, errors and all, when
// it is inflated piece by piece. SYMKIT_MUTANTS sets how many there are.
func TestPiecesMutants(t *testing.T) {
	count := mutantCount()
	for _, crossing := range []bool{false, true} { // nothing is given up early then
		t.Run(fmt.Sprintf("crossing %v", crossing), func(t *testing.T) { piecesMutants(t, crossing, count) })
	}
}

func piecesMutants(t *testing.T, crossing bool, count int) {
	smallPieces(t, leastPiece, leastPiece)
	p := newProgram()
	p.fill(1 << 20)
	if crossing {
		p.crossing(p.funcs[2])
	}
	p.skeleton("x.dwo", 1)
	p.fill(1 << 18)
	good := p.info
	starts := []int{0}
	for at := 0; at < len(good); starts = append(starts, at) {
		at += 4 + int(le.Uint32(good[at:]))
	}
	for seed := range uint64(count) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		p.info = append([]byte(nil), good...)
		for range 1 + rnd.IntN(4) {
			at := starts[rnd.IntN(len(starts)-1)]
			switch rnd.IntN(6) {
			case 0: // another length
				le.PutUint32(p.info[at:], uint32(rnd.IntN(1<<rnd.IntN(22))))
			case 1: // of what is not a length in 32 bits
				le.PutUint32(p.info[at:], 0xfffffff0+uint32(rnd.IntN(16)))
			case 2:
				le.PutUint64(p.info[at+4:], rnd.Uint64()>>rnd.IntN(64))
			case 3: // the header, the root or what is behind it
				p.info[at+rnd.IntN(100)] = byte(rnd.Uint32())
			case 4: // units that are not even that
				clear(p.info[at:][:rnd.IntN(64)])
			case 5: // the section ends here
				p.info = p.info[:at+rnd.IntN(14)]
				at = 0
			}
			if len(p.info) < len(good) {
				break
			}
		}
		want := dumpFile(t, p.flat(t), 1)
		jobs := jobsOf[seed%3]
		if got := dumpFile(t, p.zlib(t, 1), jobs); got != want {
			t.Errorf("seed %d, %d goroutines: %d units, %.500s, %v, want %d, %.500s, %v; %s",
				seed, jobs, got.units, got.losses, got.err, want.units, want.losses, want.err, firstDiff(got.text, want.text))
		}
	}
}

// TestPiecesChanged: a file that is cut while it is mapped is an error, and nobody waits
// for the rest of it.
func TestPiecesChanged(t *testing.T) {
	smallPieces(t, leastPiece, 1)
	p := newProgram()
	p.fill(2 << 20)
	data := p.zlib(t, 1)
	for _, jobs := range jobsOf {
		f := mapped(t, data)
		if err := os.Truncate(f.Path(), int64(len(data)/2)); err != nil {
			t.Fatal(err)
		}
		if o := dumpOf(t, t.Context(), &elfx.Image{Main: f}, Options{Jobs: jobs}); !errors.Is(o.err, elfx.ErrChanged) {
			t.Errorf("%d goroutines: %v", jobs, o.err)
		}
	}
}

// TestWantsScope: a name that lacks its scope is known to before it has a text, but
// for linkage names that are broken.
func TestWantsScope(t *testing.T) {
	const c, cxx, rust, ada = dwarfx.Language(2), dwarfx.Language(4), dwarfx.Language(0x1c), dwarfx.Language(0x0d)
	var demangler demangle.Demangler
	broken := 0
	for _, language := range []dwarfx.Language{0, c, cxx, rust, ada} {
		for _, key := range []string{
			"_ZN5space1fEv", "_ZN5space1fE", "_RNvC1a1f", "_Z", "_R", "_ZZZZ", "_RZZ", "_Zsr1x", "_ZN1aIsr1bE1cE", "__GI_warn", "main", "pkg__sub", "",
			"_ZN4core3ptr17h0123456789abcdefE", "_D3foo3barFZv", "f.cold", "_Z1fv.cold",
		} {
			for _, name := range []string{"", "f"} {
				for _, linkage := range []bool{false, true} {
					n := naming{key: []byte(key), name: []byte(name), linkage: linkage && key != "", language: language}
					_, plain := n.readable(&demangler)
					switch early := n.wantsScope(&demangler); {
					case early == plain:
					case plain && n.linkage && demangle.Sure(n.key):
						broken++
					default:
						t.Errorf("%q, %q of language %#x: %v, then %v", key, name, uint16(language), early, plain)
					}
				}
			}
		}
	}
	if broken == 0 {
		t.Error("no linkage name is broken")
	}
}
