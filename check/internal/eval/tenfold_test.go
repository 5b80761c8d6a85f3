package eval

import (
	"slices"
	"testing"
)

// TestTenfold: expressions and rules with ten times the operations and operands of any in
// the corpus are evaluated; those with as many as there can be are refused.
func TestTenfold(t *testing.T) {
	const operations, operands = 10 * 8, 10 * 3
	m := newMachine(x86_64(t), 1, false)
	long := slices.Concat([]byte{dwLit0}, slices.Repeat([]byte{dwPlusUconst, 2}, operations-1))
	deep := slices.Concat(slices.Repeat([]byte{dwLit0 + 1}, operands), slices.Repeat([]byte{dwPlus}, operands-1))
	for _, test := range []struct {
		expr []byte
		want uint64
		err  error
	}{
		{long, 2 * (operations - 1), nil},
		{deep, operands, nil},
		{slices.Repeat(long, 1000), 0, errExpr},
		{slices.Repeat(deep[:operands], 1000), 0, errExpr},
	} {
		got, err := m.expression(test.expr)
		if got != test.want || err != test.err {
			t.Errorf("%d bytes: %d, %v; want %d, %v", len(test.expr), got, err, test.want, test.err)
		}
	}
}
