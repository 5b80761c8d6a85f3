package peers

import (
	"io"
	"testing"
	"time"

	"symkit/walk"
)

// TestBreakpadPointers: a stack pointer far from the stack, as damaged dumps have it, does
// not make the words of the whole address space be looked at.
func TestBreakpadPointers(t *testing.T) {
	thread := &walk.Thread{StackBase: 1 << 63, StackSize: 1<<63 - 1}
	stack := walk.Stack{Thread: thread, Frames: []walk.Frame{{SP: 8}}}
	res := &walk.Result{Process: &walk.Process{CPU: "x86_64", Memory: noMemory{}, Crashed: -1}, Stacks: []walk.Stack{stack}}
	done := make(chan error, 1)
	go func() { done <- Breakpad(io.Discard, res, BreakpadOptions{Thread: -1, Pointers: true}) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the report does not end")
	}
}

// noMemory is the memory of a dump without any.
type noMemory struct{}

func (noMemory) Bytes(uint64, uint64) []byte { return nil }
