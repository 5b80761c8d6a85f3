package mutant

import (
	"bytes"
	"debug/dwarf"
	"slices"
)

// everyOther is a range list of every other byte of .text.
func everyOther() section {
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
	return dwarfFile(calls(false), dies, everyOther())
}

func inlinedTrees() []byte {
	const depth = 1000
	var dies []byte
	for i := range uint64(100) {
		dies = append(append(dies, 2, 'f', 0), body(TextAddr+i, textSize-i)...)
		dies = append(dies, bytes.Repeat([]byte{3, firstDIE, 0, 0, 0, 0, 0, 0, 0}, depth)...)
		dies = append(dies, make([]byte, depth+1)...)
	}
	return dwarfFile(calls(true), dies, everyOther())
}

// rangeCount is the number of ranges, of a .text of size largeText, in a list.
const rangeCount, largeText = 1 << 15, 1 << 20

// manyRanges has two range lists of rangeCount entries each: the ranges of the list at
// offset 0 are apart, each of those at secondList is all of .text. Abbreviations are those of calls, and 4 and 5, calls with
// and without others in them, of one range, and 6, a function of a list. The unit is so
// large that both lists may be read.
func manyRanges(dies ...[]byte) []byte {
	var lists []byte
	for i := range uint64(rangeCount) {
		lists = append(lists, body(TextAddr+i*(largeText/rangeCount), TextAddr+i*(largeText/rangeCount)+1)...)
	}

	lists = append(lists, make([]byte, 16)...)
	lists = append(lists, bytes.Repeat(body(TextAddr, TextAddr+largeText), rangeCount)...)
	lists = append(lists, make([]byte, 16)...)
	info := unit(append(slices.Concat(dies...), make([]byte, 2+2*rangeCount)...))
	abbrevs := slices.Concat(abbrev(1, dwarf.TagCompileUnit, true), calls(true),
		abbrev(4, dwarf.TagInlinedSubroutine, true, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		abbrev(5, dwarf.TagInlinedSubroutine, false, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		abbrev(6, dwarf.TagSubprogram, true, atName, formString, atRanges, formSecOffset), []byte{0})
	return buildText(largeText, []section{debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_ranges", lists)})
}

const secondList = 16 * (rangeCount + 1)

// listed is a call or, without attributes before it, a function of abbreviation 6 with one
// of the lists.
func listed(list uint32, attrs ...byte) []byte { return le.AppendUint32(attrs, list) }

// callOf is a call of an abbreviation that has bytes of .text, from the first on.
func callOf(abbrev byte, size uint64) []byte {
	return append([]byte{abbrev, firstDIE, 0, 0, 0}, body(TextAddr, size)...)
}

// inRanges is a function with a call in it that has many ranges, and dies in that call.
func inRanges(dies []byte) []byte {
	return manyRanges([]byte{2, 'f', 0}, body(TextAddr, largeText), listed(0, 3, firstDIE, 0, 0, 0), dies)
}

func overlappingRanges() []byte { return inRanges(append(listed(secondList, 3, firstDIE, 0, 0, 0), 0)) }

func deepInRanges() []byte {
	const depth = 1000
	return inRanges(append(bytes.Repeat(callOf(4, largeText), depth), make([]byte, depth)...))
}

func sharedInRanges() []byte { return inRanges(bytes.Repeat(callOf(5, largeText), 20_000)) }

func rangesOfCalls() []byte {
	return manyRanges(listed(0, 6, 'f', 0), bytes.Repeat(callOf(5, 1), 50_000))
}

func rangesOfDeepCalls() []byte {
	const depth = 1000
	return manyRanges(listed(0, 6, 'f', 0), bytes.Repeat(callOf(4, largeText), depth), make([]byte, depth))
}
