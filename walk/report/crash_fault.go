package report

import (
	"fmt"
	"strings"

	"symkit/internal/quantity"
	"symkit/walk"
)

// Limits of the page's description of the fault's address.
const (
	nearNull   = 64 << 10  // no system maps memory below
	nearRegion = 128 << 10 // the distance at which a region is named: more than a guard page
)

// fault describes where the address of the fault is: in a region, beside one, near null, or in a
// mapping without a name. The result is empty if the crash has no address.
func (b *pageBuilder) fault(regions []region) string {
	c := &b.r.Process.Crash
	if !c.HasAddress {
		return ""
	}

	at := fmt.Sprintf("%#x is ", c.Address)
	access := mayBe(b.r.Process.MappingAt(c.Address))
	best, distance := -1, uint64(nearRegion)
	for i, r := range regions {
		if r.lo <= c.Address && c.Address < r.hi && r.kind == "stack" && access == "" && len(b.r.Process.Mappings) > 0 {
			return at + "in " + the(r) + ", where no memory is mapped: an overflow of the stack"
		}
		if r.lo <= c.Address && c.Address < r.hi {
			return at + fmt.Sprintf("in %s, %#x bytes from the beginning", the(r), c.Address-r.lo) + access
		}

		// One of the differences wraps around and is large. The byte after the end is at distance 1.
		if d := min(r.lo-c.Address, c.Address-(r.hi-1)); d < distance {
			best, distance = i, d
		}
	}

	switch {
	case access != "":
		m := b.r.Process.MappingAt(c.Address)
		return at + "in a mapping of " + quantity.Bytes(m.End-m.Begin) + " that belongs to no module" + access
	case c.Address < nearNull:
		return at + "near 0: a null pointer, or a member of what a null pointer points to"
	case best < 0:
		return at + "in no module and in no stack of the dump"
	case regions[best].lo > c.Address && regions[best].kind == "stack":
		return at + quantity.Count(distance, "byte", "bytes") + " below " + the(regions[best]) + ": an overflow of the stack, if that thread crashed"
	case regions[best].lo > c.Address:
		return at + quantity.Count(distance, "byte", "bytes") + " below " + the(regions[best])
	}
	return at + quantity.Count(distance, "byte", "bytes") + " above the end of " + the(regions[best])
}

// mayBe returns the permissions of a mapping in words, or "" without a mapping.
func mayBe(m *walk.Mapping) string {
	if m == nil {
		return ""
	}
	var may []string
	for _, a := range []struct {
		allowed bool
		word    string
	}{{m.Read, "read"}, {m.Write, "written"}, {m.Execute, "executed"}} {
		if a.allowed {
			may = append(may, a.word)
		}
	}
	if len(may) == 0 {
		return "; the memory may not be accessed"
	}
	return "; the memory may be " + strings.Join(may, " and ")
}

// the returns the name of a region for a sentence.
func the(r region) string {
	if r.kind == "stack" {
		return "the " + r.name
	}
	return r.name
}
