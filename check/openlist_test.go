package check

import (
	"testing"
)

func TestOpenList(t *testing.T) {
	l := newOpenList(5)
	for _, test := range []struct{ close, from, want int }{{1, 0, 0}, {1, 1, 2}, {3, 3, 4}, {2, 1, 4}, {0, 0, 4}, {4, 0, 5}, {4, 5, 5}, {4, 9, 5}} {
		l.close(test.close)
		if got := l.next(test.from); got != test.want {
			t.Errorf("after %d was closed, next(%d) = %d, want %d", test.close, test.from, got, test.want)
		}
	}
}
