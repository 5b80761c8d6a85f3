package mutant

import (
	"bytes"
	"debug/dwarf"
	"slices"
	"strings"
)

// everyOther returns a range list of every other byte of .text.
func everyOther() section {
	var ranges []byte
	for i := uint64(0); i < textSize; i += 2 {
		ranges = append(ranges, body(TextAddr+i, TextAddr+i+1)...)
	}
	return debug(".debug_ranges", append(ranges, make([]byte, 16)...))
}

// calls returns two abbreviations: 2 is a function, 3 is an inlined call of the function
// with ranges.
func calls(children bool) []byte {
	return append(abbrev(2, dwarf.TagSubprogram, true, atName, formString, atLowPC, formAddr, atHighPC, formData8),
		abbrev(3, dwarf.TagInlinedSubroutine, children, atOrigin, formRef4, atRanges, formSecOffset)...)
}

func inlinedRanges() []byte {
	var dies []byte
	for range 2000 {
		// Each function has twenty calls, all with the same ranges.
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
		// Each call is the child of the call before it.
		dies = append(dies, bytes.Repeat([]byte{3, firstDIE, 0, 0, 0, 0, 0, 0, 0}, depth)...)
		dies = append(dies, make([]byte, depth+1)...)
	}
	return dwarfFile(calls(true), dies, everyOther())
}

// namedCalls returns a file with a function and a thousand calls in each other, all of one long name.
func namedCalls() []byte {
	const depth = 1000
	dies := append([]byte{2}, strings.Repeat("f<", 30_000)+"\x00"...)
	dies = append(dies, body(TextAddr, textSize)...)
	dies = append(dies, bytes.Repeat(callOf(4, textSize), depth)...)
	call := abbrev(4, dwarf.TagInlinedSubroutine, true, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8)
	return dwarfFile(append(calls(true), call...), append(dies, make([]byte, depth+1)...), everyOther())
}

// rangeCount is the number of ranges, of a .text of size largeText, in a list.
const rangeCount, largeText = 1 << 15, 1 << 20

// manyRanges returns a file with two range lists of rangeCount entries each. The ranges of
// the list at offset 0 lie apart; each range of the list at secondList is all of .text.
// Abbreviations 2 and 3 are those of calls, 4 and 5 are calls of one range with and without
// other calls in them, 6 is a function with a list. The unit is so large that both lists may
// be read.
func manyRanges(dies ...[]byte) []byte {
	var lists []byte
	for i := range uint64(rangeCount) {
		lists = append(lists, body(TextAddr+i*(largeText/rangeCount), TextAddr+i*(largeText/rangeCount)+1)...)
	}

	lists = append(lists, make([]byte, 16)...)
	lists = append(lists, bytes.Repeat(body(TextAddr, TextAddr+largeText), rangeCount)...)
	lists = append(lists, make([]byte, 16)...)

	// The zeros end the open DIEs, and make the unit large.
	info := unit(append(slices.Concat(dies...), make([]byte, 2+2*rangeCount)...))
	abbrevs := slices.Concat(abbrev(1, dwarf.TagCompileUnit, true), calls(true),
		abbrev(4, dwarf.TagInlinedSubroutine, true, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		abbrev(5, dwarf.TagInlinedSubroutine, false, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		abbrev(6, dwarf.TagSubprogram, true, atName, formString, atRanges, formSecOffset), []byte{0})
	return buildText(largeText, []section{debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_ranges", lists)})
}

// secondList is the offset of the second range list.
const secondList = 16 * (rangeCount + 1)

// listed returns a call with one of the lists, or, without attributes before the list, the
// rest of a function of abbreviation 6.
func listed(list uint32, attrs ...byte) []byte { return le.AppendUint32(attrs, list) }

// callOf returns a call of an abbreviation whose code is the first bytes of .text.
func callOf(abbrev byte, size uint64) []byte {
	return append([]byte{abbrev, firstDIE, 0, 0, 0}, body(TextAddr, size)...)
}

// inRanges returns a file with a function and, in that function, a call that has many
// ranges. The DIEs are in the call.
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
