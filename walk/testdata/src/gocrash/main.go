// Command gocrash dereferences a nil pointer on a goroutine. Run it with
// GOTRACEBACK=crash.
package main

import "sync"

type node struct {
	next *node
	v    int
}

//go:noinline
func sum(n *node, depth int) int {
	if depth == 0 {
		return n.next.v
	}
	s := sum(n, depth-1)
	return s + depth
}

func main() {
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		println(sum(&node{}, 5))
		wait.Done() // not deferred: main would return before the panic ends the program
	}()
	wait.Wait()
}
