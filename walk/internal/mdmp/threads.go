package mdmp

import "symkit/internal/wire"

// Thread is MINIDUMP_THREAD.
type Thread struct {
	ID           uint32
	SuspendCount uint32
	// PriorityClass and Priority are Windows'.
	PriorityClass, Priority uint32
	TEB                     uint64 // address of the thread environment block
	Stack                   Range
	Context                 Location
}

const (
	threadSize     = 48
	threadNameSize = 12
	threadInfoSize = 64
)

// readThreads decodes MINIDUMP_THREAD_LIST. A stack outside the file is lost,
// the thread is not.
func (d *Dump) readThreads(c wire.Cursor) error {
	n := count(&c, threadSize)
	threads := make([]Thread, n)
	for i := range threads {
		t := &threads[i]
		t.ID, t.SuspendCount, t.PriorityClass, t.Priority = c.U32(), c.U32(), c.U32(), c.U32()
		t.TEB = c.U64()
		at := c.Pos()
		base := c.U64()
		stack := location(&c)
		t.Context = location(&c)

		// A thread without its stack still has its registers.
		var err error
		t.Stack, err = d.memory(base, stack, at)
		d.lose(ThreadListStream, err)
	}

	d.Threads = threads
	return c.Err()
}

// ThreadByID returns the index of a thread, or -1 if there is none with the id.
func (d *Dump) ThreadByID(id uint32) int {
	for i := range d.Threads {
		if d.Threads[i].ID == id {
			return i
		}
	}
	return -1
}

// ThreadName is MINIDUMP_THREAD_NAME.
type ThreadName struct {
	ID   uint32
	Name Text
}

// readThreadNames decodes MINIDUMP_THREAD_NAME_LIST. A name that cannot be
// read is lost alone.
func (d *Dump) readThreadNames(c wire.Cursor) error {
	n := count(&c, threadNameSize)
	names := make([]ThreadName, 0, n)
	for range n {
		id := c.U32()
		at := c.Pos()
		name, err := d.name(c.U64(), at)
		if err != nil {
			d.lose(ThreadNamesStream, err)
			continue
		}
		names = append(names, ThreadName{id, name})
	}

	d.ThreadNames = names
	return c.Err()
}

// ThreadInfo is MINIDUMP_THREAD_INFO.
type ThreadInfo struct {
	ID         uint32
	DumpFlags  uint32 // MINIDUMP_THREAD_INFO_*
	DumpError  uint32 // HRESULT
	ExitStatus uint32
	// CreateTime and ExitTime count 100 ns from 1601; KernelTime and UserTime
	// are durations in 100 ns.
	CreateTime, ExitTime, KernelTime, UserTime uint64
	StartAddress                               uint64
	Affinity                                   uint64
}

// readThreadInfos decodes MINIDUMP_THREAD_INFO_LIST.
func (d *Dump) readThreadInfos(c wire.Cursor) error {
	list := tableHeader(&c, threadInfoSize, false)
	infos := make([]ThreadInfo, list.n)
	for i := range infos {
		r := c.Sub(list.size)
		infos[i] = ThreadInfo{
			ID: r.U32(), DumpFlags: r.U32(), DumpError: r.U32(), ExitStatus: r.U32(),
			CreateTime: r.U64(), ExitTime: r.U64(), KernelTime: r.U64(), UserTime: r.U64(),
			StartAddress: r.U64(), Affinity: r.U64(),
		}
	}

	d.ThreadInfos = infos
	return c.Err()
}
