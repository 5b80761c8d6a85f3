package planted

import (
	"fmt"
	"slices"
	"strings"
)

// module returns the words of the MODULE record: OS, CPU, id, name.
func (f *file) module() []string { return strings.SplitN(f.head[0], " ", 5)[1:] }

func (f *file) setModule(words []string) string {
	f.head[0] = "MODULE " + strings.Join(words, " ")
	return f.head[0]
}

func anotherCPU(f *file) string {
	m := f.module()
	if m[1] == "arm64" {
		m[1] = "x86_64"
	} else {
		m[1] = "arm64"
	}
	return f.setModule(m)
}

func anotherID(f *file) string {
	m := f.module()
	at := f.random.IntN(min(32, len(m[2])))
	digit := "0"
	if m[2][at] == '0' {
		digit = "1"
	}
	m[2] = m[2][:at] + digit + m[2][at+1:]
	return f.setModule(m)
}

func anotherName(f *file) string {
	m := f.module()
	m[3] = "lib" + m[3]
	return f.setModule(m)
}

// anotherBuild moves all code from a function on, as a few more instructions do.
func anotherBuild(f *file) string {
	if len(f.funcs) < 2 {
		return ""
	}
	from := f.funcs[f.random.IntN(len(f.funcs)-1)+1].addr
	by := 16 * (1 + f.random.Uint64N(8))
	for _, fn := range f.funcs {
		if fn.addr >= from {
			fn.move(by)
		}
	}
	for i, p := range f.others {
		addr, rest := public(p)
		if addr >= from {
			f.others[i] = join(p, addr+by, rest)
		}
	}
	for _, e := range f.rules {
		if e.addr < from {
			continue
		}
		e.addr += by
		for i := range e.deltas {
			e.deltas[i].addr += by
		}
	}
	f.noSizes()
	return fmt.Sprintf("code from %#x on is %d bytes higher", from, by)
}

// public returns the address of a PUBLIC record and the rest.
func public(line string) (addr uint64, rest string) {
	n, rest := number(strings.TrimPrefix(line, "m "))
	return hex(n), rest
}

// join returns a PUBLIC record like line with another address and rest.
func join(line string, addr uint64, rest string) string {
	text := fmt.Sprintf("%x %s", addr, rest)
	if strings.HasPrefix(line, "m ") {
		return "m " + text
	}
	return text
}

// noSizes removes the sizes of PUBLIC records, which would not be those of the records any more. A right file need not have
// them.
func (f *file) noSizes() {
	f.head = slices.DeleteFunc(f.head, func(s string) bool { return strings.HasPrefix(s, "INFO PUBLIC_SIZES") })
}

// publicsOfData adds the address of data, which follows the code.
func publicsOfData(f *file) string {
	end := uint64(0)
	for _, fn := range f.funcs {
		end = max(end, fn.addr+fn.size)
	}
	for _, e := range f.rules {
		end = max(end, e.addr+e.size)
	}
	for _, p := range f.others {
		addr, _ := public(p)
		end = max(end, addr)
	}
	const page = 0x1000
	addr := (end+2*page)&^(page-1) + 32*f.random.Uint64N(100)
	f.others = append(f.others, fmt.Sprintf("%x 0 table", addr))
	f.noSizes()
	return fmt.Sprintf("PUBLIC at %#x", addr)
}

func publicsLost(f *file) string {
	if len(f.others) == 0 {
		return ""
	}
	i := f.random.IntN(len(f.others))
	lost := f.others[i]
	f.others = slices.Delete(f.others, i, i+1)
	f.noSizes()
	return "PUBLIC " + lost + " lost"
}

func publicsMoved(f *file) string {
	at, ok := pick(f, indices(len(f.others)), func(i int) bool {
		if i+1 == len(f.others) {
			return true
		}
		a, _ := public(f.others[i])
		b, _ := public(f.others[i+1])
		return b-a > 4
	})
	if !ok {
		return ""
	}
	addr, rest := public(f.others[at])
	f.others[at] = join(f.others[at], addr+4, rest)
	f.noSizes()
	return "PUBLIC " + f.others[at]
}

func publicsRenamed(f *file) string {
	if len(f.others) == 0 {
		return ""
	}
	i := f.random.IntN(len(f.others))
	f.others[i] += "_old"
	return "PUBLIC " + f.others[i]
}

func endCut(f *file) string {
	text := f.text()
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	if len(lines) < 8 {
		return ""
	}
	keep := len(lines)/4 + f.random.IntN(len(lines)-len(lines)/4)
	if strings.HasPrefix(lines[keep], "STACK") && !strings.HasPrefix(lines[keep-1], "STACK") {
		keep++ // a file without any rules is not wrong: dump_syms leaves them out on request
	}
	*f = *parse([]byte(strings.Join(lines[:keep], "")), f.random)
	return fmt.Sprintf("the last %d lines lost", len(lines)-keep)
}
