package compare

// pair is two frames of two stacks at the same address, or a frame of one stack alone; the
// index of the other is then -1.
type pair struct{ a, b int }

// maxEdits bounds the frames that only one of two stacks has, for the exact alignment: the
// memory that it needs grows with the square of their number.
const maxEdits = 1000

// align pairs the equal elements of two lists, of n and m elements, so that few remain alone.
// Equal elements have equal keys. The pairs are in the order of both lists. If two lists differ
// in more than maxEdits elements, the pairs in the middle may be fewer than possible.
func align[K comparable](n, m int, keyA, keyB func(i int) K) (out []pair) {
	// Most stacks are equal, or have equal ends.
	prefix := 0
	for prefix < min(n, m) && keyA(prefix) == keyB(prefix) {
		out = append(out, pair{prefix, prefix})
		prefix++
	}
	suffix := 0
	for suffix < min(n, m)-prefix && keyA(n-1-suffix) == keyB(m-1-suffix) {
		suffix++
	}

	// The rest is aligned on its own.
	a := func(i int) K { return keyA(prefix + i) }
	b := func(i int) K { return keyB(prefix + i) }
	inner, ok := shortest(n-prefix-suffix, m-prefix-suffix, func(i, j int) bool { return a(i) == b(j) })
	if !ok {
		inner = greedy(n-prefix-suffix, m-prefix-suffix, a, b)
	}
	for _, p := range inner {
		if p.a >= 0 {
			p.a += prefix
		}
		if p.b >= 0 {
			p.b += prefix
		}
		out = append(out, p)
	}

	for i := suffix; i > 0; i-- {
		out = append(out, pair{n - i, m - i})
	}
	return out
}

// shortest finds an alignment with the fewest elements alone (Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986). It returns false if there are more than maxEdits.
func shortest(n, m int, equal func(i, j int) bool) ([]pair, bool) {
	// reach[k] is the greatest x on diagonal k = x - y; rows keeps reach as it was before
	// each step.
	limit := min(n+m, maxEdits)
	reach := make([]int32, 2*limit+3)
	at := func(k int) int { return k + limit + 1 }
	var rows [][]int32

	for d := 0; d <= limit; d++ {
		rows = append(rows, append([]int32(nil), reach[at(-d-1):at(d+1)+1]...))
		for k := -d; k <= d; k += 2 {
			x := int(reach[at(k-1)]) + 1
			if k == -d || k != d && reach[at(k-1)] < reach[at(k+1)] {
				x = int(reach[at(k+1)])
			}
			if d == 0 {
				x = 0
			}
			for x < n && x-k < m && x-k >= 0 && equal(x, x-k) {
				x++
			}
			reach[at(k)] = int32(x)
			if k == n-m && x >= n {
				return trace(rows, n, m), true
			}
		}
	}
	return nil, false
}

// trace follows the rows from the end back to the beginning.
func trace(rows [][]int32, n, m int) []pair {
	var out []pair
	x, y := n, m
	for d := len(rows) - 1; d > 0; d-- {
		// Row d holds the diagonals from -d-1 to d+1.
		row := func(k int) int { return int(rows[d][k+d+1]) }
		k := x - y
		before := k - 1
		if k == -d || k != d && row(k-1) < row(k+1) {
			before = k + 1
		}

		fromX := row(before)
		fromY := fromX - before
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			out = append(out, pair{x, y})
		}
		if before == k+1 {
			y--
			out = append(out, pair{-1, y})
		} else {
			x--
			out = append(out, pair{x, -1})
		}
	}
	for ; x > 0 && y > 0; x, y = x-1, y-1 {
		out = append(out, pair{x - 1, y - 1})
	}

	// The pairs were found from the last to the first.
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// greedy pairs each element of the first list with the next equal one of the second.
func greedy[K comparable](n, m int, a, b func(i int) K) (out []pair) {
	places := map[K][]int{}
	for j := range m {
		places[b(j)] = append(places[b(j)], j)
	}

	next := 0
	for i := range n {
		key := a(i)
		for len(places[key]) > 0 && places[key][0] < next {
			places[key] = places[key][1:]
		}
		if len(places[key]) == 0 {
			out = append(out, pair{i, -1})
			continue
		}
		// All of the second list before the place has no partner.
		for ; next < places[key][0]; next++ {
			out = append(out, pair{-1, next})
		}
		out = append(out, pair{i, next})
		next++
	}
	for ; next < m; next++ {
		out = append(out, pair{-1, next})
	}
	return out
}
