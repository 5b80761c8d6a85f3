package limits

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Variable is the environment variable that changes the limits of the programs. Its
// form is that of Parse.
const Variable = "SYMKIT_LIMITS"

// FromEnv makes the limits in Variable the process-wide default. It is for the start of a
// program: symkit's own programs call it, and nothing else reads the variable.
func FromEnv() error {
	l, err := Parse(os.Getenv(Variable))
	if err != nil {
		return fmt.Errorf("%s: %w", Variable, err)
	}
	SetDefault(l)
	return nil
}

// Parse returns the limits in text, NAME=NUMBER,…, and symkit's own values for all other
// limits. A number may end in K, M or G (powers of 1024), or in %, which is relative to
// the limit's own value. The name "all" means every limit.
func Parse(text string) (Limits, error) {
	values := builtIn()
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}

		name, value, ok := strings.Cut(entry, "=")
		chosen := byName(name)
		if !ok {
			return Limits{}, fmt.Errorf("%q: want NAME=NUMBER, where NAME is all or one of %s", entry, strings.Join(names(), ", "))
		}
		if chosen == nil {
			return Limits{}, fmt.Errorf("%q: there is no limit %q; %s", entry, name, instead(name))
		}

		value, relative := strings.CutSuffix(value, "%")
		n, err := number(value)
		if err != nil {
			return Limits{}, fmt.Errorf("%q: %w", entry, err)
		}

		// A number replaces the limit for inputs of any size.
		for _, x := range chosen {
			if relative {
				values[x].percent = n
			} else {
				values[x] = bound{base: n}
			}
		}
	}
	return Limits{values}, nil
}

// byName returns the indices in about of the limits that a name means, or nil if there is none.
func byName(name string) (chosen []int) {
	for i := range about {
		if about[i].name == name || name == "all" {
			chosen = append(chosen, i)
		}
	}
	return chosen
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
	for i := range about {
		list = append(list, about[i].name)
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
