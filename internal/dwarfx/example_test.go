package dwarfx_test

import (
	"fmt"

	"symkit/elfx"
	"symkit/internal/dwarfx"
)

// Example reads the functions of a program with their names, lines and inlined calls.
func Example() {
	f, err := elfx.Open("../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()

	// The sections, inflated. A section that the file lacks is nil.
	s := dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize()}
	for name, data := range map[string]*[]byte{
		".debug_info": &s.Info, ".debug_abbrev": &s.Abbrev, ".debug_str": &s.Str, ".debug_line_str": &s.LineStr,
		".debug_line": &s.Line, ".debug_rnglists": &s.RngLists, ".debug_addr": &s.Addr, ".debug_str_offsets": &s.StrOffsets,
	} {
		*data, err = f.SectionData(name)
		if err != nil {
			fmt.Println(err)
			return
		}
	}

	d, errs := dwarfx.Open(s, dwarfx.NewCodeMap(f.ExecRanges()))
	fmt.Println(len(d.Units), "units,", len(errs), "damaged")
	var scan dwarfx.Scan
	var lines dwarfx.LineTable
	var namer dwarfx.Namer
	for _, u := range d.Units {
		if err := d.ScanUnit(u, true, &scan); err != nil {
			fmt.Println(err)
		}
		if err := d.ReadLines(u, &lines); err != nil {
			fmt.Println(err)
		}
		for _, fn := range scan.Funcs {
			naming, err := namer.NameOf(d, fn.DIE)
			if err != nil {
				fmt.Println(err)
				continue
			}
			fmt.Printf("%s at %#x\n", naming.Name, scan.Ranges[fn.Ranges.From].Lo)
			for _, call := range scan.Inlines[fn.Inlines.From:fn.Inlines.To] {
				naming, err := namer.NameOf(d, scan.Origins[call.Origin])
				fmt.Printf("  %s inlined in line %d, %v\n", naming.Name, call.CallLine, err)
			}
		}
		for _, row := range lines.Rows[:2] {
			_, name, _ := lines.File(row.File)
			fmt.Printf("%#x: line %d of %s\n", row.Addr, row.Line, name)
		}
	}
	// Output:
	// 1 units, 0 damaged
	// main at 0x1050
	//   square inlined in line 7, <nil>
	// 0x1050: line 3 of hello.c
	// 0x1053: line 6 of hello.c
}
