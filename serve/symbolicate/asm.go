package symbolicate

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/internal/disasm"
	"symkit/internal/mem"
	"symkit/lookup"
)

// maxCode bounds the code of one answer, longest the bytes of an instruction.
const maxCode, longest = 1 << 20, 15

// asmRequest is a request of /asm/v1.
type asmRequest struct {
	Name, CodeID, DebugName, DebugID string
	StartAddress, Size               *address
	ToEnd                            bool
}

// asmV1 answers with the instructions of a part of a module.
func (s *Server) asmV1(w http.ResponseWriter, r *http.Request) error {
	var q asmRequest
	err := readSmall(w, r, map[string]any{"name": &q.Name, "codeId": &q.CodeID, "debugName": &q.DebugName, "debugId": &q.DebugID,
		"startAddress": &q.StartAddress, "size": &q.Size, "continueUntilFunctionEnd": &q.ToEnd})
	switch {
	case err != nil:
		return err
	case q.StartAddress == nil:
		return missingField("startAddress")
	case q.Size == nil:
		return missingField("size")
	case *q.Size > maxCode:
		return refuse(fmt.Sprintf("please limit the size of code in a single request to <= %#x bytes", maxCode))
	}

	// The symbols name the targets of branches, and the file if the request does not.
	m := &module{moduleKey: moduleKey{q.DebugName, q.DebugID}}
	if q.DebugName != "" && q.DebugID != "" {
		err = s.openSymbols(r, m)
		if err == nil {
			defer m.release()
			if q.CodeID == "" {
				q.CodeID = m.file.CodeID()
			}
		} else if q.CodeID == "" {
			return err
		}
	}
	if q.CodeID == "" {
		return &failure{http.StatusNotFound, "An error occurred when loading the binary: Not enough information was supplied to identify the requested binary."}
	}
	image, err := s.executable(r.Context(), q.Name, q.CodeID)
	if err != nil {
		return err
	}
	defer image.Close()
	size := uint64(*q.Size)
	if q.ToEnd && m.file != nil {
		size = max(size, min(toEnd(m.file, uint64(*q.StartAddress)), maxCode))
	}
	var answer []byte
	err = mem.Guard(func() (err error) {
		answer, err = disassemble(image, m.file, uint64(*q.StartAddress), size)
		return err
	})
	if err != nil {
		return err
	}
	return reply(w, answer)
}

// executable opens the file of a module.
func (s *Server) executable(ctx context.Context, name, codeID string) (*elfx.File, error) {
	image, err := s.store.Executable(ctx, name, codeID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &failure{http.StatusNotFound, "An error occurred when loading the binary: the store does not have the file"}
	case err != nil && ctx.Err() == nil:
		s.opt.Log(err)
		return nil, &failure{http.StatusNotFound, "An error occurred when loading the binary: the store cannot read the file"}
	}
	return image, err
}

// toEnd returns the number of bytes from an address to the end of its function, 0 if that is not known.
func toEnd(f *lookup.File, offset uint64) uint64 {
	addr, _ := f.Address(lookup.Relative, offset)
	frames, _ := f.Frames(nil, addr) // damage costs the address its frames
	if len(frames) > 0 && frames[len(frames)-1].Size > 0 {
		outer := &frames[len(frames)-1]
		return outer.Start + outer.Size - addr
	}
	sym, ok := f.SymbolAt(addr)
	if !ok {
		return 0
	}
	return max(sym.Addr+sym.Size, addr) - addr
}

// archs are the names that samply has for machines.
var archs = map[elf.Machine]string{elf.EM_386: "i686", elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}

// disassemble returns the answer for size bytes from an offset. Symbols, which may be nil, name the targets of branches.
func disassemble(image *elfx.File, symbols *lookup.File, offset, size uint64) ([]byte, error) {
	machine := disasm.Machine{Machine: image.Machine, Class: image.Class, BigEndian: image.BigEndian}
	arch, err := identity.Arch(image)
	if archs[image.Machine] != "" {
		arch = archs[image.Machine]
	}
	if !machine.Known() {
		if err != nil {
			arch = "unknown"
		}
		return nil, &failure{http.StatusNotFound, fmt.Sprintf("Unrecognized architecture %q", arch)}
	}
	offset &^= machine.Aligned() - 1
	code, err := codeAt(image, offset+image.LoadAddress(), size)
	if err != nil {
		return nil, err
	}
	texts := [][]disasm.Instruction{machine.Decode(code, offset)}
	syntax := `"GNU"`
	switch image.Machine {
	case elf.EM_386, elf.EM_X86_64:
		intel := machine
		intel.Intel = true
		texts, syntax = [][]disasm.Instruction{intel.Decode(code, offset), texts[0]}, `"Intel","AT&T"`
	case elf.EM_AARCH64:
		syntax = `"ARM"`
	}

	list, end := []byte(nil), uint64(0)
	for i, in := range texts[0] {
		if in.Addr-offset >= size {
			break
		}
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendUint(append(list, '['), in.Addr-offset, 10)
		for _, text := range texts {
			other := in
			if i < len(text) && text[i].Addr == in.Addr {
				other.Text = text[i].Text
			}
			list = appendString(append(list, ','), instruction(symbols, &other))
		}
		list = append(list, ']')
		end = in.Addr - offset + uint64(len(in.Bytes))
	}
	answer := appendHex([]byte(`{"startAddress":`), offset)
	answer = appendHex(append(answer, `,"size":`...), end)
	answer = appendString(append(answer, `,"arch":`...), arch)
	answer = append(append(append(answer, `,"syntax":[`...), syntax...), `],"instructions":[`...)
	return append(append(answer, list...), "]}"...), nil
}

// codeAt returns the code at an address: size bytes, and up to one instruction more.
func codeAt(image *elfx.File, addr, size uint64) ([]byte, error) {
	for _, r := range image.ExecRanges() {
		if addr < r.Lo || addr >= r.Hi {
			continue
		}
		code := image.BytesAt(addr, min(size+longest, r.Hi-addr))
		if uint64(len(code)) >= size && code != nil {
			return code, nil
		}
		return nil, &failure{http.StatusNotFound, "Could not read the requested address range from the section (might be out of bounds or the section might not have any bytes in the file)"}
	}
	return nil, &failure{http.StatusNotFound, "The requested address was not found in any section in the binary."}
}

// instruction returns the text of an instruction, with the name of where a branch leads.
func instruction(symbols *lookup.File, in *disasm.Instruction) string {
	if in.Text == "" {
		text := fmt.Appendf(nil, ".byte 0x%02x", in.Bytes[0])
		for _, b := range in.Bytes[1:] {
			text = fmt.Appendf(text, ", 0x%02x", b)
		}
		return string(text)
	}
	text := strings.TrimRight(in.Text, " ")
	if in.Target == 0 || symbols == nil {
		return text
	}
	addr, _ := symbols.Address(lookup.Relative, in.Target)
	frames, _ := symbols.Frames(nil, addr) // damage costs the address its frames
	name, start := "", uint64(0)
	if len(frames) > 0 {
		outer := &frames[len(frames)-1]
		name, start = outer.Readable(), outer.Start
	} else {
		sym, _ := symbols.SymbolBelow(addr)
		name, start = sym.Name, sym.Addr
	}
	switch {
	case name == "":
		return text
	case start == addr:
		return text + " <" + name + ">"
	}
	return fmt.Sprintf("%s <%s+%#x>", text, name, addr-start)
}
