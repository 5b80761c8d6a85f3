package symbolicate

import (
	"strconv"
	"time"
)

// appendDebug appends what Eliot tells if the request has a Debug header: whether modules were open already, and seconds.
func appendDebug(dst []byte, r *request, all time.Duration) []byte {
	var lookups, hits, downloads int
	var waited, opened time.Duration
	var size int64
	for _, m := range r.modules {
		_, asked := m.found()
		if !asked {
			continue
		}
		lookups++
		waited += m.waited
		if !m.asked {
			hits++
			continue
		}
		downloads++
		if m.file != nil {
			opened += m.waited
			size += m.file.Memory()
		}
	}
	dst = strconv.AppendInt(append(dst, `, "debug": {"cache_lookups": {"count": `...), int64(lookups), 10)
	dst = strconv.AppendInt(append(dst, `, "hits": `...), int64(hits), 10)
	dst = appendSeconds(append(dst, `, "time": `...), waited)
	dst = strconv.AppendInt(append(dst, `}, "downloads": {"count": `...), int64(downloads), 10)
	for _, list := range []struct {
		name    string
		has     func(m *module) bool
		appendV func(dst []byte, m *module) []byte
	}{
		{"fail_time_per_module", func(m *module) bool { return m.file == nil }, func(dst []byte, m *module) []byte { return appendSeconds(dst, m.waited) }},
		{"size_per_module", func(m *module) bool { return m.file != nil }, func(dst []byte, m *module) []byte { return strconv.AppendInt(dst, m.file.Memory(), 10) }},
		{"time_per_module", func(m *module) bool { return m.file != nil }, func(dst []byte, m *module) []byte { return appendSeconds(dst, m.waited) }},
	} {
		n := 0
		for _, m := range r.modules {
			if !m.asked || !list.has(m) {
				continue
			}
			if n == 0 {
				dst = append(append(append(dst, `, "`...), list.name...), `": {`...)
			} else {
				dst = append(dst, ", "...)
			}
			n++
			dst = list.appendV(m.appendKey(dst), m)
		}
		if n > 0 {
			dst = append(dst, '}')
		}
	}
	dst = strconv.AppendInt(append(dst, `, "size": `...), size, 10)
	dst = appendSeconds(append(dst, `, "time": `...), opened)
	dst = append(dst, `}, "parse_sym": {"time": 0.0}, "save_symcache": {"time": 0.0}, "modules": {"count": `...)
	return appendCounts(dst, r, all)
}

// appendCounts appends how many jobs asked for each module, and the time of all.
func appendCounts(dst []byte, r *request, all time.Duration) []byte {
	sum := 0
	for _, m := range r.modules {
		m.told = 0
	}
	for i := range r.jobs {
		for _, m := range r.jobs[i].memory {
			_, asked := m.found()
			if asked && m.told != i+1 {
				m.told = i + 1
				m.jobs++
				sum++
			}
		}
	}
	dst = strconv.AppendInt(dst, int64(sum), 10)
	n := 0
	for _, m := range r.modules {
		if m.jobs == 0 {
			continue
		}
		if n == 0 {
			dst = append(dst, `, "stacks_per_module": {`...)
		} else {
			dst = append(dst, ", "...)
		}
		n++
		dst = strconv.AppendInt(m.appendKey(dst), int64(m.jobs), 10)
	}
	if n > 0 {
		dst = append(dst, '}')
	}
	dst = appendSeconds(append(dst, `}, "time": `...), all)
	return append(dst, '}')
}

// appendSeconds appends a duration in seconds.
func appendSeconds(dst []byte, d time.Duration) []byte {
	return strconv.AppendFloat(dst, d.Seconds(), 'f', 9, 64)
}
