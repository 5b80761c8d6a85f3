package check

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/emit"
)

// ErrNoCode: a core file.
var ErrNoCode = errors.New("a core file has no symbols: give one of the programs that it names")

// module checks MODULE and INFO CODE_ID.
func (r *replay) module() error {
	c, s := r.c, r.s
	c.begin(CheckModule, "fields")
	if s.module.Arch == "" {
		c.missing(Finding{Check: CheckModule, What: "no MODULE record"}, 1)
		return nil
	}
	wrong := func(what string) { c.wrong(s.finding(CheckModule, 1, 0, "%s", what), 1) }
	main := r.img.Main
	c.compared(CheckModule, 2)
	if want := archName(main.Machine, main.Class, main.Flags); want == "" {
		c.unverified(CheckModule, 1, fmt.Sprintf("the name of machine %v is not known", main.Machine))
	} else if s.module.Arch != want {
		wrong(fmt.Sprintf("the architecture is %s", want))
	}
	if want := r.opt.OS; s.module.OS != want && (want != "" || s.module.OS != "Linux") {
		wrong("the operating system is " + cmpOr(want, "Linux"))
	}
	id, names := r.identity()
	c.compared(CheckModule, 3)
	if !slices.Contains(names, escaped(s.module.Name)) {
		wrong(fmt.Sprintf("the name is %s", strings.Join(names, " or ")))
	}
	r.checkID(id, wrong)
	return nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// checkID compares the ids with the build id; without one, with Breakpad's
// hash of the code.
func (r *replay) checkID(id []byte, wrong func(string)) {
	s := r.s
	code, has := s.info(emit.KeyCodeID)
	given := r.opt.ID != "" && strings.EqualFold(s.module.ID, r.opt.ID)
	if id == nil {
		id = textHash(r.img.Main)
		// Breakpad writes the hash there too.
		if has && (id == nil || code.text != upperHex(id)) {
			r.c.wrong(s.finding(CheckModule, code.line, 0, "there is no build id"), 1)
		}
		object := r.img.Main.Type == elf.ET_REL // whose id is what its build says
		if (id == nil || object) && r.opt.ID != "" {
			if !given {
				wrong("the id is " + r.opt.ID)
			}
			return
		} else if id == nil {
			r.c.unverified(CheckModule, 1, "neither build id nor code to make an id of")
			return
		}
	} else if want := upperHex(id); !has {
		r.c.missing(Finding{Check: CheckModule, What: "no INFO CODE_ID: the build id is " + want}, 1)
	} else if text, _, _ := strings.Cut(code.text, " "); text != want {
		r.c.wrong(s.finding(CheckModule, code.line, 0, "the build id is %s", want), 1)
	}
	if want := debugID(id, r.img.Main.BigEndian); s.module.ID != want && !given {
		wrong("the id is " + want)
	}
}

// debugID is the id of a MODULE record: the first 16 bytes as a GUID, whose
// first three fields are numbers in the file's byte order, and an age of 0.
func debugID(id []byte, bigEndian bool) string {
	var b [16]byte
	copy(b[:], id)
	if !bigEndian {
		slices.Reverse(b[0:4])
		slices.Reverse(b[4:6])
		slices.Reverse(b[6:8])
	}
	return upperHex(b[:]) + "0"
}

func upperHex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }

// textHash is the exclusive or of the 16-byte blocks of the first 4096 bytes
// of .text; the last block goes on behind the section's end in the file, as Breakpad's.
// A file without a byte of .text has that of its other code, section after section.
func textHash(f *elfx.File) []byte {
	var code []byte
	for _, name := range []string{".text", "text"} {
		text := f.Section(name)
		if text == nil || text.Size == 0 || len(code) > 0 {
			continue
		}
		n := min(text.Size, 4096)
		code = make([]byte, (n+15)&^15)
		got := copy(code, f.FileBytes(text.Offset, uint64(len(code))))
		if !text.Present() || uint64(got) < n {
			return nil
		}
	}
	if len(code) == 0 {
		code = otherCode(f)
	}
	if len(code) == 0 {
		return nil
	}
	h := make([]byte, 16)
	for i, b := range code {
		h[i%16] ^= b
	}
	return h
}

// otherCode is the first 4096 bytes of all code sections; nil if a part is not in
// the file.
func otherCode(f *elfx.File) (code []byte) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) != elf.SHF_ALLOC|elf.SHF_EXECINSTR || s.Size == 0 {
			continue
		}
		n := min(s.Size, 4096-uint64(len(code)))
		part := f.FileBytes(s.Offset, n)
		if !s.Present() || uint64(len(part)) < n {
			return nil
		}
		code = append(code, part...)
	}
	return code
}

// efMIPSABI2 is the flag of MIPS n32 (MIPS64 ELF, "e_flags"): 32-bit addresses on a 64-bit
// machine.
const efMIPSABI2 = 0x20

// archName is the name of a machine in MODULE records, as Breakpad writes it
// where it knows the machine. MIPS n32 is mips64, as x32 is x86_64: its unwind rules are of
// 64-bit registers, for which Breakpad's walker asks whether the dump is of mips64
// (stackwalker_mips.cc); its dump_syms calls every MIPS mips, which no reader minds.
func archName(m elf.Machine, class elf.Class, flags uint32) string {
	wide := class == elf.ELFCLASS64 || m == elf.EM_MIPS && flags&efMIPSABI2 != 0
	pick := func(a, b string) string {
		if wide {
			return b
		}
		return a
	}
	switch m {
	case elf.EM_386:
		return "x86"
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_PPC:
		return "ppc"
	case elf.EM_PPC64:
		return "ppc64"
	case elf.EM_MIPS, elf.EM_MIPS_RS3_LE:
		return pick("mips", "mips64")
	case elf.EM_RISCV:
		return pick("riscv", "riscv64")
	case elf.EM_S390:
		return pick("s390", "s390x")
	case elf.EM_SPARC, elf.EM_SPARC32PLUS:
		return "sparc"
	case elf.EM_SPARCV9:
		return "sparcv9"
	case elf.EM_LOONGARCH:
		return pick("", "loongarch64")
	}
	return ""
}
