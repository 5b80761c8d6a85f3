package pcs

// Sweep divides within where either list changes, and calls f for each part with the elements of
// a and b that hold there, nil if none does. rangeA and rangeB return the addresses of an element.
// Both lists are in order; of elements of one list that overlap, the first holds. Sweep stops
// where both lists end.
func Sweep[A, B any](within Range, a []A, rangeA func(*A) Range, b []B, rangeB func(*B) Range, f func(Range, *A, *B)) {
	for pos := within.Lo; pos < within.Hi; {
		part := Range{pos, within.Hi}

		// next shortens part to where a list changes.
		var x *A
		var y *B
		a, x = next(a, rangeA, &part)
		b, y = next(b, rangeB, &part)
		if len(a) == 0 && len(b) == 0 {
			return
		}

		f(part, x, y)
		pos = part.Hi
	}
}

// next drops the elements of list that end at or below the start of part, and lowers the end of
// part to where the list changes. It returns the rest of the list, and its first element if that
// holds in part.
func next[T any](list []T, addresses func(*T) Range, part *Range) ([]T, *T) {
	for ; len(list) > 0; list = list[1:] {
		r := addresses(&list[0])
		switch {
		case r.Hi <= part.Lo:
			continue
		case r.Lo > part.Lo:
			part.Hi = min(part.Hi, r.Lo)
			return list, nil
		}
		part.Hi = min(part.Hi, r.Hi)
		return list, &list[0]
	}
	return nil, nil
}
