// Package limits holds the bounds that keep a hostile file from exhausting the machine.
// Every limit has a name and a value far above what real files need, and can be changed
// by the environment variable SYMKIT_LIMITS. Bounds that follow from a format, such as
// the sizes of its fields, are not limits.
package limits

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
)

// Variable is the environment variable that changes limits: NAME=NUMBER,…. A number may
// end in K, M or G (powers of 1024), or in %, which is relative to the limit's own value.
// The name "all" means every limit.
const Variable = "SYMKIT_LIMITS"

// ErrExceeded: an input needs more than a limit allows.
var ErrExceeded = errors.New("above a limit")

// Limit is one bound.
type Limit struct {
	Name    string
	What    string // what is counted, in words
	Base    uint64 // allowed for any input
	PerByte uint64 // allowed in addition for each byte of the input
	percent uint64 // of the sum; 0 means 100
}

// Max returns how much an input of the given size, in bytes, may take.
func (l *Limit) Max(size uint64) uint64 {
	over, more := bits.Mul64(l.PerByte, size)
	sum, carry := bits.Add64(l.Base, more, 0)
	if over != 0 || carry != 0 {
		return ^uint64(0)
	}

	// A changed limit is at least 1: 0 would refuse every input.
	if l.percent == 0 {
		return sum
	}
	over, more = bits.Mul64(sum, l.percent)
	if over >= 100 {
		return ^uint64(0)
	}
	part, _ := bits.Div64(over, more, 100)
	return max(part, 1)
}

// Int returns Max(0) as an int, for limits that do not depend on the size.
func (l *Limit) Int() int { return int(min(l.Max(0), 1<<(strconv.IntSize-1)-1)) }

// Exceeded returns the error for an input that needs more than Max(size).
func (l *Limit) Exceeded(size uint64) error {
	return fmt.Errorf("%s %w: %s (%s=%s=N changes it)", l.Name, exceeded{l.Max(size)}, l.What, Variable, l.Name)
}

// exceeded is an ErrExceeded with the bound in its text.
type exceeded struct{ limit uint64 }

func (e exceeded) Error() string        { return fmt.Sprintf("above the limit of %d", e.limit) }
func (e exceeded) Is(target error) bool { return target == ErrExceeded }

// FromEnv sets the limits that Variable names. It must be called before any limit is
// used.
func FromEnv() error {
	if err := set(os.Getenv(Variable)); err != nil {
		return fmt.Errorf("%s: %w", Variable, err)
	}
	return nil
}

// set sets the limits that text, in the form of Variable, names.
func set(text string) error {
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}

		name, value, ok := strings.Cut(entry, "=")
		chosen := byName(name)
		if !ok {
			return fmt.Errorf("%q: want NAME=NUMBER, where NAME is all or one of %s", entry, strings.Join(names(), ", "))
		}
		if chosen == nil {
			return fmt.Errorf("%q: there is no limit %q; %s", entry, name, instead(name))
		}

		value, relative := strings.CutSuffix(value, "%")
		n, err := number(value)
		if err != nil {
			return fmt.Errorf("%q: %w", entry, err)
		}

		// A number replaces the limit, whatever the size of the input.
		for _, l := range chosen {
			if relative {
				l.percent = n
			} else {
				l.Base, l.PerByte, l.percent = n, 0, 0
			}
		}
	}
	return nil
}

// byName returns the limits that a name means, or nil if there is none.
func byName(name string) []*Limit {
	if name == "all" {
		return All
	}
	for i, l := range All {
		if l.Name == name {
			return All[i : i+1]
		}
	}
	return nil
}

// instead returns advice about a name that no limit has: the most similar name, if any.
func instead(name string) string {
	best, least := "", 1+len(name)/3 // of changed letters
	for _, known := range append(names(), "all") {
		if d := distance(name, known); d <= least {
			best, least = known, d-1
		}
	}

	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "want all or one of " + strings.Join(names(), ", ")
}

// distance returns how many letters must be inserted, removed or replaced to turn a into
// b (Levenshtein).
func distance(a, b string) int {
	// row[j] is the distance of the letters of a read so far to b[:j].
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func names() (list []string) {
	for _, l := range All {
		list = append(list, l.Name)
	}
	return list
}

// number reads a number of at least 1, with K, M or G at its end or not.
func number(text string) (uint64, error) {
	digits, shift := text, 0
	if at := strings.IndexAny(text, "KMG"); at >= 0 && at == len(text)-1 {
		digits, shift = text[:at], 10*(1+strings.IndexByte("KMG", text[at]))
	}

	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 || n > ^uint64(0)>>shift {
		return 0, errors.New("want a number above 0, as in 64, 64K, 64M or 64G")
	}
	return n << shift, nil
}
