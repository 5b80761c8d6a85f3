package minidump

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"symkit/emit"
	"symkit/limits"
	"symkit/test/mutant"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/peers"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// TestBomb: threads by the thousand that share one stack, which is a long chain
// of frame pointers, cost no more than the frames that one process may have.
func TestBomb(t *testing.T) {
	const threads, frames, stack = 4000, 8192, 0x10000
	var text strings.Builder
	text.WriteString(synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + fmt.Sprintf("stream ThreadList u32 %d\n", threads))
	for i := range threads {
		fmt.Fprintf(&text, "u32 %d 0 0 0 u64 0 %#x loc stack loc c\n", i, stack)
	}
	fmt.Fprintf(&text, "stream ModuleList u32 1 u64 0x400000 u32 0x1000 0 0 rva n zero 52 u32 0 0 0 0 zero 16 block n str \"a\"\n"+
		"block c zero 48 u32 0x10001f 0 zero 96 u64 %#x %#x zero 80 u64 0x400100 zero 976\nblock stack zero %d", stack, stack, 16*frames)
	data := synth.Assemble(t, false, text.String()).Data
	for i := range frames {
		at := data[len(data)-16*frames+16*i:]
		binary.LittleEndian.PutUint64(at, uint64(stack+16*(i+1)))
		binary.LittleEndian.PutUint64(at[8:], 0x400200)
	}
	before := mapped()
	d, err := New(data)
	if err != nil {
		t.Fatal(err)
	}
	res, err := walk.Walk(context.Background(), d.Process(), nil, walk.Options{Registers: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := peers.Machine(io.Discard, res); err != nil {
		t.Error(err)
	}
	memory, n := mapped()-before, len(res.Stacks[threads-1].Frames)
	t.Logf("%d frames of each thread, %d MiB", n, memory>>20)
	if n < 16 || memory > 500<<20 {
		t.Errorf("%d frames, %d MiB", n, memory>>20)
	}
}

// TestWalkBombs: half a million frames meet rules of thousands of terms, functions of thousands of
// lines, and inlined calls with long names. Each of the bombs takes minutes or gigabytes if the
// walk reads, evaluates or copies for each frame what all frames share.
func TestWalkBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of one goroutine under the race detector")
	}
	tight, err := limits.Parse("rule-terms=10%,symbol-text=10%,inlined-calls=10%")
	if err != nil {
		t.Fatal(err)
	}
	// What a walk must meet, in the stack of the first or last thread.
	const terms, rules, text = "more than 1024 terms", "rule-terms above", "symbol-text above"
	want := []string{terms, rules, rules, text, text, text, text, rules, text}
	for i, bomb := range mutant.Walks {
		t.Run(bomb.Name, func(t *testing.T) {
			dump, symbols := bomb.Make()
			d, err := New(dump)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := testfile.CPULimit(t.Context(), 60*time.Second)
			defer stop()
			before := mapped()
			res, err := walk.Walk(ctx, d.Process(), symbolText(symbols), walk.Options{Limits: tight})
			if err != nil {
				t.Fatal(err)
			}
			s := &res.Stacks[len(res.Stacks)-1]
			why := s.End
			if len(s.Frames) > 1 {
				why += s.Frames[1].Why
			}
			if memory := mapped() - before; memory > 320<<20 {
				t.Errorf("%d MiB", memory>>20)
			}
			if !strings.Contains(why, want[i]) {
				t.Errorf("%d frames, end: %s", len(s.Frames), why)
			}
		})
	}
}

// symbolText is the symbol file of every module.
type symbolText []byte

func (s symbolText) Symbols(context.Context, *walk.Module) *walk.Symbols {
	return &walk.Symbols{Index: emit.NewIndex(s)}
}

// mapped returns the memory that Go has taken from the system. It never shrinks, so that
// only its growth is that of one test.
func mapped() uint64 {
	memory := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(memory)
	return memory[0].Value.Uint64()
}
