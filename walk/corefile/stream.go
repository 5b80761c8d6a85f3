package corefile

import (
	"bufio"
	"cmp"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"symkit/elfx"
	"symkit/internal/limitof"
	"symkit/internal/quantity"
	"symkit/internal/wire"
)

// A core file that comes through a pipe, as the kernel gives one to the program of core_pattern,
// is read once, from the first byte to the last. The parts that a walk needs are kept within a
// budget of memory. The notes come first (see spool.go for writers where they do not), so the
// stack pointers of all threads are known before any memory arrives: memory above each of them is
// needed, and so are the first pages of the modules and their dynamic sections. Memory that
// registers and kept stacks point to is likely to be needed: stacks that a signal or a coroutine
// has left. As long as the budget lasts, all other memory is kept, too, and the result is the same
// as that of the file.

// defaultMemory is Options.Memory if it is 0.
const defaultMemory = 128 << 20

// Read reads a core file from a stream, as Open does from a file, and keeps up to Options.Memory
// bytes of the process's memory, apart from the notes. In errors the stream is called name.
func Read(ctx context.Context, in io.Reader, name string, opt Options) (*Core, error) {
	r := &stream{in: bufio.NewReaderSize(contextReader{ctx, in}, 1<<20), name: name}
	f, err := r.headers()
	if err != nil {
		return nil, err
	}
	c, err := begin(name, f, opt)
	if err != nil {
		return nil, err
	}

	r.core, r.kept = c, newKept(cmp.Or(opt.Memory, defaultMemory))
	c.unmap = r.kept.release
	err = r.read()
	if err == nil {
		err = c.finish()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// contextReader is a Reader that fails once its context is done.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.in.Read(p)
}

// stream is a core file that is being read.
type stream struct {
	in   *bufio.Reader
	name string
	off  uint64 // the bytes read
	end  bool   // the stream has ended

	core    *Core
	kept    *kept
	segs    []elfx.Segment    // in the order of the file; the result's in that of addresses
	byAddr  []int             // indices in segs of PT_LOAD segments, by address
	sizes   map[uint64]uint64 // bytes that were read of segments, by virtual address
	windows map[uint64]class  // of pages whose class is better than that of their segment
	whole   map[int]class     // of segments, by index in segs, where better than possible
	pointed int               // windows because of pointers on stacks
	spool   spool             // memory that came before the notes
}

// maxHeaders bounds the program headers of a core file, in bytes.
const maxHeaders = 256 << 20

// take reads n bytes, or those up to the end of the stream. The buffer grows with the bytes
// that arrive.
func (r *stream) take(n uint64) ([]byte, error) {
	var out []byte
	for uint64(len(out)) < n && !r.end {
		step := min(n-uint64(len(out)), 1<<20)
		at := len(out)
		out = append(out, make([]byte, step)...)
		got, err := r.full(out[at:])
		out = out[:at+got]
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// full fills p, or the part of p up to the end of the stream, and returns its length.
func (r *stream) full(p []byte) (int, error) {
	n, err := io.ReadFull(r.in, p)
	r.off += uint64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.end, err = true, nil
	}
	return n, err
}

// skip reads up to an offset of the core file.
func (r *stream) skip(off uint64) error {
	for r.off < off && !r.end {
		n, err := r.in.Discard(int(min(off-r.off, 1<<30)))
		r.off += uint64(n)
		if errors.Is(err, io.EOF) {
			r.end, err = true, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// headers reads the ELF header and the program headers.
func (r *stream) headers() (*elfx.File, error) {
	head, err := r.take(64)
	if err != nil {
		return nil, err
	}
	if len(head) < 52 {
		return elfx.NewFile(r.name, head) // the error
	}

	// The number of program headers can be in the section headers, which are at the end of the
	// file. Without them, the program headers end where the first segment, the notes, begins.
	h := newHeadLayout(head)
	if len(head) < h.size {
		return elfx.NewFile(r.name, head)
	}
	count := uint64(h.order.Uint16(head[h.phnum:]))
	size := uint64(h.order.Uint16(head[h.phnum-2:]))
	off := h.word(head[h.phoff:])
	if size < 32 || off < uint64(h.size) || off > maxHeaders {
		return elfx.NewFile(r.name, head)
	}
	rest, err := r.take(off + size - uint64(len(head)))
	if err != nil {
		return nil, err
	}
	head = append(head, rest...)
	if count == 0xffff && uint64(len(head)) == off+size {
		count = (h.word(head[off+h.offset:]) - off) / size
	}
	if count > maxHeaders/size {
		return nil, fmt.Errorf("%s: program headers: %d of them: %w", r.name, count, wire.ErrTruncated)
	}

	rest, err = r.take(off + count*size - min(off+count*size, uint64(len(head))))
	if err != nil {
		return nil, err
	}
	head = append(head, rest...)
	return elfx.NewFile(r.name, h.withoutSections(head, uint32(count)))
}

// headLayout has the offsets of the fields of the ELF header (gABI, "ELF Header").
type headLayout struct {
	order                     binary.ByteOrder
	wide                      bool
	size, phoff, shoff, phnum int
	offset                    uint64 // of p_offset in a program header
}

func newHeadLayout(head []byte) headLayout {
	h := headLayout{order: binary.LittleEndian, size: 52, phoff: 28, shoff: 32, phnum: 44, offset: 4}
	if head[elf.EI_CLASS] == byte(elf.ELFCLASS64) {
		h = headLayout{order: binary.LittleEndian, wide: true, size: 64, phoff: 32, shoff: 40, phnum: 56, offset: 8}
	}
	if head[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		h.order = binary.BigEndian
	}
	return h
}

func (h headLayout) word(b []byte) uint64 {
	if h.wide {
		return h.order.Uint64(b)
	}
	return uint64(h.order.Uint32(b))
}

// withoutSections returns headers without section headers, except the one with the number of
// program headers if e_phnum is too small for it.
func (h headLayout) withoutSections(head []byte, count uint32) []byte {
	word := h.shoff - h.phoff
	shentsize := head[h.phnum+2:][:6]
	clear(head[h.shoff:][:word])
	clear(shentsize)
	if h.order.Uint16(head[h.phnum:]) != 0xffff {
		return head
	}

	size, info := 40, 28
	if h.wide {
		size, info = 64, 44
	}
	h.order.PutUint16(shentsize, uint16(size))
	h.order.PutUint16(shentsize[2:], 1)
	if h.wide {
		h.order.PutUint64(head[h.shoff:], uint64(len(head)))
	} else {
		h.order.PutUint32(head[h.shoff:], uint32(len(head)))
	}
	section := make([]byte, size)
	h.order.PutUint32(section[info:], count)
	return append(head, section...)
}

// read reads all that follows the headers.
func (r *stream) read() error {
	c := r.core
	r.sizes, r.windows, r.whole = map[uint64]uint64{}, map[uint64]class{}, map[int]class{}
	r.segs = slices.Clone(c.file.Segments)
	slices.SortStableFunc(r.segs, func(a, b elfx.Segment) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := range r.segs {
		if r.segs[i].Type == elf.PT_LOAD && r.segs[i].Memsz > 0 {
			r.byAddr = append(r.byAddr, i)
		}
	}
	slices.SortStableFunc(r.byAddr, func(i, j int) int { return cmp.Compare(r.segs[i].Vaddr, r.segs[j].Vaddr) })

	// Without the notes there is no plan of the memory to keep.
	defer r.spool.close()
	first, err := r.notes()
	if err != nil {
		return err
	}
	err = c.readNotes()
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}

	r.plan()
	for i := range r.segs {
		s := &r.segs[i]
		if s.Type == elf.PT_LOAD && s.Filesz > 0 {
			err := r.load(i, s, i < first)
			if err != nil {
				return err
			}
		}
	}

	// A writer to a pipe without a reader would be killed, so the rest of the stream is read.
	err = r.skip(^uint64(0))
	if err != nil {
		return err
	}
	c.size = r.off
	c.mem = newMemory(c.file, c, r.kept, r.sizes)
	if r.spool.failed != nil {
		c.warn("the notes come after the memory, and the temporary file for the memory failed: %v: stacks may end too soon; give another directory with TMPDIR", r.spool.failed)
	}
	if n := r.kept.lost[needed] + r.kept.lost[likely]; n > 0 {
		c.warn("%s of the memory that a walk may need did not fit into --memory: stacks may end too soon", quantity.Bytes(n<<pageBits))
	}
	return nil
}

// notes reads the notes, and the memory before them. It returns the number of segments that come
// before the end of the notes.
func (r *stream) notes() (n int, err error) {
	for i := range r.segs {
		if r.segs[i].Type == elf.PT_NOTE && r.segs[i].Filesz > 0 {
			n = i + 1
		}
	}
	for i := range n {
		s := &r.segs[i]
		switch {
		case s.Type == elf.PT_LOAD && s.Filesz > 0:
			err = r.spoolMemory(i, s)
		case s.Type == elf.PT_NOTE:
			err = r.note(*s)
		}
		if err != nil {
			return n, err
		}
	}
	r.spool.finish(r.off)
	return n, nil
}

// note reads the notes of a segment.
func (r *stream) note(s elfx.Segment) error {
	if s.Offset < r.off {
		r.core.warn("notes at offset %#x overlap what comes before them: they are left out", s.Offset)
		return nil
	}
	if s.Filesz > r.core.limits.Max(limitof.CoreNotes, 0) {
		return fmt.Errorf("%s: core notes: %w", r.name, r.core.limits.Exceeded(limitof.CoreNotes, 0))
	}
	err := r.skip(s.Offset)
	if err != nil {
		return err
	}
	data, err := r.take(s.Filesz)
	r.core.notes = append(r.core.notes, part{s.Offset, data})
	return err
}

// chunk is the number of bytes of memory that are read at a time.
const chunk = 1 << 18

// load reads the memory of a segment from the stream or, with spooled, from the spool, which has
// the memory that came before the notes.
func (r *stream) load(index int, s *elfx.Segment, spooled bool) error {
	in, size := io.Reader(nil), s.Filesz
	switch {
	case spooled:
		in, size = r.spool.reader(index, s), r.spool.written[index]
	case s.Offset >= r.off: // or another segment has the memory
		err := r.skip(s.Offset)
		if err != nil {
			return err
		}
	default:
		return nil
	}
	if spooled && in == nil {
		return nil
	}

	best, better := r.whole[index]
	if !better {
		best = possible
	}
	buffer := make([]byte, chunk)
	for done := uint64(0); done < size && (spooled || !r.end); {
		addr := s.Vaddr + done
		data := buffer[:min(size-done, chunk-addr&(chunk-1))]
		var got int
		var err error
		if spooled {
			got, err = io.ReadFull(in, data)
		} else {
			got, err = r.full(data)
		}
		if err != nil {
			return err
		}

		if done == 0 {
			r.begins(s, data[:got])
		}
		r.keep(addr, data[:got], best)
		done += uint64(got)
		r.sizes[s.Vaddr] = max(r.sizes[s.Vaddr], done)
	}
	return nil
}

// keep keeps memory that is loaded at addr, page by page.
func (r *stream) keep(addr uint64, data []byte, best class) {
	for len(data) > 0 {
		n := min(uint64(len(data)), pageSize-addr&(pageSize-1))
		c := best
		if w, ok := r.windows[addr>>pageBits]; ok {
			c = min(c, w)
		}
		r.kept.put(addr, data[:n], c)
		if c == needed {
			r.pointers(addr, data[:n])
		}
		addr += n
		data = data[n:]
	}
}
