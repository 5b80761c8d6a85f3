package located_test

import (
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/located"
)

// Example asks an error where the damage is.
func Example() {
	_, err := elfx.NewFile("app", []byte("\x7fELF\x02\x01\x01 and no more"))
	fmt.Println(err)
	if damage, ok := errors.AsType[*located.Error](err); ok {
		fmt.Println(damage.Section, damage.Offset, errors.Is(err, located.ErrTruncated))
	}
	// Output:
	// app: ELF header+0x12: truncated
	// ELF header 18 true
}
