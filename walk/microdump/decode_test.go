package microdump

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/located"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// context is an x86 CONTEXT as text: eip 0x1004 and esp 0x8000.
func context() string {
	data := make([]byte, 716)
	data[184], data[185] = 0x04, 0x10
	data[197] = 0x80
	return strings.ToUpper(hex.EncodeToString(data))
}

// log returns the lines of a microdump with a prefix.
func log(prefix string, records ...string) string {
	var b strings.Builder
	for _, r := range slices.Concat([]string{begin}, records, []string{end}) {
		fmt.Fprintf(&b, "%s%s\r\n", prefix, r)
	}
	return b.String()
}

var records1 = []string{
	"V app:1.2.3", "O A x86 0A i686 vendor/model:7.1 user keys", "P browser", "R 0000000B SIGSEGV 00000010", "G OpenGL ES 3.0|Vendor|GPU (TM)",
	"H 1 2", "S 0 00008000 00008000 00000004", "S 00008000 01020304", "S 00008004 0506", "C " + context(),
	"M 00001000 00000000 00001000 0123456789ABCDEF0123456789ABCDEF0 libapp.so", "M 00003000 00002000 00001000 00 lib b.so (deleted)",
}

// TestDecode: every kind of record, with every prefix, and lines of others between.
func TestDecode(t *testing.T) {
	for _, prefix := range []string{"W/google-breakpad( 3745): ", "02-23 15:49:14.700  1740  1739 F google-breakpad: ", "08-17 19:45:06.579 F/google-breakpad(25655): "} {
		text := "I/other( 1): " + begin + " is not it\n"
		text = log(prefix, records1[:3]...) + log(prefix, records1...) + "I/other( 1): V x:1\n"
		dumps, err := Decode([]byte(text))
		if err != nil || len(dumps) != 2 {
			t.Fatalf("%q: %v, %d dumps", prefix, err, len(dumps))
		}
		check(t, prefix, dumps[1])
		if p := dumps[0].Process(); !p.Crash.Unnamed || !p.Crash.Crashed() || !p.Threads[0].NoRegs || len(p.Warnings) != 1 {
			t.Errorf("%q: a dump without registers: %+v", prefix, p)
		}
	}
}

// TestPlain: outside of Android there is no prefix.
func TestPlain(t *testing.T) {
	dumps, err := Decode([]byte("text\n" + log("", records1...) + "more\n"))
	if err != nil || len(dumps) != 1 {
		t.Fatalf("%v, %d dumps", err, len(dumps))
	}
	check(t, "no prefix", dumps[0])
}

// check compares a dump with records1.
func check(t *testing.T, name string, d *Dump) {
	t.Helper()
	if len(d.Losses) > 0 {
		t.Errorf("%s: %v", name, d.Losses)
	}
	p := d.Process()
	got := fmt.Sprint(p.OS, " ", p.OSVersion, " ", p.CPU, " ", p.Facts.CPUs, " ", p.Facts.GPU, " ", p.Args, " ", d.Product, " ", d.Hardware)
	if want := "Android vendor/model:7.1 user keys x86 10 OpenGL ES 3.0, Vendor, GPU (TM) browser app:1.2.3 i686"; got != want {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
	if c := p.Crash; c.Reason != "SIGSEGV" || c.Signal != 11 || c.Address != 16 || !c.HasAddress {
		t.Errorf("%s: %+v", name, c)
	}
	if b := p.Memory.Bytes(0x8002, 4); string(b) != "\x03\x04\x05\x06" || p.Memory.Bytes(0x8002, 5) != nil || p.Memory.Bytes(0x7fff, 1) != nil {
		t.Errorf("%s: memory %x", name, b)
	}
	if r := &p.Threads[0].Regs; r.PC != 0x1004 {
		t.Errorf("%s: pc %#x", name, r.PC)
	}
	m := p.Modules
	if len(m) != 2 || m[0].Name != "libapp.so" || m[0].Base != 0x1000 || m[0].End != 0x2000 || m[0].DebugID != "0123456789ABCDEF0123456789ABCDEF0" ||
		m[1].Name != "lib b.so" || d.Modules[1].FileOffset != 0x2000 {
		t.Errorf("%s: %+v", name, d.Modules)
	}

	res, err := walk.Walk(t.Context(), p, nil, walk.Options{})
	if err != nil || len(res.Stacks) != 1 || len(res.Stacks[0].Frames) == 0 || res.Stacks[0].Frames[0].Module != m[0] {
		t.Errorf("%s: %v, %+v", name, err, res)
	}
}

// TestLosses: a damaged record is lost alone, with its place; offsets count from the
// beginning of the log.
func TestLosses(t *testing.T) {
	for _, test := range []struct {
		record string
		at     int // in the record
		err    error
	}{
		{"O B x86 04 i686 v", 2, errRecord}, {"O A x86 ZZ i686 v", 2, errRecord}, {"O A x86 400 i686 v", 2, errRecord},
		{"R x SIGSEGV 0", 2, errRecord}, {"R 1 SIGHUP", 2, errRecord}, {"R 1 SIGHUP 10000000000000000", 2, errRecord},
		{"S 8006 0", 2, errRecord}, {"S 8006 0x", 2, errRecord}, {"S x 00", 2, errRecord}, {"S FFFFFFFFFFFFFFFF 0000", 2, errRecord},
		{"S 8005 00", 2, errGap}, {"S 9000 00", 2, errGap},
		{"C 00", 2, located.ErrTruncated}, {"C 0", 2, errRecord},
		{"M 1 2 3 ", 2, errRecord}, {"M x 0 1 0 a", 2, errRecord}, {"M 1 0 0 0 a", 2, errRecord}, {"M FFFFFFFFFFFFFFFF 0 2 0 a", 2, errRecord},
	} {
		const prefix = "W/google-breakpad( 1): "
		var head strings.Builder
		head.WriteString(prefix + begin + "\r\n")
		for _, r := range records1 {
			head.WriteString(prefix + r + "\r\n")
		}
		text := head.String() + prefix + test.record + "\r\n" + prefix + end + "\n"
		dumps, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d := dumps[0]
		if len(d.Losses) != 1 || d.Lost != 1 {
			t.Errorf("%s: %d losses: %v", test.record, d.Lost, d.Losses)
			continue
		}
		var e *located.Error
		if !errors.As(d.Losses[0], &e) || !errors.Is(e, test.err) || e.Offset != len(head.String())+len(prefix)+test.at {
			t.Errorf("%s: %v, want %v at %#x", test.record, d.Losses[0], test.err, len(head.String())+len(prefix)+test.at)
		}
	}
}

// TestEnds: text without a microdump, and a microdump whose end is missing.
func TestEnds(t *testing.T) {
	if _, err := Decode([]byte("W/google-breakpad( 1): V a:1\n")); !errors.Is(err, errNone) {
		t.Errorf("no microdump: %v", err)
	}
	text := log("", "V a:1")
	cut := text[:strings.Index(text, end)]
	dumps, err := Decode([]byte(cut + begin + "\nV b:2"))
	if err != nil || len(dumps) != 2 || dumps[1].Product != "b:2" {
		t.Fatalf("%v, %+v", err, dumps)
	}
	for i, at := range []int{len(begin) + 2, len(cut) + len(begin) + 1} {
		var e *located.Error
		if d := dumps[i]; len(d.Losses) != 1 || !errors.As(d.Losses[0], &e) || !errors.Is(e, errEnd) || e.Offset != at {
			t.Errorf("%d: %v, want ErrEnd at %#x", i, d.Losses, at)
		}
	}
}

// TestLost: losses are bounded, and counted.
func TestLost(t *testing.T) {
	dumps, err := Decode([]byte(log("", slices.Repeat([]string{"M"}, 100)...)))
	if err != nil || len(dumps[0].Losses) != 0 {
		t.Errorf("records without text: %v, %v", err, dumps[0].Losses)
	}
	dumps, err = Decode([]byte(log("", slices.Repeat([]string{"M 1"}, 100)...)))
	if err != nil || len(dumps[0].Losses) != maxLosses || dumps[0].Lost != 100 {
		t.Errorf("%v, %d losses of %d", err, len(dumps[0].Losses), dumps[0].Lost)
	}
}

// TestCPUs: the CONTEXT structures of all CPUs that write microdumps.
func TestCPUs(t *testing.T) {
	for cpu, sizes := range map[string][]int{"x86": {716}, "x86_64": {1232}, "arm": {368}, "arm64": {912, 796}, "mips": {600}, "mips64": {600}, "riscv32": {268}, "riscv64": {524}} {
		for _, size := range sizes {
			dumps, err := Decode([]byte(log("", "O L "+cpu+" 01 hw v", "C "+strings.Repeat("11", size))))
			if err != nil || len(dumps[0].Losses) > 0 {
				t.Errorf("%s: %v, %v", cpu, err, dumps[0].Losses)
				continue
			}
			if p := dumps[0].Process(); p.OS != "Linux" || p.Threads[0].NoRegs || p.Threads[0].Regs.PC == 0 {
				t.Errorf("%s of %d bytes: %+v", cpu, size, p.Threads[0])
			}
		}
	}
	dumps, err := Decode([]byte(log("", "O L vax 01 hw v", "C 00")))
	if err != nil || len(dumps[0].Losses) != 1 || !errors.Is(dumps[0].Losses[0], mdmp.ErrCPU) {
		t.Errorf("an unknown CPU: %v, %v", err, dumps[0].Losses)
	}
}

// FuzzDecode: any text gives microdumps or errNone; losses have a place in the text; what
// was decoded is no larger than the text; the process can be walked.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(log("W/google-breakpad( 1): ", records1...)))
	f.Add([]byte(log("", records1...)))
	f.Add([]byte(log("", "O L vax 01 hw v", "C 00", "S 8000 00", "S 7000 00", "S 9000 1")))
	f.Fuzz(func(t *testing.T, text []byte) {
		dumps, err := Decode(text)
		if (err != nil) != (len(dumps) == 0) || err != nil && !errors.Is(err, errNone) || Is(text) != (err == nil) {
			t.Fatalf("%v, %d dumps", err, len(dumps))
		}
		size := 0
		for _, d := range dumps {
			if d.Lost < len(d.Losses) || len(d.Losses) > maxLosses || d.Offset > len(text) {
				t.Fatalf("%d losses of %d", len(d.Losses), d.Lost)
			}
			for _, l := range d.Losses {
				var e *located.Error
				if !errors.As(l, &e) || e.Offset < 0 || e.Offset > len(text) {
					t.Fatalf("error without a place: %v", l)
				}
			}
			for i, r := range d.Stack {
				size += len(r.Data)
				if i > 0 && r.Base < d.Stack[i-1].Base+uint64(len(d.Stack[i-1].Data)) {
					t.Fatal("the parts of the stack overlap")
				}
			}
			if _, err := walk.Walk(t.Context(), d.Process(), nil, walk.Options{MaxFrames: 10}); err != nil {
				t.Fatal(err)
			}
		}
		if size > len(text) {
			t.Fatalf("%d bytes of memory from %d of text", size, len(text))
		}
	})
}
