package check

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"symkit/check/diff"
	"symkit/check/report"
	"symkit/elfx"
)

// mutate changes one digit of a line, or drops, doubles or swaps lines. It returns what it did to
// which kind of record.
func mutate(rng *rand.Rand, lines [][]byte) (out []byte, kind, what string) {
	i := rng.IntN(len(lines))
	kind = recordKind(lines[i])
	done := slices.Clone(lines)
	switch op := rng.IntN(8); op {
	case 0:
		done, what = slices.Delete(done, i, i+1), "drop"
	case 1:
		done, what = slices.Insert(done, i, lines[i]), "double"
	case 2:
		k := (i + 1) % len(lines)
		done[i], done[k], what = done[k], done[i], "swap"
	default:
		done[i], what = changeDigit(rng, lines[i]), "digit"
	}
	return bytes.Join(done, nil), kind, fmt.Sprintf("%s of line %d: %q", what, i+1, lines[i])
}

// changeDigit replaces one digit by another; a line without digits loses its first byte.
func changeDigit(rng *rand.Rand, line []byte) []byte {
	var at []int
	for i, b := range line {
		if b >= '0' && b <= '9' {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return line[1:]
	}
	line = slices.Clone(line)
	i := at[rng.IntN(len(at))]
	line[i] = '0' + (line[i]-'0'+byte(1+rng.IntN(9)))%10
	return line
}

func recordKind(line []byte) string {
	word, rest, _ := strings.Cut(string(line), " ")
	switch {
	case word == "STACK" && strings.HasPrefix(rest, "CFI INIT"):
		return "STACK CFI INIT"
	case word == "STACK":
		return "STACK CFI"
	case word == "INFO":
		key, _, _ := strings.Cut(rest, " ")
		return "INFO " + key
	case word[0] >= 'A' && word[0] <= 'Z':
		return word
	}
	return "line"
}

// mutations makes n random mutations of sym, and returns how many were not found, by kind of
// record. More than 0.1 % of mutations that were not found, but make a difference for package diff,
// are an error.
func mutations(t *testing.T, img *elfx.Image, sym []byte, n int) (silent map[string]int) {
	t.Helper()
	lines := bytes.SplitAfter(bytes.TrimSuffix(sym, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(slices.Clone(lines[len(lines)-1]), '\n')
	var mu sync.Mutex
	var wg sync.WaitGroup
	silent = map[string]int{}
	missed := 0
	jobs := runtime.GOMAXPROCS(0)
	for job := range jobs {
		wg.Go(func() {
			for i := job; i < n; i += jobs {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				mutated, kind, what := mutate(rng, lines)
				if bytes.Equal(mutated, sym) {
					continue
				}
				if kind == "INFO PUBLIC_SIZES" && !bytes.Contains(mutated, []byte("INFO PUBLIC_SIZES")) {
					continue // a file without sizes is right, too: symkit's first versions wrote none
				}
				rep, err := File(context.Background(), img, mutated, Options{Options: report.Options{Limit: -1}, Jobs: 1})
				if err != nil {
					t.Errorf("mutation %d: %s: %v", i, what, err)
					return
				}
				if rep.Total() > 0 {
					continue
				}
				d, err := diff.Files(sym, mutated, report.Options{})
				mu.Lock()
				silent[kind]++
				if err == nil && d.Total() == 0 {
					t.Logf("mutation %d says the same: %s", i, what)
				} else {
					missed++
					t.Logf("mutation %d is not caught, but changes the file: %s (%v)\n%s", i, what, err, text(t, d))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if float64(missed) > 0.001*float64(n) {
		t.Errorf("%d of %d mutations are not caught", missed, n)
	}
	return silent
}

// checkMutations checks that of n mutations 99.9 % are found. At most 1 % may stay unnoticed
// because the file still has the same meaning.
func checkMutations(t *testing.T, img *elfx.Image, sym []byte, n int) {
	t.Helper()
	silent := mutations(t, img, sym, n)
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(silent)) {
		t.Logf("%s: %d", kind, silent[kind])
		total += silent[kind]
	}
	if float64(total) > 0.01*float64(n) {
		t.Errorf("%d of %d mutations say the same", total, n)
	}
}

func TestMutations(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	img, sym := own(t, "lang-x86_64-gcc12-O2-dw5.elf")
	checkMutations(t, img, sym, n)
}
