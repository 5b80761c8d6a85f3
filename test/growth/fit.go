package main

import (
	"fmt"
	"math"
)

// cost is what one program took for one input.
type cost struct {
	Records int
	Seconds float64 // of processors, the least of all runs
	Memory  float64 // the peak, in MiB, the least of all runs
	Steps   float64 // instructions, if they were counted
	Runs    int
	Late    bool // the run was ended at the limit
}

// series has the costs of one program, the first of which is that of a single record.
type series []cost

// What is above these multiples of the cost of a single record counts: below, the start dominates.
const leastTime, leastMemory = 2.0, 0.5

// exponents returns the slopes of log(cost) over log(records) by least squares, for the larger inputs. The cost of a
// single record is subtracted before. 0 means that too few costs are above the start's to tell.
func (s series) exponents() (seconds, memory float64) {
	if len(s) == 0 || s[0].Runs == 0 {
		return 0, 0
	}
	start := s[0]
	return s.slope(func(c cost) float64 { return c.Seconds - start.Seconds }, leastTime*start.Seconds),
		s.slope(func(c cost) float64 { return c.Memory - start.Memory }, leastMemory*start.Memory)
}

// largest is how many of the largest inputs count: a factor of eight.
const largest = 4

// slope returns the slope of the last costs, as long as they are at least least.
func (s series) slope(value func(cost) float64, least float64) float64 {
	var x, y []float64
	for i := len(s) - 1; i > 0 && len(x) < largest; i-- {
		if s[i].Runs == 0 {
			continue
		}
		v := value(s[i])
		if v < least {
			break
		}
		x, y = append(x, math.Log(float64(s[i].Records))), append(y, math.Log(v))
	}
	if len(x) < 3 {
		return 0
	}
	var meanX, meanY, top, bottom float64
	for i := range x {
		meanX, meanY = meanX+x[i]/float64(len(x)), meanY+y[i]/float64(len(x))
	}
	for i := range x {
		top, bottom = top+(x[i]-meanX)*(y[i]-meanY), bottom+(x[i]-meanX)*(x[i]-meanX)
	}
	return top / bottom
}

// cell returns the text of the table: the exponent of time, that of instructions if they were counted, of our programs that
// of memory, and a mark if larger inputs were not tried.
func (s series) cell(seconds, memory float64, own bool) string {
	if len(s) == 0 || s[0].Runs == 0 {
		return ""
	}
	text := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f", v)
	}
	cell := text(seconds)
	steps := s[:len(s)-1].slope(func(c cost) float64 { return c.Steps - s[0].Steps }, 1)
	if steps > 0 {
		cell += " (" + text(steps) + ")"
	}
	if own {
		cell += " " + text(memory)
	}
	for _, c := range s {
		if c.Late {
			return cell + " >"
		}
	}
	return cell
}
