package sources

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"symkit/walk"
)

// memoryMap is memory by address.
type memoryMap map[uint64][]byte

func (m memoryMap) Bytes(addr, n uint64) []byte {
	for at, b := range m {
		if addr >= at && addr-at <= uint64(len(b)) && n <= uint64(len(b))-(addr-at) {
			return b[addr-at:][:n]
		}
	}
	return nil
}

// prefetching notes the modules that are fetched in advance.
type prefetching struct {
	mu   sync.Mutex
	seen []string
}

func (p *prefetching) Symbols(context.Context, *walk.Module) *walk.Symbols { return &walk.Symbols{} }

func (p *prefetching) Prefetch(_ context.Context, m *walk.Module) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, m.Name)
	return true
}

// TestPrefetch: the modules of the program counter and of words of the stack,
// each once; a chain asks until one has the symbols.
func TestPrefetch(t *testing.T) {
	var stack []byte
	for _, word := range []uint64{0x501104, 0x601104, 0x501104} {
		stack = binary.LittleEndian.AppendUint64(stack, word)
	}
	p := &walk.Process{OS: "Linux", CPU: "x86_64", Crashed: -1, Threads: make([]walk.Thread, 1), Memory: memoryMap{0x8000: stack}}
	p.Threads[0].Regs.PC = 0x401008
	p.Threads[0].Regs.Set(7, 0x8000)
	for i, name := range []string{"app", "b", "c", "d"} {
		base := 0x400000 + uint64(i)<<20
		p.Modules = append(p.Modules, &walk.Module{Name: name, Base: base, End: base + 0x10000})
	}
	first, second := &prefetching{}, &prefetching{}
	if _, err := walk.Walk(t.Context(), p, Chain(&Store{}, first, second), walk.Options{Prefetch: true}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(first.seen)
	if got := fmt.Sprint(first.seen, second.seen); got != "[app b c] []" {
		t.Error(got)
	}
}
