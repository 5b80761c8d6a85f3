package check_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"symkit/check"
	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/companion"
)

// bytesOfFour decodes code as instructions of four bytes.
type bytesOfFour struct{}

func (bytesOfFour) Aligned() uint64 { return 1 }

func (bytesOfFour) Decode(code []byte, addr uint64) (out []report.Instruction) {
	for i := 0; i < len(code); i += 4 {
		out = append(out, report.Instruction{Addr: addr + uint64(i), Bytes: "00", Text: "op"})
	}
	return out
}

// TestMap: the map has the functions of both files, what covers the code, and the code around findings.
func TestMap(t *testing.T) {
	const sym = `MODULE Linux x86_64 672F3E1B0D87F3E5E3697F4C1C0782700 hello
FILE 0 /home/me/hello.c
FUNC 1050 1e 0 main
1050 7 6 0
1057 10 99 0
STACK CFI INIT 1050 1e .cfa: $rsp 8 + .ra: .cfa -8 + ^
`
	program, _, err := companion.Open(t.Context(), []string{"../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf"}, companion.Search{})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()

	opt := check.Options{Names: []string{"hello"}, Options: report.Options{Map: true}, Disassembler: func(*elfx.File) check.Disassembler { return bytesOfFour{} }}
	rep, err := check.File(context.Background(), program.Image, []byte(sym), opt)
	if err != nil {
		t.Fatal(err)
	}
	m := rep.Map
	i := slices.IndexFunc(m.Functions, func(f report.Function) bool { return f.Name == "main" })
	if i < 0 || m.Functions[i].Range != (report.Range{Lo: 0x1050, Hi: 0x106e}) || m.Functions[i].Wrong == 0 || m.Functions[i].Lost == 0 || m.Functions[i].Missing {
		t.Fatalf("functions %+v", m.Functions)
	}
	if f := m.Functions[i]; m.Files[f.File] != "/home/me/hello.c" || !strings.HasSuffix(m.Units[f.Unit], "hello.c") {
		t.Errorf("file %d of %q, unit %d of %q", f.File, m.Files, f.Unit, m.Units)
	}
	for k, want := range []report.Range{{Lo: 0x1050, Hi: 0x106e}, {Lo: 0x1050, Hi: 0x1067}, {}, {Lo: 0x1050, Hi: 0x106e}} {
		if got := m.Covered[k].Ranges; want.Hi > 0 && !slices.Equal(got, []report.Range{want}) || want.Hi == 0 && len(got) > 0 {
			t.Errorf("%s: %+v, want %+v", m.Covered[k].Class, got, want)
		}
	}

	// Coverage and map agree.
	var code uint64
	for _, x := range m.Code {
		code += x.Hi - x.Lo
	}
	if code != rep.Coverage[0].Code || rep.Coverage[0].Covered != 0x1e {
		t.Errorf("%d bytes of code, coverage %+v", code, rep.Coverage[0])
	}

	// The finding's instruction is marked, with the source line of the symbol file.
	k := slices.IndexFunc(rep.Findings, func(f report.Finding) bool { return f.Check == checks.Lines && f.Addr == 0x105b })
	if k < 0 {
		t.Fatalf("findings %+v", rep.Findings)
	}
	here := slices.IndexFunc(rep.Findings[k].Context, func(in report.Instruction) bool { return in.Here })
	if here < 0 || rep.Findings[k].Context[here].Addr != 0x1058 || rep.Findings[k].Context[here].Source != "/home/me/hello.c:99" {
		t.Errorf("context %+v", rep.Findings[k].Context)
	}

	// Without a FUNC, only the ELF file has the function.
	rep, err = check.File(context.Background(), program.Image, []byte(strings.Split(sym, "FUNC")[0]), opt)
	if err != nil {
		t.Fatal(err)
	}
	if f := rep.Map.Functions; len(f) == 0 || !f[0].Missing || f[0].Name != "main" {
		t.Errorf("functions %+v", f)
	}
}
