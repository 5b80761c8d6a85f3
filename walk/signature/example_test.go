package signature_test

import (
	"fmt"

	"symkit/walk/signature"
)

// Example makes the signature of a crash with Socorro's own lists: frames that say nothing
// about the cause are left out.
func Example() {
	s := signature.Make(signature.Included(), &signature.Crash{
		OS: "Linux", Reason: "SIGSEGV / SEGV_MAPERR",
		Threads: []signature.Thread{{Frames: []signature.Frame{
			{Function: "raise", Module: "libc.so.6"},
			{Function: "shop::pay(int, int)", Module: "app", File: "pay.cc", Line: 51},
			{Function: "main", Module: "app", File: "main.cc", Line: 7},
		}}},
	})
	fmt.Println(s.Text)
	// Output:
	// raise | shop::pay
}
