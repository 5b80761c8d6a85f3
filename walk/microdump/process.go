package microdump

import (
	"cmp"
	"fmt"
	"strings"

	"symkit/internal/quantity"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// Process returns the crashed process of a microdump, ready to be walked: its one thread,
// the stack of that thread, and the modules. The process's Warnings list the lost parts.
func (d *Dump) Process() *walk.Process {
	p := &walk.Process{
		OS: "Linux", OSVersion: d.Version, CPU: cmp.Or(d.CPU, "unknown"), Args: d.Type, Memory: d, Threads: make([]walk.Thread, 1),
		Crash: walk.Crash{Reason: d.Reason, Signal: d.Signal, Address: d.Address, HasAddress: d.Crashed, Unnamed: d.Reason == ""},
		Facts: walk.Facts{CPUs: d.CPUs, GL: d.GL, GPU: strings.Join(named(d.GL), ", ")},
	}
	if d.Android {
		p.OS = "Android"
	}

	for _, l := range d.Losses {
		p.Warnings = append(p.Warnings, l.Error())
	}
	if d.Lost > len(d.Losses) {
		p.Warnings = append(p.Warnings, quantity.Number(d.Lost-len(d.Losses))+" more records are damaged")
	}

	// The log has no number of the thread.
	t := &p.Threads[0]
	regs, err := mdmp.ContextOf(d.CPU, false, d.Context)
	t.Regs, t.NoRegs = regs, err != nil
	if err != nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("registers: %v", err))
	}

	for i := range d.Modules {
		m := &d.Modules[i]
		p.Modules = append(p.Modules, &walk.Module{
			Path: m.Name, Name: m.Name, DebugFile: m.Name, DebugID: m.ID, Base: m.Base, End: m.Base + m.Size, Size: m.Size, Bias: m.Base, Order: i, Foreign: true,
		})
	}
	p.SortModules()
	return p
}

// named returns the texts that are not empty.
func named(texts []string) (out []string) {
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
