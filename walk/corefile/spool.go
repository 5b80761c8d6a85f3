package corefile

import (
	"bytes"
	"debug/elf"
	"io"
	"os"

	"symkit/elfx"
)

// The kernel, gdb and qemu put the notes of a core file before the memory; ELF allows any order. Only
// the notes decide which memory a walk needs, so memory that arrives before the notes goes to a
// temporary file, without a name and with holes for zeros, which is read after the notes. If the
// file cannot be written, the size and the flags of segments decide which memory is kept.

// spool is the memory that came before the notes. It is at the offsets of the core file.
type spool struct {
	file    *os.File // nil: none is needed yet, or none could be made
	failed  error    // why memory is no longer written
	written map[int]uint64
}

// smallSegment is the largest size of a writable segment that may be a stack: the limit on the
// main thread's stack that systems have, and on those of threads.
const smallSegment = 8<<20 + 64<<10

// spoolMemory reads the memory of a segment that comes before the notes.
func (r *stream) spoolMemory(index int, s *elfx.Segment) error {
	if s.Offset < r.off {
		return nil // memory that another segment has
	}
	err := r.skip(s.Offset)
	if err != nil {
		return err
	}

	best := possible
	if s.Flags&elf.PF_W != 0 && s.Memsz <= smallSegment {
		best = likely
	}
	buffer := make([]byte, chunk)
	for done := uint64(0); done < s.Filesz && !r.end; {
		addr := s.Vaddr + done
		got, err := r.full(buffer[:min(s.Filesz-done, chunk-addr&(chunk-1))])
		if err != nil {
			return err
		}
		data := buffer[:got]
		switch {
		case r.spool.write(s.Offset+done, data):
			r.spool.written[index] = done + uint64(got)
		default:
			if done == 0 {
				r.begins(s, data)
			}
			r.keep(addr, data, best)
		}
		done += uint64(got)
		r.sizes[s.Vaddr] = done
	}
	return nil
}

// write writes memory at an offset. It returns false if memory can no longer be written.
func (p *spool) write(off uint64, data []byte) bool {
	if p.file == nil && p.failed == nil {
		p.written = map[int]uint64{}
		p.file, p.failed = os.CreateTemp("", "stackwalk-*.core")
		if p.failed == nil {
			os.Remove(p.file.Name()) // fails on systems where close removes the file
		}
	}

	// Pages of zeros are holes.
	for len(data) > 0 && p.failed == nil {
		n := min(uint64(len(data)), pageSize-off&(pageSize-1))
		if !bytes.Equal(data[:n], zeros[:n]) {
			_, p.failed = p.file.WriteAt(data[:n], int64(off))
		}
		off += n
		data = data[n:]
	}
	return p.failed == nil
}

// finish ends the file with a hole up to the offset end.
func (p *spool) finish(end uint64) {
	if p.file == nil {
		return
	}
	// Without the holes at the end, reading would end too soon.
	info, err := p.file.Stat()
	if err == nil && uint64(info.Size()) < end {
		err = p.file.Truncate(int64(end))
	}
	if p.failed == nil {
		p.failed = err
	}
}

// reader returns the memory of a segment, or nil if none was written.
func (p *spool) reader(index int, s *elfx.Segment) io.Reader {
	if p.written[index] == 0 {
		return nil
	}
	return io.NewSectionReader(p.file, int64(s.Offset), int64(p.written[index]))
}

// close removes the file.
func (p *spool) close() {
	if p.file != nil {
		p.file.Close()
		os.Remove(p.file.Name())
	}
}
