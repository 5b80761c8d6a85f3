package tombstone

import (
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

// each calls read for the fields of a message. A message that is damaged is read up to the damage.
func (s *Tombstone) each(c wire.Cursor, read func(f *wire.Field)) {
	for c.Len() > 0 {
		f := c.Field()
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
		f := c.Field()
		if c.Err() != nil {
			return nil, false
		}
		switch f.Number {
		case stoneArch:
			if f.Value < uint64(len(architectures)) {
				s.CPU = architectures[f.Value]
			}
		case stoneBuild:
			s.Build = f.Text()
		case stonePID:
			s.PID = int(uint32(f.Value))
		case stoneTID:
			crashed = int(uint32(f.Value))
		case stoneCommand:
			if s.Name == "" {
				s.Name = f.Text()
			}
		case stoneSignal:
			s.signal(f.Sub)
		case stoneAbort:
			s.Abort = f.Text()
		case stoneMapping:
			s.mapping(f.Sub)
		}
	}
	if s.PID == 0 {
		return nil, false
	}

	// The threads come after the architecture, but need not.
	c.Reset(section, data, false)
	for c.Len() > 0 {
		f := c.Field()
		if f.Number == stoneThread {
			s.each(f.Sub, func(f *wire.Field) {
				if f.Number == entryValue {
					s.thread64(f.Sub)
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
	s.each(c, func(f *wire.Field) {
		switch f.Number {
		case signalNumber:
			s.Signal = int(int32(f.Value))
		case signalCode:
			s.Code = int(int32(f.Value))
		case signalHasFault:
			s.HasFault = f.Value != 0
		case signalFault:
			s.Address = f.Value
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
	s.each(c, func(f *wire.Field) {
		switch f.Number {
		case threadID:
			t.ID = int(int32(f.Value))
		case threadName:
			t.Name = f.Text()
		case threadRegister:
			var name string
			var value uint64
			s.each(f.Sub, func(f *wire.Field) {
				switch f.Number {
				case registerName:
					name = f.Text()
				case registerValue:
					value = f.Value
				}
			})
			s.setRegister(t, name, value)
		case threadFrame:
			s.frame(f.Sub)
		case threadMemory:
			s.memory(t, f.Sub)
		}
	})
}

// frame reads a message BacktraceFrame.
func (s *Tombstone) frame(c wire.Cursor) {
	var out Frame
	at := c.Pos()
	s.each(c, func(f *wire.Field) {
		switch f.Number {
		case framePC:
			out.PC = f.Value
		case frameAddress:
			out.Address = f.Value
		case frameFunc:
			out.Func = f.Text()
		case frameFuncOffset:
			out.FuncOffset = f.Value
		case frameFile:
			out.Module = f.Text()
		case frameOffset:
			out.Offset = f.Value
		case frameBuildID:
			out.BuildID = buildID(f.Text())
		}
	})
	s.addFrame(at, out)
}

// memory reads a message MemoryDump.
func (s *Tombstone) memory(t *Thread, c wire.Cursor) {
	var base uint64
	var data []byte
	s.each(c, func(f *wire.Field) {
		switch f.Number {
		case memoryBegin:
			base = f.Value
		case memoryBytes:
			data = f.Sub.Rest()
		}
	})
	t.Memory = append(t.Memory, Range{s.untagged(base), data})
}

// mapping reads a message MemoryMapping.
func (s *Tombstone) mapping(c wire.Cursor) {
	var out Mapping
	at := c.Pos()
	s.each(c, func(f *wire.Field) {
		switch f.Number {
		case mappingBegin:
			out.Begin = f.Value
		case mappingEnd:
			out.End = f.Value
		case mappingOffset:
			out.Offset = f.Value
		case mappingRead:
			out.Read = f.Value != 0
		case mappingWrite:
			out.Write = f.Value != 0
		case mappingExecute:
			out.Execute = f.Value != 0
		case mappingName:
			out.Path = f.Text()
		case mappingBuildID:
			out.BuildID = buildID(f.Text())
		case mappingBias:
			out.LoadBias = f.Value
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
