package mutant

import (
	"bytes"
	"debug/dwarf"
	"slices"
)

// pieces is a range list of every other byte of .text.
func pieces() section {
	var ranges []byte
	for i := uint64(0); i < textSize; i += 2 {
		ranges = append(ranges, body(TextAddr+i, TextAddr+i+1)...)
	}
	return debug(".debug_ranges", append(ranges, make([]byte, 16)...))
}

// calls are the abbreviations 2, a function, and 3, an inlined call of it with
// ranges.
func calls(children bool) []byte {
	return append(abbrev(2, dwarf.TagSubprogram, true, atName, formString, atLowPC, formAddr, atHighPC, formData8),
		abbrev(3, dwarf.TagInlinedSubroutine, children, atOrigin, formRef4, atRanges, formSecOffset)...)
}

func inlinedRanges() []byte {
	var dies []byte
	for range 2000 {
		dies = append(append(dies, 2, 'f', 0), body(TextAddr, textSize)...)
		dies = append(append(dies, bytes.Repeat([]byte{3, firstDIE, 0, 0, 0, 0, 0, 0, 0}, 20)...), 0)
	}
	return dwarfFile(calls(false), dies, pieces())
}

func inlinedTrees() []byte {
	const depth = 1000
	var dies []byte
	for i := range uint64(100) {
		dies = append(append(dies, 2, 'f', 0), body(TextAddr+i, textSize-i)...)
		dies = append(dies, bytes.Repeat([]byte{3, firstDIE, 0, 0, 0, 0, 0, 0, 0}, depth)...)
		dies = append(dies, make([]byte, depth+1)...)
	}
	return dwarfFile(calls(true), dies, pieces())
}

// manyPieces is how many pieces of a .text of size largeText a list of ranges has.
const manyPieces, largeText = 1 << 15, 1 << 20

// manyRanges has a .text of which a list at offset 0 has many pieces, and one at
// secondList all of it, as often. Abbreviations are those of calls, and 4 and 5, calls with
// and without others in them, of one range, and 6, a function of a list. The unit is so
// large that both lists may be read.
func manyRanges(dies ...[]byte) []byte {
	var lists []byte
	for i := range uint64(manyPieces) {
		lists = append(lists, body(TextAddr+i*(largeText/manyPieces), TextAddr+i*(largeText/manyPieces)+1)...)
	}
	lists = append(lists, make([]byte, 16)...)
	lists = append(lists, bytes.Repeat(body(TextAddr, TextAddr+largeText), manyPieces)...)
	lists = append(lists, make([]byte, 16)...)
	info := unit(append(slices.Concat(dies...), make([]byte, 2+2*manyPieces)...))
	abbrevs := slices.Concat(abbrev(1, dwarf.TagCompileUnit, true), calls(true),
		abbrev(4, dwarf.TagInlinedSubroutine, true, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		abbrev(5, dwarf.TagInlinedSubroutine, false, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		abbrev(6, dwarf.TagSubprogram, true, atName, formString, atRanges, formSecOffset), []byte{0})
	return buildText(largeText, []section{debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_ranges", lists)})
}

const secondList = 16 * (manyPieces + 1)

// listed is a call or, without attributes before it, a function of abbreviation 6 with one
// of the lists.
func listed(list uint32, attrs ...byte) []byte { return le.AppendUint32(attrs, list) }

// callOf is a call of an abbreviation that has bytes of .text, from the first on.
func callOf(abbrev byte, size uint64) []byte {
	return append([]byte{abbrev, firstDIE, 0, 0, 0}, body(TextAddr, size)...)
}

// inPieces is a function with a call in it that is in many pieces, and dies in that.
func inPieces(dies []byte) []byte {
	return manyRanges([]byte{2, 'f', 0}, body(TextAddr, largeText), listed(0, 3, firstDIE, 0, 0, 0), dies)
}

func overlappingRanges() []byte { return inPieces(append(listed(secondList, 3, firstDIE, 0, 0, 0), 0)) }

func deepPieces() []byte {
	const depth = 1000
	return inPieces(append(bytes.Repeat(callOf(4, largeText), depth), make([]byte, depth)...))
}

func sharedPieces() []byte { return inPieces(bytes.Repeat(callOf(5, largeText), 20_000)) }

func piecesOfCalls() []byte {
	return manyRanges(listed(0, 6, 'f', 0), bytes.Repeat(callOf(5, 1), 50_000))
}

func piecesOfDeepCalls() []byte {
	const depth = 1000
	return manyRanges(listed(0, 6, 'f', 0), bytes.Repeat(callOf(4, largeText), depth), make([]byte, depth))
}
