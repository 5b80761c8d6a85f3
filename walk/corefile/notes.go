package corefile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/walk"
)

// Types of notes (Linux include/uapi/linux/elf.h).
const (
	ntPRStatus   = 1
	ntFPRegSet   = 2
	ntPRPSInfo   = 3
	ntAuxv       = 6
	ntARMPACMask = 0x406
	ntFile       = 0x46494c45
	ntSigInfo    = 0x53494749
)

// Keys of the auxiliary vector (include/uapi/linux/auxvec.h).
const (
	atPHDR        = 3
	atBase        = 7
	atEntry       = 9
	atRandom      = 25
	atExecFn      = 31
	atSysinfoEHDR = 33
)

// fault is the signal of the crashed thread: from NT_SIGINFO, or only its number
// from NT_PRSTATUS if there is no NT_SIGINFO.
type fault struct {
	signal, code int
	known        bool // the code
	union        wire.Cursor
}

// readNotes reads the notes of every PT_NOTE segment. Each thread begins with
// its NT_PRSTATUS; the first is the one that crashed. Without a thread, or if the notes are
// of another system, readNotes returns an error.
func (c *Core) readNotes() error {
	left := c.limits.Int(limitof.Notes) // headers may name the same bytes any number of times
	for _, s := range c.file.Segments {
		if s.Type != elf.PT_NOTE {
			continue
		}
		data := c.bytes(s.Offset, s.Filesz)
		cur := wire.New("core notes", data, c.file.BigEndian)
		for cur.Len() >= 12 {
			left--
			if left < 0 {
				c.warn("core notes+%#x: %v", cur.Pos(), c.limits.Exceeded(limitof.Notes, 0))
				return threads(c.Process)
			}
			name, typ, desc := nextNote(&cur)
			if cur.Err() != nil {
				break
			}

			// A damaged note does not hide the notes after it.
			err := c.note(name, typ, desc.data)
			switch {
			case errors.Is(err, errSystem):
				return err
			case err != nil:
				c.warn("note %#x at core notes+%#x: %v", typ, desc.at, err)
			}
		}

		// Report the bytes that are missing at the end of the segment.
		if err := cur.Err(); err != nil {
			c.warn("%v", err)
		} else if uint64(len(data)) < s.Filesz {
			c.warn("core notes+%#x: %v", len(data), wire.ErrTruncated)
		}
	}
	return threads(c.Process)
}

// threads returns an error if p has no thread.
func threads(p *walk.Process) error {
	if len(p.Threads) == 0 {
		return errNoThreads
	}
	return nil
}

// descriptor has the contents of a note and the place at which they begin.
type descriptor struct {
	data []byte
	at   int
}

// nextNote reads the header and the contents of a note (gABI, "Note Section").
func nextNote(cur *wire.Cursor) (name string, typ uint32, desc descriptor) {
	nameSize, size, typ := cur.U32(), cur.U32(), cur.U32()

	// The name and the contents are each padded to 4 bytes.
	name = string(bytes.TrimRight(cur.Bytes(uint64(nameSize)), "\x00"))
	cur.Skip(-uint64(nameSize) & 3)
	desc.at = cur.Pos()
	desc.data = cur.Bytes(uint64(size))
	cur.Skip(min(-uint64(size)&3, uint64(cur.Len())))
	return name, typ, desc
}

// note interprets one note.
func (c *Core) note(name string, typ uint32, desc []byte) error {
	cur := wire.New("note", desc, c.file.BigEndian)
	switch {
	case name == "CORE" && typ == ntPRStatus:
		return c.status(cur)
	case name == "CORE" && typ == ntFPRegSet && c.layout.fprs > 0 && len(c.Process.Threads) > 0:
		return c.floats(cur)
	case name == "CORE" && typ == ntPRPSInfo:
		return c.info(cur)
	case name == "CORE" && typ == ntSigInfo && !c.fault.known:
		return c.sigInfo(cur)
	case name == "CORE" && typ == ntAuxv:
		c.auxVector = desc
		return c.auxv(cur)
	case name == "CORE" && typ == ntFile:
		return c.mappedFiles(cur)
	case name == "LINUX" && typ == ntARMPACMask && c.layout.cpu == "arm64":
		cur.U64() // of data addresses
		c.Process.PACMask = cur.U64()
		return cur.Err()
	}
	for _, s := range systems {
		if strings.HasPrefix(name, s.note) {
			return fmt.Errorf("%w: %s", errSystem, s.text)
		}
	}
	return nil
}

// systems are the sources of ELF core files that are not of a process of Linux, with the names of their
// notes. A thread's note of NetBSD or OpenBSD has its number after the name.
var systems = []struct{ note, text string }{
	{"FreeBSD", "it is of FreeBSD, whose gdb reads it"},
	{"NetBSD-CORE", "it is of NetBSD, whose gdb reads it"},
	{"OpenBSD", "it is of OpenBSD, whose gdb reads it"},
	{"QEMU", "it is of a virtual machine, and crash or drgn read it"},
	{"VMCOREINFO", "it is of a kernel, and crash or drgn read it"},
}

// status reads struct elf_prstatus: one thread.
func (c *Core) status(cur wire.Cursor) error {
	l := c.layout
	// If si_signo of pr_info is 0, pr_cursig at offset 12 has the signal.
	signal := cur.U32()
	cur.Seek(12)
	signal = cmp.Or(signal, uint32(cur.U16()))

	// pr_pid and pr_reg are at offsets that depend on the machine.
	var t walk.Thread
	cur.Seek(uint64(l.pid))
	t.ID = int(int32(cur.U32()))
	cur.Seek(uint64(l.regs))
	for _, r := range l.order {
		t.Regs.Set(r, cur.Uint(l.word))
	}
	if err := cur.Err(); err != nil {
		return err
	}
	if l.tls > 0 {
		cur.Seek(uint64(l.regs + l.tls*l.word))
		c.threadPointers = append(c.threadPointers, cur.Uint(l.word))
	}
	if l.cpu == "s390x" {
		t.Regs.PC &= 1<<63 - 1 // the bit is the addressing mode in 31-bit PSWs
	}
	if len(c.Process.Threads) >= c.limits.Int(limitof.Threads) {
		return c.limits.Exceeded(limitof.Threads, 0)
	}

	c.Process.Threads = append(c.Process.Threads, t)
	// The kernel writes the crashed thread first.
	if len(c.Process.Threads) == 1 {
		c.fault.signal = c.layout.signal(int(signal))
	}
	return nil
}

// floats reads the floating-point registers of the thread read last.
func (c *Core) floats(cur wire.Cursor) error {
	cur.Seek(uint64(c.layout.fprs))
	t := &c.Process.Threads[len(c.Process.Threads)-1]
	for _, r := range c.layout.fprOrder {
		v := cur.Uint(8)
		if cur.Err() == nil {
			t.Regs.Set(r, v)
		}
	}
	return cur.Err()
}

// info reads struct elf_prpsinfo: the process.
func (c *Core) info(cur wire.Cursor) error {
	cur.Seek(uint64(c.layout.psPid))
	pid := cur.U32()
	cur.Seek(uint64(c.layout.psName))
	name := cur.Bytes(16)
	cur.Seek(uint64(c.layout.psArgs))
	args := cur.Bytes(80)
	if cur.Err() == nil {
		c.Process.PID, c.Process.Name = int(pid), text(name)
		c.Process.Args = string(bytes.TrimRight([]byte(text(args)), " "))
	}
	return cur.Err()
}

// text returns the bytes up to the first NUL as a string.
func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// sigInfo reads siginfo_t. gdb writes one for each thread, and that of the crashed thread
// first.
func (c *Core) sigInfo(cur wire.Cursor) error {
	signal, errno, code := cur.U32(), cur.U32(), cur.U32()
	// MIPS has si_code before si_errno.
	if c.layout.signals != nil {
		code = errno
	}

	cur.Seek(uint64(c.layout.siUnion))
	if err := cur.Err(); err != nil {
		return err
	}
	if signal != 0 {
		c.fault = fault{c.layout.signal(int(signal)), int(int32(code)), true, cur}
	}
	return nil
}

// auxv reads the auxiliary vector.
func (c *Core) auxv(cur wire.Cursor) error {
	for word := c.file.AddrSize(); cur.Len() >= 2*word; {
		key, v := cur.Uint(word), cur.Uint(word)
		if key == 0 {
			break
		}
		// The first entry of a key counts.
		if _, ok := c.aux[key]; !ok {
			c.aux[key] = v
		}
	}
	return cur.Err()
}

// mappedFile is one entry of NT_FILE.
type mappedFile struct {
	begin, end uint64
	offset     uint64 // in the file, in bytes
	name       string
}

// mappedFiles reads NT_FILE: the ranges, then their names.
func (c *Core) mappedFiles(cur wire.Cursor) error {
	word := c.file.AddrSize()
	n, page := cur.Uint(word), cur.Uint(word)

	// An entry takes three words, so the count has a bound before anything is allocated.
	if n > uint64(cur.Len())/uint64(3*word) {
		cur.Fail(0, wire.ErrTruncated)
		return cur.Err()
	}

	// All ranges come first, then the names in the same order.
	files := make([]mappedFile, n)
	for i := range files {
		files[i] = mappedFile{cur.Uint(word), cur.Uint(word), cur.Uint(word) * page, ""}
	}

	for i := range files {
		files[i].name = c.pathOf(string(cur.CString()))
		if cur.Err() != nil {
			// Ranges without a name are dropped.
			files = files[:i]
			break
		}
	}

	slices.SortStableFunc(files, func(a, b mappedFile) int { return cmp.Compare(a.begin, b.begin) })
	c.mapped = files
	return cur.Err()
}

// pathOf returns the path of a mapped file without the suffix that the kernel
// adds if the file was deleted.
func (c *Core) pathOf(name string) string {
	path, deleted := strings.CutSuffix(name, deletedMark)
	if deleted {
		c.deleted[path] = true
	}
	return path
}

// crash sets the reason why the process died.
func (c *Core) crash() {
	p, f := c.Process, &c.fault
	if f.signal == 0 {
		return
	}

	p.Crashed = 0
	p.Crash = walk.Crash{Signal: f.signal, Code: f.code, Reason: walk.LinuxReason(f.signal, f.code, f.known)}
	if !f.known {
		return
	}

	// The signal and the code decide which member of siginfo_t's union is valid.
	switch union := f.union; {
	case walk.LinuxFault(f.signal, f.code):
		addr := union.Uint(c.file.AddrSize())
		p.Crash.Address, p.Crash.HasAddress = addr, union.Err() == nil
	case f.code <= 0 && f.code != -7:
		p.Crash.Sender = int(union.U32())
	}
}
