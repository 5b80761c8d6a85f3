package walk

import (
	"errors"
	"strings"

	"symkit/walk/internal/cpu"
)

// bySignal reads the registers that the kernel saved for a handler.
func bySignal(v *view, c *callee) (out cpu.Registers, _ verdict, err error) {
	layout := v.Signal(v.Code(c.PC, 16))
	// A trampoline whose code is not known has a known name.
	if layout == nil && c.Place.FuncAddr == c.PC && restorers[c.Place.Func] {
		layout = v.Handler(strings.Contains(c.Place.Func, "rt"))
	}
	if layout == nil {
		return out, notFound, errors.New("unknown trampoline")
	}

	out, lost, err := v.Load(layout, v.SP(c.regs))
	for _, at := range lost {
		c.loses(v, at)
	}
	if err != nil {
		c.reaches(v, lost[len(lost)-1]+v.WordSize(), true)
		return out, notFound, err
	}
	return out, found, nil
}
