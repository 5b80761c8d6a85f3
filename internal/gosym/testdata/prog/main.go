// The program that the tests of gosym build: small, without imports but the
// runtime's, with what makes names, lines and inlined calls interesting. It
// needs nothing newer than Go 1.18.
package main

import "runtime"

type shape interface{ area() int }

type square struct{ side int }

func (s *square) area() int { return mul(s.side, s.side) }

type pair[K comparable, V any] struct {
	key   K
	value V
}

func (p *pair[K, V]) get(k K) (v V, ok bool) {
	if p.key == k {
		return p.value, true
	}
	return v, false
}

func mul(a, b int) int { return add(a*b, 0) }

func add(a, b int) int {
	c := a + b
	if c < 0 {
		c = neg(c)
	}
	return c
}

func neg(a int) int { return -a }

func apply[T any](in []T, f func(T) T) {
	for i := range in {
		in[i] = f(in[i])
	}
}

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

func main() {
	println(total([]shape{&square{2}, &square{len(runtime.GOOS)}}))
	numbers := []int{1, 2, 3}
	apply(numbers, func(n int) int { return mul(n, add(n, 1)) })
	words := []string{"a", "b"}
	apply(words, func(s string) string { return s + "!" })
	p := pair[string, int]{"x", numbers[2]}
	if v, ok := p.get(words[0]); ok {
		println(v)
	}
	func() {
		defer func() { println(recover() != nil) }()
		crash(1)
	}()
}
