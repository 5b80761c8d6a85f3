package emit

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestDigits: numbers as strconv writes them.
func TestDigits(t *testing.T) {
	check := func(v uint64) {
		if got, want := string(appendHex([]byte("x"), v)), "x"+strconv.FormatUint(v, 16); got != want {
			t.Fatalf("appendHex(%d) = %s, want %s", v, got, want)
		}
		want := "x" + strconv.FormatUint(uint64(uint32(v)), 10)
		if uint32(v) > maxNumber {
			want = "x0"
		}
		if got := string(appendDec([]byte("x"), uint32(v))); got != want {
			t.Fatalf("appendDec(%d) = %s, want %s", uint32(v), got, want)
		}
	}
	for v := range uint64(1 << 17) {
		check(v)
	}
	for shift := range 64 {
		for d := range uint64(3) {
			check(1<<shift + d - 1)
		}
	}
	for v := uint64(1); v <= 1e19; v *= 10 {
		check(v - 1)
		check(v)
		if v == 1e19 {
			break
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1 << 18 {
		check(random.Uint64() >> random.UintN(64))
	}
}
