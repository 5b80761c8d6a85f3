package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory on the command line: a number, with K, M, G or
// T for powers of 1024; B or iB may follow.
type Bytes int64

var errBytes = errors.New("want a number of bytes, such as 512M or 4G")

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	// B and iB mean the same, as in 512MiB.
	s := strings.ToUpper(string(text))
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "I")
	shift := 0
	if i := strings.IndexAny(s, "KMGT"); i >= 0 && i == len(s)-1 {
		shift = 10 * (1 + strings.IndexByte("KMGT", s[i]))
		s = s[:i]
	}

	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n == 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%w: %q", errBytes, text)
	}
	*b = Bytes(n << shift)
	return nil
}
