package minidump

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// diff lists the lines that only one text has.
func diff(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b strings.Builder
	for _, l := range g {
		if !slices.Contains(w, l) {
			fmt.Fprintf(&b, "+%s\n", l)
		}
	}
	for _, l := range w {
		if !slices.Contains(g, l) {
			fmt.Fprintf(&b, "-%s\n", l)
		}
	}
	return b.String()
}

// machineHead is the head of Breakpad's machine-readable format.
func machineHead(d *Dump) string {
	var b strings.Builder
	s := &d.file.System
	fmt.Fprintf(&b, "OS|%s|%s\nCPU|%s|%s|%d\nGPU|||\n", s.OS, s.Version(), s.CPU, s.CPUInfo(), s.Processors)
	reason, addr, thread := "No crash", "", ""
	if d.file.Exception != nil {
		reason, addr = crashReason(d.file, styleBreakpad), fmt.Sprintf("0x%x", crashAddress(d.file))
	}
	if i := d.file.RequestingThread(); i >= 0 {
		thread = fmt.Sprint(i)
	}
	fmt.Fprintf(&b, "Crash|%s|%s|%s", reason, addr, thread)
	order := make([]int, len(d.file.Modules))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(d.file.Modules[a].Base, d.file.Modules[b].Base) })
	for _, i := range order {
		m := &d.file.Modules[i]
		main := 0
		if i == 0 {
			main = 1
		}
		fmt.Fprintf(&b, "\nModule|%s|%s|%s|%s|0x%08x|0x%08x|%d", leaf(m.Name.String()), m.Version.Dotted(false),
			leaf(m.DebugFile()), d.file.DebugID(m), m.Base, m.End()-1, main)
	}
	return b.String()
}

// leaf is the last part of a path of any system.
func leaf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
