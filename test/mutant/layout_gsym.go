package mutant

import "encoding/binary"

// gsymLayout reads the layout of a GSYM file of either version and byte order: its header, its tables and the infos of
// functions. Package gsym describes the format.
func gsymLayout(data []byte) (l Layout, ok bool) {
	if len(data) < 48 {
		return l, false
	}
	switch string(data[:4]) {
	case "MYSG":
		l.Order = binary.LittleEndian
	case "GSYM":
		l.Order = binary.BigEndian
	default:
		return l, false
	}

	m := mutation{Layout: &l, data: data}
	number := func(at, size int) int { return int(m.get(Field{at, size})) }
	width, count := number(6, 1), number(16, 4)
	ref, addrs, infos, files, texts, from := 4, 0, 0, 0, Extent{}, 0
	if number(4, 2) == 1 {
		l.addFields(0, len(data), []int{4, 2, 1, 1, 8, 4, 4, 4})
		addrs = 48
		infos = (addrs + count*width + 3) &^ 3
		files = infos + 4*count
		texts = Extent{number(20, 4), number(24, 4)}
	} else {
		l.addFields(0, len(data), []int{4, 2, 1, 1, 8, 4})
		ref = 8
		at := [7]int{} // of the parts by their kinds
		for entry := 20; entry < len(data); entry += 20 {
			l.addFields(entry, len(data), []int{4, 8, 8})
			kind := number(entry, 4)
			if kind == 0 || kind >= len(at) {
				break
			}
			at[kind] = number(entry+4, 8)
			if kind == 3 {
				texts = Extent{at[kind], number(entry+12, 8)}
			}
		}
		addrs, infos, files, from = at[1], at[2], at[4], at[5]
	}

	if l.addPart(&m, texts) {
		l.Names = append(l.Names, texts)
	}
	l.addPart(&m, Extent{addrs, count * width})
	l.addPart(&m, Extent{infos, count * ref})
	l.addFields(files, len(data), []int{4, ref, ref, ref, ref})
	l.addTable(&m, addrs, min(count, 8), width, []int{width})
	l.addTable(&m, infos, min(count, 8), ref, []int{ref})
	for i := range min(count, 64) {
		l.addInfo(&m, from+number(infos+i*ref, ref), ref)
	}
	return l, true
}

// addInfo adds the info of a function of GSYM: its size and name, and parts with their kinds and sizes.
func (l *Layout) addInfo(m *mutation, at, ref int) {
	l.addFields(at, len(m.data), []int{4, ref})
	at += 4 + ref
	for {
		l.addFields(at, len(m.data), []int{4, 4})
		size := int(m.get(Field{at + 4, 4}))
		if m.get(Field{at, 4}) == 0 || !l.addPart(m, Extent{at + 8, size}) {
			return
		}
		at += 8 + size
	}
}
