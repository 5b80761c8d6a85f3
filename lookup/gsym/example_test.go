package gsym_test

import (
	"bytes"
	"fmt"

	"symkit/lookup/gsym"
)

func Example() {
	w := gsym.NewWriter([]byte{0x5f, 0x1d}, false)
	file := w.File("/src/hello.c")
	w.Func(&gsym.Func{
		Addr: 0x1130, Size: 0x20, Name: w.String("main"),
		Lines: []gsym.Line{{Addr: 0x1130, File: file, Line: 8}, {Addr: 0x1138, File: file, Line: 3}},
		Calls: []gsym.Call{{Name: w.String("greet"), File: file, Line: 9, Ranges: []gsym.Range{{Lo: 0x1138, Hi: 0x1140}}}},
	})
	var out bytes.Buffer
	_, err := w.WriteTo(&out)
	if err != nil {
		fmt.Println(err)
		return
	}

	f, err := gsym.Open(out.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	fn, frames, err := f.Lookup(nil, 0x113a)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s at %#x of %x\n", fn.Name, fn.Addr, f.UUID)
	for _, frame := range frames {
		fmt.Printf("%s %s:%d\n", frame.Name, frame.AppendPath(nil), frame.Line)
	}
	// Output:
	// main at 0x1130 of 5f1d
	// greet /src/hello.c:3
	// main /src/hello.c:9
}
