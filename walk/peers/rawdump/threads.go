package rawdump

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

// threads writes MINIDUMP_THREAD_LIST, with the registers and the stack of each thread.
func (p *printer) threads() {
	if !p.d.Has(mdmp.ThreadListStream) {
		return
	}
	regions := p.stackRegions()
	p.printf("MinidumpThreadList\n  thread_count = %d\n\n", len(p.d.Threads))
	for i := range p.d.Threads {
		if p.err != nil {
			return
		}
		t := &p.d.Threads[i]
		p.printf("thread[%d]\n", i)
		p.record("MINIDUMP_THREAD", 27, *t)
		p.printf("\n")
		p.context(t.Context, "", "  (no context)\n\n")
		if p.brief {
			p.printf("\n")
			continue
		}

		// If the thread's record locates no bytes, as in some dumps of Windows, the list of memory
		// may have the bytes.
		stack := p.d.Stack(t).Data
		if len(stack) == 0 || t.Stack.Memory.RVA == 0 {
			stack = find(regions, t.Stack.Base)
		}
		p.stack(stack)
	}
}

// context writes registers, with text before them, or the text for none.
func (p *printer) context(at mdmp.Location, before, none string) {
	out := append(p.AvailableBuffer(), before...)
	out = p.d.AppendContext(out, at)
	if len(out) == len(before) {
		out = append(out[:0], none...)
	}
	p.text(out)
}

// stack writes the words of a thread's stack.
func (p *printer) stack(data []byte) {
	if data == nil {
		p.printf("No stack\n\n")
		return
	}

	p.printf("Stack\n")
	word := 8
	if p.d.Has(mdmp.SystemInfoStream) && !p.d.System.CPU.Wide() {
		word = 4
	}
	c := wire.New(mdmp.Section, data, p.d.BigEndian)
	for offset := 0; c.Len() >= word && p.err == nil; offset += word {
		line := fmt.Appendf(p.AvailableBuffer(), "    0x%08x: 0x", offset)
		digits := strconv.FormatUint(c.Uint(word), 16)
		for range 2*word - len(digits) {
			line = append(line, '0')
		}
		p.text(append(append(line, digits...), '\n'))
	}
	p.printf("\n")
}

// threadNames writes MINIDUMP_THREAD_NAME_LIST. Names that cannot be read are left out.
func (p *printer) threadNames() {
	if !p.d.Has(mdmp.ThreadNamesStream) {
		return
	}
	names := map[uint32]string{}
	for _, n := range p.d.ThreadNames {
		if n.Name.Valid() {
			names[n.ID] = wide(n.Name, "")
		}
	}

	p.printf("MinidumpThreadNames\n  thread_count = %d\n\n", len(names))
	for i, id := range slices.Sorted(maps.Keys(names)) {
		p.printf("thread_name[%d]\nMINIDUMP_THREAD_NAME\n  thread_id = %#x\n  name      = \"%s\"\n\n", i, id, names[id])
	}
}
