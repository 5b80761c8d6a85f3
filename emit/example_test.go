package emit_test

import (
	"fmt"
	"log"
	"os"

	"symkit/emit"
)

func ExampleWriter() {
	w := emit.NewWriter(os.Stdout)
	w.Module(emit.Module{OS: "Linux", Arch: "x86_64", ID: "4C1A775C92125729AF14EED671BEBE010", Name: "app"})
	w.File(emit.File{Num: 0, Name: []byte("/src/main.c")})
	w.Func(emit.Func{Addr: 0x1139, Size: 0x20, Name: []byte("main")})
	w.Line(emit.Line{Addr: 0x1139, Size: 0x20, Line: 3, File: 0})
	w.StackCFIInit(emit.StackCFIInit{Addr: 0x1139, Size: 0x20, Rules: []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")})
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
