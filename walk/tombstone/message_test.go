package tombstone

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"symkit/cfi"
)

// num and msg write fields of a message.
func num(to []byte, field int, v uint64) []byte {
	if v == 0 {
		return to // as proto3 has it
	}
	return binary.AppendUvarint(binary.AppendUvarint(to, uint64(field)<<3), v)
}

func msg(to []byte, field int, data []byte) []byte {
	to = binary.AppendUvarint(binary.AppendUvarint(to, uint64(field)<<3|2), uint64(len(data)))
	return append(to, data...)
}

func text(to []byte, field int, s string) []byte {
	if s == "" {
		return to
	}
	return msg(to, field, []byte(s))
}

func flag(to []byte, field int, v bool) []byte {
	if v {
		return num(to, field, 1)
	}
	return to
}

// encode writes a tombstone as a message.
func encode(s *Tombstone) (out []byte) {
	out = num(out, stoneArch, uint64(slices.Index(architectures[:], s.CPU)))
	out = text(out, stoneBuild, s.Build)
	out = num(out, stonePID, uint64(s.PID))
	out = num(out, stoneTID, uint64(s.Threads[0].ID))
	out = text(out, stoneCommand, s.Name)
	sig := num(nil, signalNumber, uint64(s.Signal))
	sig = num(sig, signalCode, uint64(int64(s.Code)))
	sig = flag(sig, signalHasFault, s.HasFault)
	out = msg(out, stoneSignal, num(sig, signalFault, s.Address))
	out = text(out, stoneAbort, s.Abort)
	for _, t := range slices.Backward(s.Threads) {
		th := text(num(nil, threadID, uint64(t.ID)), threadName, t.Name)
		register := func(name string, v uint64) {
			th = msg(th, threadRegister, num(text(nil, registerName, name), registerValue, v))
		}
		register(map[string]string{"x86": "eip", "x86_64": "rip"}[s.CPU]+map[bool]string{true: "pc"}[s.CPU[0] != 'x'], t.Regs.PC)
		arch := cfi.ArchByName(s.CPU)
		for r := range cfi.Reg(40) {
			v, ok := t.Regs.Get(r)
			if name := arch.RegName(r); ok && name != "" {
				if name[0] == '$' {
					name = name[1:]
				}
				register(name, v)
			}
		}
		for _, f := range t.Frames {
			fr := text(num(nil, framePC, f.PC), frameFunc, f.Func)
			fr = text(num(fr, frameFuncOffset, f.FuncOffset), frameFile, f.Module)
			fr = text(num(fr, frameOffset, f.Offset), frameBuildID, hex.EncodeToString(f.BuildID))
			th = msg(th, threadFrame, fr)
		}
		for _, m := range t.Memory {
			th = msg(th, threadMemory, msg(num(nil, memoryBegin, m.Base), memoryBytes, m.Data))
		}
		out = msg(out, stoneThread, msg(num(nil, entryKey, uint64(t.ID)), entryValue, th))
	}
	for _, m := range s.Mappings {
		e := num(num(num(nil, mappingBegin, m.Begin), mappingEnd, m.End), mappingOffset, m.Offset)
		e = flag(flag(flag(e, mappingRead, m.Read), mappingWrite, m.Write), mappingExecute, m.Execute)
		e = text(text(e, mappingName, m.Path), mappingBuildID, hex.EncodeToString(m.BuildID))
		out = msg(out, stoneMapping, num(e, mappingBias, m.LoadBias))
	}
	return out
}

// fixtures returns the texts of testdata.
func fixtures(t testing.TB) (all [][]byte) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) < 9 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// TestMessage: a message gives the process that the text gives.
func TestMessage(t *testing.T) {
	for _, data := range fixtures(t) {
		stones, err := Decode(data)
		if err != nil || len(stones) != 1 || stones[0].Lost > 0 {
			t.Fatalf("%v, %+v", err, stones)
		}
		want := stones[0]
		if want.CPU == "" {
			continue // every message says which CPU
		}
		again, err := Decode(encode(want))
		if err != nil {
			t.Fatal(err)
		}
		got := again[0]
		if !reflect.DeepEqual(got.Process(), want.Process()) {
			t.Errorf("%s:\n%+v\n%+v", want.Name, got.Process(), want.Process())
		}
	}
}

// FuzzDecode: a tombstone of any bytes has a process whose modules lie in order, whose memory is readable as a whole,
// and losses inside of the data.
func FuzzDecode(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
		stones, err := Decode(data)
		if err != nil {
			f.Fatal(err)
		}
		if stones[0].CPU != "" {
			f.Add(encode(stones[0]))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stones, err := Decode(data)
		if (err == nil) != Is(data) {
			t.Fatalf("%v, %v", err, Is(data))
		}
		for _, s := range stones {
			p := s.Process()
			for i, m := range p.Modules {
				if m.End < m.Base || i > 0 && m.Base < p.Modules[i-1].End {
					t.Fatalf("module %d: %+v", i, m)
				}
			}
			for _, r := range p.Memory.(memory) {
				if b := p.Memory.Bytes(r.Base, uint64(len(r.Data))); len(b) != len(r.Data) {
					t.Fatalf("%#x: %d bytes, not %d", r.Base, len(b), len(r.Data))
				}
			}
			for _, th := range p.Threads {
				if len(th.Listed) > len(data) {
					t.Fatalf("%d frames", len(th.Listed))
				}
			}
			if s.Offset > len(data) || len(s.Losses) > maxLosses {
				t.Fatalf("%d, %d losses", s.Offset, len(s.Losses))
			}
		}
	})
}

// TestNone: what has no tombstone.
func TestNone(t *testing.T) {
	for _, data := range []string{"", stars, stars + "\npid: 12, tid: 13, name io.flutter\nbuild_id: '00'\n", "pid: 1, tid: 2\n" + stars, "MDMP", "\x12\x02ab", "\x28\x01", "\x28\x01\x82\x01\x03"} {
		if _, err := Decode([]byte(data)); err == nil || Is([]byte(data)) {
			t.Errorf("%q: %v", data, err)
		}
	}
}
