// Package limits bounds the cost of one input, so that a hostile file cannot exhaust the
// machine. Every limit has a name and a value far above the needs of real files.
//
// A Limits value is an option of the calls that read files: of dump, check, walk and the
// packages that they are made of. Calls with different limits can run at one time.
//
//	tight, err := limits.Parse("names=64M,inflate-ratio=50")
//	if err != nil {
//		return err
//	}
//	m, err := dump.Dump(ctx, img, dump.Options{Limits: tight})
//	if err != nil {
//		return err
//	}
//	if errors.Is(errors.Join(m.Stats.Losses...), limits.ErrExceeded) {
//		// A part of the file is above a limit.
//	}
//
// The zero Limits is the process-wide default: symkit's own values, unless SetDefault or
// FromEnv has changed them. Bounds that follow from a format, such as the sizes of its
// fields, are not limits. docs/robustness.md lists all limits.
package limits

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"sync/atomic"
)

// ErrExceeded: an input needs more than a limit allows.
var ErrExceeded = errors.New("above a limit")

// Limits has a value for every limit. Limits are named by the strings that SYMKIT_LIMITS has, such as
// "names"; a method panics for any other string. A Limits is small and does not change; the zero Limits
// is the process-wide default.
type Limits struct{ values *table }

type table [len(about)]bound

// bound is the value of a limit.
type bound struct {
	base    uint64 // allowed for any input
	perByte uint64 // allowed in addition for each byte of the input
	percent uint64 // of the sum; 0 means 100
}

// byDefault is the process-wide default.
var byDefault atomic.Pointer[table]

func init() { byDefault.Store(builtIn()) }

// builtIn returns the values that no one has changed.
func builtIn() *table {
	values := new(table)
	for i := range about {
		values[i] = about[i].bound
	}
	return values
}

// SetDefault makes l the process-wide default, which every zero Limits means from then
// on. Call SetDefault at the start of a program: a call that runs at the same time can use
// both defaults.
func SetDefault(l Limits) { byDefault.Store(l.table()) }

// table returns the values of l.
func (l Limits) table() *table {
	if l.values == nil {
		return byDefault.Load()
	}
	return l.values
}

// With returns l with another value of one limit for inputs of any size: n, or 1 if n is
// 0, since 0 would refuse every input.
func (l Limits) With(name string, n uint64) Limits {
	values := *l.table()
	values[index(name)] = bound{base: max(n, 1)}
	return Limits{&values}
}

// Max returns the value of the named limit for an input of the given size in bytes.
func (l Limits) Max(name string, size uint64) uint64 { return l.table()[index(name)].max(size) }

// max returns the value of the limit for an input of the given size.
func (b *bound) max(size uint64) uint64 {
	over, more := bits.Mul64(b.perByte, size)
	sum, carry := bits.Add64(b.base, more, 0)
	if over != 0 || carry != 0 {
		return ^uint64(0)
	}

	// A changed limit is at least 1: 0 would refuse every input.
	if b.percent == 0 {
		return sum
	}
	over, more = bits.Mul64(sum, b.percent)
	if over >= 100 {
		return ^uint64(0)
	}
	part, _ := bits.Div64(over, more, 100)
	return max(part, 1)
}

// Int returns Max(name, 0) as an int, for limits that do not depend on the size.
func (l Limits) Int(name string) int { return int(min(l.Max(name, 0), 1<<(strconv.IntSize-1)-1)) }

// Exceeded returns the error for an input that needs more than Max(name, size). It wraps
// ErrExceeded, and its text names the limit and how to change it.
func (l Limits) Exceeded(name string, size uint64) error {
	return fmt.Errorf("%s %w: %s (%s=%s=N changes it)", name, exceeded{l.Max(name, size)}, about[index(name)].what, Variable, name)
}

// exceeded is an ErrExceeded with the bound in its text.
type exceeded struct{ limit uint64 }

func (e exceeded) Error() string        { return fmt.Sprintf("above the limit of %d", e.limit) }
func (e exceeded) Is(target error) bool { return target == ErrExceeded }
