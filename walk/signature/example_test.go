package signature_test

import (
	"fmt"

	"symkit/walk"
	"symkit/walk/signature"
)

// Example makes the signature of a walked crash with Socorro's own lists: frames that say
// nothing about the cause are left out.
func Example() {
	p := &walk.Process{OS: "Linux", Threads: []walk.Thread{{ID: 7}}}
	p.Crash.Reason = "SIGSEGV / SEGV_MAPERR"
	result := &walk.Result{Process: p, Stacks: []walk.Stack{{Thread: &p.Threads[0], Frames: []walk.Frame{
		{Place: &walk.Place{Func: "raise"}},
		{Place: &walk.Place{Func: "shop::pay(int, int)", File: "pay.cc", Line: 51}},
		{Place: &walk.Place{Func: "main", File: "main.cc", Line: 7}},
	}}}}

	s, ok := signature.Of(result, nil, nil)
	fmt.Println(s.Text, ok)
	// Output:
	// raise | shop::pay true
}
