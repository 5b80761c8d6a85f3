package gate

import (
	"context"
	"fmt"
	"slices"

	"symkit/check/lint"
	"symkit/check/report"
)

// compare says which of two symbol files of a module is better: the order is above 0 if a is. why is a sentence.
func compare(_ context.Context, a, b []byte) (order int, why string, err error) {
	ra, err := lint.File(a, report.Options{})
	if err != nil {
		return -1, "", err
	}
	rb, err := lint.File(b, report.Options{})
	if err != nil {
		return 1, "the file in the store cannot be read", nil
	}
	for i, class := range ra.Coverage {
		k := slices.IndexFunc(rb.Coverage, func(c report.Coverage) bool { return c.Class == class.Class })
		if k < 0 || ra.Coverage[i].Covered == rb.Coverage[k].Covered {
			continue
		}
		if ra.Coverage[i].Covered > rb.Coverage[k].Covered {
			return 1, fmt.Sprintf("the file covers more code with %s than the one in the store", class.Class), nil
		}
		return -1, fmt.Sprintf("the file covers less code with %s than the one in the store", class.Class), nil
	}
	return 0, "the file in the store is as good, and stays", nil
}
