package rawdump

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

const threadLayout layout = `MINIDUMP_THREAD
  thread_id                   = {x4}
  suspend_count               = {d4}
  priority_class              = {x4}
  priority                    = {x4}
  teb                         = {x8}
  stack.start_of_memory_range = {x8}
  stack.memory.data_size      = {x4}
  stack.memory.rva            = {x4}
  thread_context.data_size    = {x4}
  thread_context.rva          = {x4}

`

// threads writes MINIDUMP_THREAD_LIST, with the registers and the stack of each thread.
func (p *printer) threads() {
	size := threadLayout.size()
	c, ok := p.list(mdmp.ThreadListStream, size)
	if !ok {
		return
	}

	p.printf("MinidumpThreadList\n  thread_count = %d\n\n", c.Len()/size)
	for i := 0; c.Len() > 0 && p.err == nil; i++ {
		p.printf("thread[%d]\n", i)
		thread := c.Sub(uint64(size))
		p.fields(threadLayout, thread)

		thread.Skip(24)
		start := thread.U64()
		stack := region{base: start, size: uint64(thread.U32()), rva: uint64(thread.U32())}
		contextSize, contextRVA := thread.U32(), thread.U32()
		p.context(contextSize, contextRVA, "", "  (no context)\n\n")
		if p.brief {
			p.printf("\n")
			continue
		}
		p.stack(start, stack)
	}
}

// context writes registers, with text before them, or the text for none.
func (p *printer) context(size, rva uint32, before, none string) {
	out := append(p.AvailableBuffer(), before...)
	if p.system.read {
		out = mdmp.AppendContext(out, p.system.cpu, p.at(rva, size))
	}
	if len(out) == len(before) {
		out = append(out[:0], none...)
	}
	p.text(out)
}

// stack writes the words of a thread's stack. If the thread's record locates no bytes, as in
// some dumps of Windows, the list of memory may have the bytes.
func (p *printer) stack(start uint64, stack region) {
	data, ok := p.contents(stack)
	if !ok {
		data, ok = p.stacks.find(p, start)
	}
	if !ok {
		p.printf("No stack\n\n")
		return
	}

	p.printf("Stack\n")
	word := 8
	if p.system.read && !p.system.cpu.Wide() {
		word = 4
	}
	c := wire.New(section, data, p.big)
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
	c, ok := p.list(mdmp.ThreadNamesStream, 12)
	if !ok {
		return
	}

	names := map[uint32]string{}
	for c.Len() > 0 {
		id, rva := c.U32(), c.U64()
		if name, ok := p.name(rva); ok {
			names[id] = name
		}
	}

	p.printf("MinidumpThreadNames\n  thread_count = %d\n\n", len(names))
	for i, id := range slices.Sorted(maps.Keys(names)) {
		p.printf("thread_name[%d]\nMINIDUMP_THREAD_NAME\n  thread_id = %#x\n  name      = \"%s\"\n\n", i, id, names[id])
	}
}
