package check

// coverage tells how much of the code each class of records covers. Without an
// ELF file the code is what FUNC records cover.
func (s *symFile) coverage(code ranges) []Coverage {
	funcs := s.funcRanges(0)
	if code == nil {
		code = funcs
	}
	lines := make(ranges, 0, len(s.lines))
	for i := range s.lines {
		if l := &s.lines[i]; l.line > 0 { // line 0 tells nothing
			if n := len(lines) - 1; n >= 0 && lines[n].hi == l.addr {
				lines[n].hi = l.end()
			} else {
				lines = append(lines, addrRange{l.addr, l.end()})
			}
		}
	}
	inlines := make(ranges, 0, len(s.ranges))
	for i := range s.inlines {
		if in := &s.inlines[i]; in.depth == 0 { // the others lie inside of them
			for _, x := range s.ranges[in.ranges.from:in.ranges.to] {
				inlines = append(inlines, addrRange{x.Addr, x.Addr + uint64(x.Size)})
			}
		}
	}
	inits := make(ranges, 0, len(s.inits))
	for i := range s.inits {
		inits = append(inits, addrRange{s.inits[i].addr, s.inits[i].end})
	}
	var all []Coverage
	for _, class := range []struct {
		name string
		r    ranges
	}{{"functions", funcs}, {"lines", union(lines)}, {"inlines", union(inlines)}, {"cfi", union(inits)}} {
		all = append(all, Coverage{class.name, code.size(), within(code, class.r)})
	}
	return all
}
