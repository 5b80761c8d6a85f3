// The program of the fixtures of Go releases: calls inlined into each other,
// into methods, closures and loops. Imports nothing, and compiles with Go 1.16.
package main

type shape interface{ area() int }

type square struct{ side int }

func (s *square) area() int { return mul(s.side, s.side) }

func mul(a, b int) int { return add(a*b, 0) }

func add(a, b int) int {
	c := a + b
	if c < 0 {
		c = neg(c)
	}
	return c
}

func neg(a int) int { return -a }

//go:noinline
func total(shapes []shape) (n int) {
	for _, s := range shapes {
		n = add(n, s.area())
	}
	return n
}

var depth int

//go:noinline
func crash(n int) int {
	if n > 100 {
		panic("too deep")
	}
	defer func() { depth = add(depth, mul(n, 2)) }()
	return crash(mul(n, 3))
}

//go:noinline
func apply(in []int, f func(int) int) {
	for i := range in {
		in[i] = f(in[i])
	}
}

func main() {
	println(total([]shape{&square{2}, &square{5}}))
	numbers := []int{1, 2, 3}
	apply(numbers, func(n int) int { return mul(n, add(n, 1)) })
	println(numbers[0])
	func() {
		defer func() { println(recover() != nil) }()
		crash(1)
	}()
}
