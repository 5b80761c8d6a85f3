package dwarfx

// Inlined calls are the most frequent DIEs that the scan wants, and most of their
// abbreviations have attributes of fixed size only. Such an abbreviation gets a
// callForm: the offset of each wanted attribute. A call is then read by a load and a
// mask for each attribute, without running ops. Other calls are read by
// inline, from the values that step has read; both give the same result.

// call reads the inlined call at pos, whose attributes begin at next, as visit does.
// It returns false if step must read the call.
func (x *scanner) call(f *callForm, next int) bool {
	if next > len(x.data)-8-int(f.size) {
		return false
	}

	// Every field is read as 8 bytes, hence the 8 above.
	attrs := x.data[next:]
	off := f.origin.in(attrs)
	origin, depth := Ref(x.u.Off+off), x.depth
	if off >= x.u.End-x.u.Off || origin == 0 {
		return false
	}

	var ranges Span
	if f.ranges.form != 0 {
		ranges = x.rangeList(value{f.ranges.in(attrs), f.ranges.form})
	} else {
		lo := f.low.in(attrs)
		ranges.From = uint32(len(x.s.Ranges))
		x.s.Ranges = x.d.appendRange(x.s.Ranges, lo, lo+f.high.in(attrs))
		ranges.To = uint32(len(x.s.Ranges))
	}

	// A call without code may have children. It is recorded if the scan is to be full.
	if ranges.From != ranges.To || x.s.Full {
		file := NoFile
		if f.file.form != 0 {
			file = min(clip32(f.file.in(attrs)), NoFile-1)
		}
		x.addCall(origin, file, clip32(f.line.in(attrs)), ranges)
		if x.s.Full {
			x.s.Places = append(grown(x.s.Places), Place{clip32(f.column.in(attrs)), clip32(f.discr.in(attrs))})
		}
		depth++
	}

	if f.children {
		x.enter(x.fn, depth, int(x.u.Off)+x.pos)
	}
	x.pos = next + int(f.size)
	return true
}

// inline adds the inlined call just read. Unless the scan is to be full, it returns false for a
// call without code or without an origin: gcc writes both.
func (x *scanner) inline() bool {
	origin := x.origin()
	if origin == 0 && !x.s.Full {
		return false
	}
	ranges := x.ranges()
	if ranges.From == ranges.To && !x.s.Full {
		return false
	}

	file := NoFile
	if v := x.vals[slotCallFile]; v.form != 0 {
		file = min(clip32(v.v), NoFile-1)
	}
	x.addCall(origin, file, clip32(x.vals[slotCallLine].v), ranges)
	if x.s.Full {
		x.s.Places = append(x.s.Places, Place{clip32(x.vals[slotCallColumn].v), clip32(x.vals[slotDiscriminator].v)})
	}
	return true
}

// addCall adds an inlined call.
func (x *scanner) addCall(origin Ref, file, line uint32, ranges Span) {
	s := x.s
	n := len(s.Inlines)
	if last := len(s.runs) - 1; last < 0 || s.runs[last].fn != uint32(x.fn) {
		s.runs = append(s.runs, callRun{fn: uint32(x.fn), calls: Span{From: uint32(n)}})
	}
	list := grown(s.Inlines)[:n+1]

	// The element is filled in place: a processor stalls if large loads copy bytes that small
	// stores have just written.
	in := &list[n]
	known := len(s.refs.list)
	in.Origin, in.Depth, in.CallFile, in.CallLine = s.refs.index(origin), x.depth, file, line
	x.pay(callMemory + originMemory*(len(s.refs.list)-known))
	in.Ranges.From, in.Ranges.To = ranges.From, ranges.To
	s.Inlines = list
}
