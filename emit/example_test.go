package emit_test

import (
	"fmt"
	"log"
	"os"

	"symkit/emit"
)

func ExampleWriter() {
	w := emit.NewWriter(os.Stdout)
	w.Record(&emit.Module{OS: "Linux", Arch: "x86_64", ID: "4C1A775C92125729AF14EED671BEBE010", Name: "app"})
	w.Record(&emit.File{Num: 0, Name: []byte("/src/main.c")})
	w.Record(&emit.Func{Addr: 0x1139, Size: 0x20, Name: []byte("main")})
	w.Record(&emit.Line{Addr: 0x1139, Size: 0x20, Line: 3, File: 0})
	w.Record(&emit.StackCFIInit{Addr: 0x1139, Size: 0x20, Rules: []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")})
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// MODULE Linux x86_64 4C1A775C92125729AF14EED671BEBE010 app
	// FILE 0 /src/main.c
	// FUNC 1139 20 0 main
	// 1139 20 3 0
	// STACK CFI INIT 1139 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
}

func ExampleReader_Records() {
	text := []byte("MODULE Linux x86_64 0 app\nFUNC 1139 20 0 main\nFUNC 1160 0x20 0 f\n")
	for rec, err := range emit.NewReader(text).Records() {
		if err != nil {
			fmt.Println("app.sym:", err)
			continue
		}
		switch rec := rec.(type) {
		case *emit.Module:
			fmt.Println(rec.Name)
		case *emit.Func:
			fmt.Printf("%s at %#x, %d bytes\n", rec.Name, rec.Addr, rec.Size)
		}
	}
	// Output:
	// app
	// main at 0x1139, 32 bytes
	// app.sym: symbols+0x39: line 3: malformed number
}

// An address is looked up: the function, the calls inlined there, and the unwind rules.
func ExampleIndex_Symbol() {
	index := emit.NewIndex([]byte(`MODULE Linux x86_64 4C1A775C92125729AF14EED671BEBE010 app
FILE 0 /src/main.c
INLINE_ORIGIN 0 square
FUNC 1050 1e 0 main
INLINE 0 7 0 0 1050 3
1050 3 3 0
1053 1b 7 0
STACK CFI INIT 1050 1e .cfa: $rsp 8 + .ra: .cfa -8 + ^
`))
	s, ok := index.Symbol(0x1051)
	if !ok {
		fmt.Println("no symbol")
		return
	}
	for _, c := range s.Calls { // the innermost first
		fmt.Printf("%s at %s:%d\n", c.Func, c.File, c.Line)
	}
	_, rules, _ := index.CFI(0x1051, nil)
	for _, r := range rules {
		fmt.Printf("%s is %s\n", r.Reg, r.Expr)
	}
	// Output:
	// square at /src/main.c:3
	// main at /src/main.c:7
	// .cfa is $rsp 8 +
	// .ra is .cfa -8 + ^
}
