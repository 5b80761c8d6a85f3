// A small Go program: generics, closures, methods, inlined calls.
package main

type number interface{ ~int | ~float64 }

type shelf[T number] struct{ prices []T }

//go:noinline
func (s *shelf[T]) add(price T) int {
	s.prices = append(s.prices, price)
	return len(s.prices)
}

func double(n int) int { return n * 2 }

func quadruple(n int) int { return double(double(n)) }

//go:noinline
func apply(f func(int) int, n int) int { return f(n) }

func main() {
	ints, floats := &shelf[int]{}, &shelf[float64]{}
	n := ints.add(3) + floats.add(1.5)
	println(apply(func(m int) int { return quadruple(m) + n }, 5))
}
