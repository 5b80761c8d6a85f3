package walk

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/emit"
)

// TestCases walks the stacks of testdata/cases: those of the walker tests of
// Breakpad and rust-minidump. testdata/cases/README.md describes the format.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, c := range readCases(t, file) {
				t.Run(c.name, c.run)
			}
		})
	}
}

// walkCase is one stack, and what its frames should be.
type walkCase struct {
	name    string
	p       Process
	syms    map[string]string // by module
	regs    map[string]uint64
	only    bool // registers that are not in regs are unknown
	mem     spans
	peer    []wantFrame // what the peer's test wants
	noScan  bool
	more    bool   // peer tells nothing of further frames
	differs string // why symkit's frames are others
	ours    []wantFrame
}

type wantFrame struct {
	trust string // "?": not told
	fn    string // "": not told
	regs  map[string]uint64
	known []string // all known registers; nil: not told
}

// run compares the frames.
func (c *walkCase) run(t *testing.T) {
	c.p.Threads = []Thread{{ID: 1, Regs: c.registers(t)}}
	c.p.Memory = c.mem
	res, err := Walk(context.Background(), &c.p, c, Options{Registers: true, NoScan: c.noScan})
	if err != nil {
		t.Fatal(err)
	}
	stack := &res.Stacks[0]
	peer := c.mismatch(stack, c.peer, c.more)
	if c.differs == "" {
		if peer != "" {
			t.Errorf("%s\n%s", peer, c.describe(stack))
		}
		return
	}
	if peer == "" {
		t.Errorf("differs no more: %s", c.differs)
	}
	if ours := c.mismatch(stack, c.ours, false); ours != "" {
		t.Errorf("%s\n%s", ours, c.describe(stack))
	}
}

// Symbols implements Supplier.
func (c *walkCase) Symbols(_ context.Context, m *Module) *Symbols {
	if text, ok := c.syms[m.Name]; ok {
		return &Symbols{Index: emit.NewIndex([]byte(text))}
	}
	return &Symbols{}
}

// registers returns the registers of the thread. Those that the case does not give have
// arbitrary values.
func (c *walkCase) registers(t *testing.T) (r Registers) {
	m := c.p.cpu()
	for i, reg := range m.Shown() {
		if !c.only {
			r.Set(reg, m.Narrow(0xa5a5_0003_a5a5_0003+uint64(i)<<4))
		}
	}
	for name, v := range c.regs {
		r.Set(c.slot(t, name), v)
	}
	return r
}

// slot is the register that a case calls name.
func (c *walkCase) slot(t *testing.T, name string) cfi.Reg {
	m := c.p.cpu()
	if reg, ok := m.Slot([]byte(name)); ok {
		return reg
	}
	reg, ok := m.Slot([]byte("$" + name))
	if !ok {
		t.Fatalf("%s: no register %q", c.name, name)
	}
	return reg
}

// mismatch returns the first difference of a stack from the wanted one, or the empty string.
func (c *walkCase) mismatch(s *Stack, want []wantFrame, more bool) string {
	if len(s.Frames) < len(want) || len(s.Frames) > len(want) && !more {
		return fmt.Sprintf("%d frames, want %d", len(s.Frames), len(want))
	}
	for i := range want {
		f, w := &s.Frames[i], &want[i]
		if w.trust != "?" && f.Trust.Key() != w.trust {
			return fmt.Sprintf("frame %d: %s, want %s", i, f.Trust.Key(), w.trust)
		}
		if w.fn != "" && f.Place.Func != w.fn {
			return fmt.Sprintf("frame %d: %q, want %q", i, f.Place.Func, w.fn)
		}
		got := map[string]uint64{}
		for _, r := range f.Registers {
			got[r.Name] = r.Value
		}
		for _, name := range slices.Sorted(maps.Keys(w.regs)) {
			if v, ok := got[name]; !ok || v != w.regs[name] {
				return fmt.Sprintf("frame %d: %s %#x %v, want %#x", i, name, v, ok, w.regs[name])
			}
		}
		if names := slices.Sorted(maps.Keys(got)); w.known != nil && !slices.Equal(names, w.known) {
			return fmt.Sprintf("frame %d: known %v, want %v", i, names, w.known)
		}
	}
	return ""
}

// describe writes a stack as a case would.
func (c *walkCase) describe(s *Stack) string {
	var out strings.Builder
	for _, f := range s.Frames {
		fmt.Fprintf(&out, "frame %s", f.Trust.Key())
		if f.Place.Func != "" {
			fmt.Fprintf(&out, " %s", strings.ReplaceAll(f.Place.Func, " ", "~"))
		}
		for i, r := range f.Registers {
			if f.Trust != TrustContext || i < 1 {
				fmt.Fprintf(&out, " %s=%x", r.Name, r.Value)
			}
		}
		if f.Why != "" {
			fmt.Fprintf(&out, "   (%s)", f.Why)
		}
		out.WriteByte('\n')
	}
	return out.String() + "end: " + s.End
}

// readCases reads a file of cases.
func readCases(t *testing.T, path string) (cases []*walkCase) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var (
		in   = bufio.NewScanner(file)
		c    *walkCase
		name string // of the module that lines of symbols are for
		last func(fields []string)
	)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		key, rest, _ := strings.Cut(line, " ")
		fields := strings.Fields(rest)
		fail := func(what any) { t.Fatalf("%s:%d: %v", path, n, what) }
		num := func(s string) uint64 {
			v, err := strconv.ParseUint(s, 16, 64)
			if err != nil {
				fail(err)
			}
			return v
		}
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t' && last != nil:
			last(strings.Fields(line))
		case line[0] == '\t':
			c.syms[name] += line[1:] + "\n"
		case key == "case":
			c = &walkCase{name: rest, p: Process{Crashed: 0}, syms: map[string]string{}, regs: map[string]uint64{}}
			cases = append(cases, c)
		case key == "system":
			c.p.CPU = fields[0]
			c.p.OS = strings.Join(fields[1:], " ")
		case key == "module":
			name, last = fields[2], nil
			c.p.Modules = append(c.p.Modules, &Module{Path: name, Name: name, Base: num(fields[0]), End: num(fields[1])})
			c.p.SortModules()
		case key == "regs" || key == "regs-only":
			c.only = key == "regs-only"
			for _, f := range fields {
				name, v, _ := strings.Cut(f, "=")
				c.regs[name] = num(v)
			}
		case key == "stack":
			c.mem = append(c.mem, span{addr: num(rest)})
			last = func(words []string) { c.mem[len(c.mem)-1].appendWords(c.p.WordSize(), words, num) }
		case key == "frame":
			f := newWantFrame(fields, num)
			list := &c.peer
			if c.differs != "" {
				list = &c.ours
			}
			*list = append(*list, f)
			last = func(words []string) { (*list)[len(*list)-1].known = slices.Sorted(slices.Values(words[1:])) }
		case key == "noscan":
			c.noScan = true
		case key == "more":
			c.more = true
		case key == "differs":
			c.differs = rest
		default:
			fail(line)
		}
	}
	return cases
}

// newWantFrame reads "TRUST FUNCTION REGISTER=VALUE ...".
func newWantFrame(fields []string, num func(string) uint64) wantFrame {
	f := wantFrame{trust: fields[0], regs: map[string]uint64{}}
	for _, field := range fields[1:] {
		if name, v, ok := strings.Cut(field, "="); ok {
			f.regs[name] = num(v)
		} else {
			f.fn = strings.ReplaceAll(field, "~", " ")
		}
	}
	return f
}

// appendWords appends words in hexadecimal, "N*WORD" for N equal ones, "+BYTES"
// for single bytes.
func (s *span) appendWords(size int, words []string, num func(string) uint64) {
	for _, word := range words {
		if bytes, ok := strings.CutPrefix(word, "+"); ok {
			b, _ := hex.DecodeString(bytes)
			s.data = append(s.data, b...)
			continue
		}
		n := 1
		if count, value, ok := strings.Cut(word, "*"); ok {
			n, _ = strconv.Atoi(count)
			word = value
		}
		for range n {
			s.data = binary.LittleEndian.AppendUint64(s.data, num(word))[:len(s.data)+size]
		}
	}
}
