package main

import (
	"fmt"
	"strings"
)

// symbolShapes are of records of symbol files, without an ELF file. symcheck lints them, or compares two of them.
var symbolShapes = []shape{
	{"FUNCs and lines", 500_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			for i := range n {
				fmt.Fprintf(b, "FUNC %x 10 0 function_%d\n%x 8 %d 0\n%x 8 %d 0\n", 16*i, i, 16*i, i+1, 16*i+8, i+2)
			}
		})
	}},
	{"FUNCs of one address", 500_000, func(n int) input {
		return symbols(1, func(b *strings.Builder) {
			for i := range n {
				fmt.Fprintf(b, "FUNC 0 10 0 function_%d\n0 10 %d 0\n", i, i+1)
			}
		})
	}},
	{"FUNCs in each other", 200_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			for i := range n {
				fmt.Fprintf(b, "FUNC %x %x 0 function_%d\n%x 8 %d 0\n", 16*i, 16*(n-i), i, 16*i, i+1)
			}
		})
	}},
	{"PUBLICs of one address", 1_000_000, func(n int) input {
		return symbols(1, func(b *strings.Builder) {
			for i := range n {
				fmt.Fprintf(b, "PUBLIC 0 0 function_%d\n", i)
			}
		})
	}},
	{"FILEs, INLINE_ORIGINs", 500_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			for i := range n {
				fmt.Fprintf(b, "FILE %d /src/file%d.c\n", 3*i+1, i)
			}
			for i := range n {
				fmt.Fprintf(b, "INLINE_ORIGIN %d inlined_%d\n", 3*i, i)
			}
			for i := range n {
				fmt.Fprintf(b, "FUNC %x 10 0 f\nINLINE 0 %d %d %d %x 8\n%x 10 1 %d\n", 16*i, i+1, 3*i+1, 3*i, 16*i, 16*i, 3*i+1)
			}
		})
	}},
	{"INLINEs of a FUNC", 250_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			fmt.Fprintf(b, "INLINE_ORIGIN 0 inlined\nFUNC 0 %x 0 f\n", 16*n)
			for i := range n {
				fmt.Fprintf(b, "INLINE 0 %d 0 0 %x 8\n", i+1, 16*i)
			}
			fmt.Fprintf(b, "0 %x 1 0\n", 16*n)
		})
	}},
	{"ranges of an INLINE", 500_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			fmt.Fprintf(b, "INLINE_ORIGIN 0 inlined\nFUNC 0 %x 0 f\nINLINE 0 1 0 0", 16*n)
			for i := range n {
				fmt.Fprintf(b, " %x 8", 16*i)
			}
			fmt.Fprintf(b, "\n0 %x 1 0\n", 16*n)
		})
	}},
	{"rows of a STACK CFI", 500_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			fmt.Fprintf(b, "FUNC 0 %x 0 f\nSTACK CFI INIT 0 %x .cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^\n", 16*n, 16*n)
			for i := range n - 1 {
				fmt.Fprintf(b, "STACK CFI %x $rbx: .cfa %d + ^\n", 16*i+16, i)
			}
		})
	}},
	{"STACK CFI INITs", 500_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			fmt.Fprintf(b, "FUNC 0 %x 0 f\n", 16*n)
			for i := range n {
				fmt.Fprintf(b, "STACK CFI INIT %x 10 .cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^\n", 16*i)
			}
		})
	}},
	{"STACK WINs", 200_000, func(n int) input {
		return symbols(n, func(b *strings.Builder) {
			fmt.Fprintf(b, "FUNC 0 %x 0 f\n", 16*n)
			for i := range n {
				fmt.Fprintf(b, "STACK WIN 4 %x 10 0 0 0 0 %x 0 1 $T0 $ebp = $eip $T0 4 + ^ = $esp $T0 8 + =\n", 16*i, i)
			}
		})
	}},
	{"MiB of a name, in 64ths", 4_096, func(n int) input {
		return symbols(1, func(b *strings.Builder) {
			fmt.Fprintf(b, "FUNC 0 10 0 %s\n0 10 1 0\n", strings.Repeat("n", 1<<14*n))
		})
	}},
	{"functions of one name that moved", 200_000, moved},
	{"lines at one address", 500_000, func(n int) input {
		return symbols(1, func(b *strings.Builder) {
			b.WriteString("FUNC 0 10 0 f\n")
			for i := range n {
				fmt.Fprintf(b, "0 10 %d 0\n", i+1)
			}
		})
	}},
	{"STACK CFI INITs of one address", 500_000, func(n int) input {
		return symbols(1, func(b *strings.Builder) {
			b.WriteString("FUNC 0 10 0 f\n")
			for i := range n {
				fmt.Fprintf(b, "STACK CFI INIT 0 10 .cfa: $rsp %d + .ra: .cfa 8 - ^\n", i)
			}
		})
	}},
	{"functions that changed", 500_000, func(n int) input {
		in := symbols(n, func(b *strings.Builder) {
			for i := range n {
				fmt.Fprintf(b, "FUNC %x 10 0 function_%d\n%x 10 %d 0\n", 16*i, i, 16*i, i+1)
			}
		})
		// All have moved, and one in eight has another name.
		in.changed = []byte(strings.NewReplacer("\nFUNC ", "\nFUNC 1", "7\n", "7_\n").Replace(string(in.symbols)))
		in.crash, in.places = nil, nil
		return in
	}},
}

// symbols returns a symbol file of code for n functions, and a process in its functions.
func symbols(n int, records func(*strings.Builder)) input {
	m, _ := moduleOf(moduleName, imageNumber, codeAddr, uint32(functionSize*n))
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s %s\nFILE 0 /src/a.c\n", symbolID(m), moduleName)
	records(&b)
	in := input{symbols: []byte(b.String())}
	for i := 0; i < n; i += max(8, n/65_536) {
		in.places = append(in.places, functionSize*uint64(i)+8)
	}
	return in
}

// moved returns a symbol file of functions of one name, and one in which each is elsewhere and has other lines and rules.
func moved(n int) input {
	file := func(by, line int) []byte {
		return symbols(n, func(b *strings.Builder) {
			fmt.Fprintf(b, "INLINE_ORIGIN 0 inlined\n")
			for i := range n {
				a := 16*i + by
				fmt.Fprintf(b, "FUNC %x 10 0 f\nINLINE 0 %d 0 0 %x 8\n%x 8 %d 0\n%x 8 %d 0\n", a, i+line, a, a, i+line, a+8, i+line+1)
			}
			for i := range n {
				fmt.Fprintf(b, "STACK CFI INIT %x 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI %x .cfa: $rsp %d +\n", 16*i+by, 16*i+by+4, 8*(i%1000+line))
			}
		}).symbols
	}
	return input{symbols: file(0, 1), changed: file(0x100000, 2)}
}
