package tombstone

import (
	"errors"
	"slices"

	"symkit/internal/wire"
)

// The messages of debuggerd/proto/tombstone.proto, as far as they are read.
const (
	stoneArch, stoneBuild, stonePID, stoneTID, stoneCommand                = 1, 2, 5, 6, 9
	stoneSignal, stoneAbort, stoneThread, stoneMapping                     = 10, 14, 16, 17
	signalNumber, signalCode, signalHasFault, signalFault                  = 1, 3, 8, 9
	entryKey, entryValue                                                   = 1, 2
	threadID, threadName, threadRegister, threadFrame, threadMemory        = 1, 2, 3, 4, 5
	registerName, registerValue                                            = 1, 2
	framePC, frameAddress, frameFunc, frameFuncOffset                      = 1, 2, 4, 5
	frameFile, frameOffset, frameBuildID                                   = 6, 7, 8
	memoryBegin, memoryBytes                                               = 3, 4
	mappingBegin, mappingEnd, mappingOffset, mappingRead                   = 1, 2, 3, 4
	mappingWrite, mappingExecute, mappingName, mappingBuildID, mappingBias = 5, 6, 7, 8, 9
)

// architectures are the names of the CPUs in MODULE records, by the values of Architecture. The value of ARM32 is 0, which
// messages leave out.
var architectures = [...]string{"arm", "arm64", "x86", "x86_64", "riscv64"}

// errType: a field has a type that proto3 lacks.
var errType = errors.New("unknown type of a field")

// field is a field of a message.
type field struct {
	number uint64
	value  uint64      // of a number
	sub    wire.Cursor // over a message, a string or bytes
}

// next reads a field.
func next(c *wire.Cursor) (f field) {
	at := c.Pos()
	tag := c.ULEB()
	f.number = tag >> 3
	switch tag & 7 {
	case 0:
		f.value = c.ULEB()
	case 1:
		f.value = c.U64()
	case 2:
		f.sub = c.Sub(c.ULEB())
	case 5:
		f.value = uint64(c.U32())
	default:
		c.Fail(at, errType)
	}
	return f
}

// text returns the bytes of a string.
func (f *field) text() string { return string(f.sub.Rest()) }

// each calls read for the fields of a message. A message that is damaged is read up to the damage.
func (s *Tombstone) each(c wire.Cursor, read func(f *field)) {
	for c.Len() > 0 {
		f := next(&c)
		if c.Err() != nil {
			s.lose(c.Pos(), c.Err())
			return
		}
		read(&f)
	}
}

// decodeMessage returns the tombstone in a message. It returns false if data is no such message: all of its fields must be
// readable, and it must have the number of a process and a thread.
func decodeMessage(data []byte) (*Tombstone, bool) {
	s := &Tombstone{CPU: architectures[0]}
	crashed := 0
	c := wire.New(section, data, false)
	for c.Len() > 0 {
		f := next(&c)
		if c.Err() != nil {
			return nil, false
		}
		switch f.number {
		case stoneArch:
			if f.value < uint64(len(architectures)) {
				s.CPU = architectures[f.value]
			}
		case stoneBuild:
			s.Build = f.text()
		case stonePID:
			s.PID = int(uint32(f.value))
		case stoneTID:
			crashed = int(uint32(f.value))
		case stoneCommand:
			if s.Name == "" {
				s.Name = f.text()
			}
		case stoneSignal:
			s.signal(f.sub)
		case stoneAbort:
			s.Abort = f.text()
		case stoneMapping:
			s.mapping(f.sub)
		}
	}
	if s.PID == 0 {
		return nil, false
	}

	// The threads come after the architecture, but need not.
	c.Reset(section, data, false)
	for c.Len() > 0 {
		f := next(&c)
		if f.number == stoneThread {
			s.each(f.sub, func(f *field) {
				if f.number == entryValue {
					s.thread64(f.sub)
				}
			})
		}
	}
	i := slices.IndexFunc(s.Threads, func(t Thread) bool { return t.ID == crashed })
	if i > 0 {
		first := s.Threads[i]
		copy(s.Threads[1:], s.Threads[:i])
		s.Threads[0] = first
	}
	return s, len(s.Threads) > 0
}

// signal reads a message Signal.
func (s *Tombstone) signal(c wire.Cursor) {
	s.each(c, func(f *field) {
		switch f.number {
		case signalNumber:
			s.Signal = int(int32(f.value))
		case signalCode:
			s.Code = int(int32(f.value))
		case signalHasFault:
			s.HasFault = f.value != 0
		case signalFault:
			s.Address = f.value
		}
	})
	s.HasCode = true
}

// thread64 reads a message Thread.
func (s *Tombstone) thread64(c wire.Cursor) {
	if len(s.Threads) == maxThreads {
		s.lose(c.Pos(), errMany)
		return
	}
	s.Threads = append(s.Threads, Thread{})
	t := s.thread()
	s.each(c, func(f *field) {
		switch f.number {
		case threadID:
			t.ID = int(int32(f.value))
		case threadName:
			t.Name = f.text()
		case threadRegister:
			var name string
			var value uint64
			s.each(f.sub, func(f *field) {
				switch f.number {
				case registerName:
					name = f.text()
				case registerValue:
					value = f.value
				}
			})
			s.setRegister(t, name, value)
		case threadFrame:
			s.frame(f.sub)
		case threadMemory:
			s.memory(t, f.sub)
		}
	})
}

// frame reads a message BacktraceFrame.
func (s *Tombstone) frame(c wire.Cursor) {
	var out Frame
	at := c.Pos()
	s.each(c, func(f *field) {
		switch f.number {
		case framePC:
			out.PC = f.value
		case frameAddress:
			out.Address = f.value
		case frameFunc:
			out.Func = f.text()
		case frameFuncOffset:
			out.FuncOffset = f.value
		case frameFile:
			out.Module = f.text()
		case frameOffset:
			out.Offset = f.value
		case frameBuildID:
			out.BuildID = buildID(f.text())
		}
	})
	s.addFrame(at, out)
}

// memory reads a message MemoryDump.
func (s *Tombstone) memory(t *Thread, c wire.Cursor) {
	var base uint64
	var data []byte
	s.each(c, func(f *field) {
		switch f.number {
		case memoryBegin:
			base = f.value
		case memoryBytes:
			data = f.sub.Rest()
		}
	})
	t.Memory = append(t.Memory, Range{s.untagged(base), data})
}

// mapping reads a message MemoryMapping.
func (s *Tombstone) mapping(c wire.Cursor) {
	var out Mapping
	at := c.Pos()
	s.each(c, func(f *field) {
		switch f.number {
		case mappingBegin:
			out.Begin = f.value
		case mappingEnd:
			out.End = f.value
		case mappingOffset:
			out.Offset = f.value
		case mappingRead:
			out.Read = f.value != 0
		case mappingWrite:
			out.Write = f.value != 0
		case mappingExecute:
			out.Execute = f.value != 0
		case mappingName:
			out.Path = f.text()
		case mappingBuildID:
			out.BuildID = buildID(f.text())
		case mappingBias:
			out.LoadBias = f.value
		}
	})
	switch {
	case len(s.Mappings) == maxMappings:
		s.lose(at, errMany)
	case out.Begin >= out.End:
		s.lose(at, errRecord)
	default:
		s.Mappings = append(s.Mappings, out)
	}
}
