package limits_test

import (
	"context"
	"errors"
	"fmt"

	"symkit/dump"
	"symkit/elfx/companion"
	"symkit/limits"
)

// Example dumps a program that may have a few names only. Other calls keep their limits.
func Example() {
	tight, err := limits.Parse("names=8,inflate-ratio=50%")
	if err != nil {
		fmt.Println(err)
		return
	}
	program, _, err := companion.Open(context.Background(), []string{"../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf"}, companion.Search{Limits: tight})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()

	// What is above a limit is lost, and the rest is there.
	for _, l := range []limits.Limits{tight, {}} {
		m, err := dump.Dump(context.Background(), program.Image, dump.Options{Inlines: true, Limits: l})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Stats.LossCount, errors.Is(errors.Join(m.Stats.Losses...), limits.ErrExceeded))
	}
	// Output:
	// 3 true
	// 0 false
}
