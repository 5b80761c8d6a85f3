package tombstone

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"symkit/cfi"
	"symkit/lookup/logs"
	"symkit/walk"
)

// The text of debuggerd (libdebuggerd: tombstone_proto_to_text.cpp, and tombstone.cpp before Android 12) has a section for
// each kind of record. The first line of a tombstone are asterisks; the threads after the first one begin with dashes.
// In the log each line has a prefix, and lines of other programs may lie between. Unity writes the same under a tag of its
// own. Google Play shows the first line, the thread and the backtrace alone, with "pc 0x" and, in older reports, "#00" in
// each frame. ndk-stack writes "#00 0x12ab /system/lib64/libc.so", and places below the frames.

// expressions of the lines. Numbers have the apostrophe of newer maps removed.
type expressions struct {
	header, thread, signal, register, frame, word, mapping, near *regexp.Regexp
}

var lines = sync.OnceValue(func() *expressions {
	return &expressions{
		header:   regexp.MustCompile(`^\[ [-\d]+ [\d:.]+ +\d+: *\d+ [VDIWEFA]/(.*?) *\]$`),
		thread:   regexp.MustCompile(`^pid: (\d+), tid: (\d+)(?:, name: (.*?))?(?: +>>> (.*) <<<)?$`),
		signal:   regexp.MustCompile(`^signal (\d+) \([^)]*\)(?:, code (-?\d+) \([^)]*\))?(?:, fault addr ?(?:0x)?([0-9a-f]+|-+))?`),
		register: regexp.MustCompile(`([a-z][a-z0-9]{1,4}) +([0-9a-f]{8,16})\b`),
		frame:    regexp.MustCompile(`^ *#(\d+) +(?:pc +(?:0x)?|0x)([0-9a-f]{1,16})\s+([^(\s].*)$`),
		word:     regexp.MustCompile(`^ *(?:#\d+ +)?([0-9a-f]{8}|[0-9a-f]{16})  ?([0-9a-f]{8}|[0-9a-f]{16})(?:\s|$)`),
		mapping:  regexp.MustCompile(`^(?:--->|\s*)([0-9a-f]{8,16})-([0-9a-f]{8,16}) ([r-])([w-])([x-])(?: +([0-9a-f]+) +([0-9a-f]+))?(?: +(.*))?$`),
		near:     regexp.MustCompile(`^ *([0-9a-f]{8}|[0-9a-f]{16})((?: (?:[0-9a-f]{8}(?:[0-9a-f]{8})?|-{8,16}|\.{8,16})){1,4})(?:\s|$)`),
	}
})

// stars begin a tombstone, dashes another thread, and dump what ndk-stack writes.
const (
	stars  = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***"
	dashes = "--- --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---"
	dump   = "********** Crash dump: **********"
)

// isText reports whether data can have the text of a tombstone.
func isText(data []byte) bool {
	at := bytes.Index(data, []byte("pid: "))
	return at >= 0 && bytes.Contains(data[at:], []byte(", tid: ")) || bytes.Contains(data, []byte(dump))
}

// decodeText returns the tombstones in a text.
func decodeText(data []byte) (stones []*Tombstone) {
	var r *reader
	header, at := "", 0
	for raw := range bytes.Lines(data) {
		line, offset := string(bytes.TrimRight(raw, "\r\n")), at
		at += len(raw)
		if strings.HasPrefix(line, "[ ") {
			m := lines().header.FindStringSubmatch(line)
			if m != nil {
				header = m[1]
				continue
			}
		}
		starts := strings.Contains(line, stars) || strings.Contains(line, dump)
		if starts || r.isOther(line) {
			r = &reader{Tombstone: &Tombstone{Offset: offset}, prefix: prefixOf(data[offset:]), header: header}
			stones = append(stones, r.Tombstone)
		}
		if r == nil || starts || header != r.header || len(line) > maxLine {
			continue
		}
		rest, ok := r.prefix.cut(line)
		if ok {
			r.line(rest, offset)
		}
	}
	return stones
}

// isOther reports whether a line is that of the first thread of another tombstone whose asterisks were lost, as they are
// where a report was taken for Markdown.
func (r *reader) isOther(line string) bool {
	at := strings.Index(line, "pid: ")
	if at < 0 || at > maxPrefix {
		return false
	}
	m := lines().thread.FindStringSubmatch(strings.TrimRight(line[at:], " "))
	return m != nil && m[4] != "" && (r == nil || len(r.Threads) > 0 && m[1] != strconv.Itoa(r.PID))
}

// maxLine is the length of the lines that are read, in bytes.
const maxLine = 1 << 12

// reader reads the text of one tombstone.
type reader struct {
	*Tombstone
	prefix prefix // of the lines of a log
	header string // the tag before the lines of a log in the format "long"
	last   string // the number of the last frame
	read   func(r *reader, line string, at int) bool
}

// heads are the lines that begin a section, and what reads the section's lines.
var heads = []struct {
	text string
	read func(r *reader, line string, at int) bool
}{
	{"backtrace:", (*reader).frame},
	{"stack:", (*reader).stackWord},
	{"memory near ", (*reader).memory},
	{"code around ", (*reader).memory},
	{"memory map", (*reader).mapping},
	{"registers:", nil},
	{"open files:", nil},
	{"--------- ", nil},      // logs
	{"allocated by ", nil},   // frames of another time
	{"deallocated by ", nil}, // likewise
}

// line reads one line.
func (r *reader) line(line string, at int) {
	text := strings.TrimSpace(line)
	if text == "" {
		return
	}
	if strings.HasPrefix(text, dashes) {
		r.read = nil
		return
	}
	for _, h := range heads {
		if strings.HasPrefix(text, h.text) {
			r.read = h.read
			return
		}
	}
	if r.head(text, at) {
		r.read = (*reader).frame // Android 3 has no heading of the backtrace
		return
	}
	if r.read != nil && r.read(r, line, at) {
		return
	}
	r.registers(text)
}

// head reads a line about the process or the beginning of a thread.
func (r *reader) head(text string, at int) bool {
	if m := lines().thread.FindStringSubmatch(text); m != nil {
		if len(r.Threads) == maxThreads {
			r.lose(at, errMany)
			return true
		}
		pid, _ := strconv.Atoi(m[1]) // 0 for a number that is too large
		tid, _ := strconv.Atoi(m[2])
		if r.PID == 0 {
			r.PID, r.Name = pid, m[4]
		}
		r.Threads = append(r.Threads, Thread{ID: tid, Name: m[3]})
		return true
	}
	if m := lines().signal.FindStringSubmatch(text); m != nil && r.Signal == 0 {
		r.Signal, _ = strconv.Atoi(m[1])
		var err error
		r.Code, err = strconv.Atoi(m[2])
		r.HasCode = err == nil
		r.Address, err = strconv.ParseUint(m[3], 16, 64)
		r.HasFault = err == nil
		return true
	}
	for _, field := range []struct {
		key string
		set func(value string)
	}{
		{"ABI: ", func(v string) { r.CPU = cpuOf(strings.Trim(v, "'")) }},
		{"Build fingerprint: ", func(v string) { r.Build = strings.Trim(v, "'") }},
		{"Abort message: ", func(v string) { r.Abort = strings.Trim(v, "'") }},
	} {
		value, ok := strings.CutPrefix(text, field.key)
		if ok {
			field.set(value)
			return true
		}
	}
	return false
}

// cpuOf returns the name of a CPU in MODULE records.
func cpuOf(abi string) string {
	switch {
	case strings.HasPrefix(abi, "arm64"):
		return "arm64"
	case strings.HasPrefix(abi, "arm"):
		return "arm"
	}
	return abi // x86, x86_64, riscv64
}

// registers reads a line of registers of the last thread.
func (r *reader) registers(text string) {
	t := r.thread()
	if t == nil || len(t.Frames) > 0 {
		return
	}
	for _, m := range lines().register.FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseUint(m[2], 16, 64)
		if err == nil {
			r.setRegister(t, m[1], v)
		}
	}
}

// setRegister sets a register of a thread. The first one shows which CPU the tombstone is of, if nothing did before.
func (s *Tombstone) setRegister(t *Thread, name string, v uint64) {
	if s.CPU == "" {
		s.CPU = map[string]string{"x0": "arm64", "r0": "arm", "eax": "x86", "rax": "x86_64", "ra": "riscv64"}[name]
	}
	switch name {
	case "pc", "eip", "rip":
		t.Regs.PC, t.HasPC = v, true
		return
	case "ip":
		name = "r12"
	}
	arch := cfi.ArchByName(s.CPU)
	if arch == nil {
		return
	}
	switch s.CPU {
	case "x86", "x86_64":
		name = "$" + name
	case "arm64":
		name = cmp.Or(map[string]string{"lr": "x30"}[name], name)
	case "arm":
		name = cmp.Or(map[string]string{"sl": "r10", "fp": "r11"}[name], name)
	}
	reg, ok := arch.Reg(name)
	if ok {
		t.Regs.Set(reg, v)
	}
}

// frame reads a line of a backtrace.
func (r *reader) frame(line string, at int) bool {
	m := lines().frame.FindStringSubmatch(line)
	if m == nil {
		return strings.HasPrefix(strings.TrimSpace(line), "NOTE:")
	}
	pc, err := strconv.ParseUint(m[2], 16, 64)
	if err != nil {
		r.lose(at, errRecord)
		return true
	}
	if r.thread() == nil {
		r.Threads = append(r.Threads, Thread{}) // ndk-stack does not say which one
	}
	number := strings.TrimLeft(m[1], "0")
	n := len(r.thread().Frames)
	same := number == "" && r.last == "" // Google Play has #00 in each frame
	if n > 0 && !same && number != strconv.Itoa(n) {
		return true // of another backtrace
	}
	r.last = number
	f := Frame{PC: pc}
	f.Module, f.Offset, f.Func, f.FuncOffset, f.BuildID = frameParts(m[3])
	if logs.IsPlain(f.Module) {
		f.Offset = 0
	}
	r.addFrame(at, f)
	return true
}

// frameParts takes the part of a frame after the address apart: the module, "(offset 0x1000)", "(function+12)" and
// "(BuildId: 12ab)".
func frameParts(text string) (module string, offset uint64, function string, distance uint64, id []byte) {
	// Each part in parentheses is cut off from the end; names of functions have parentheses of their own.
	for strings.HasSuffix(text, ")") {
		open := openingParenthesis(text)
		if open < 1 || text[open-1] != ' ' {
			break
		}
		part := text[open+1 : len(text)-1]
		switch {
		case strings.HasPrefix(part, "BuildId: "):
			id = buildID(part[len("BuildId: "):])
		case strings.HasPrefix(part, "offset 0x"):
			offset, _ = strconv.ParseUint(part[len("offset 0x"):], 16, 64)
		case part == "deleted":
			return strings.TrimSpace(text), offset, function, distance, id
		default:
			function = part
			if plus := strings.LastIndexByte(part, '+'); plus > 0 {
				n, err := strconv.ParseUint(part[plus+1:], 10, 64)
				if err == nil {
					function, distance = part[:plus], n
				}
			}
		}
		text = strings.TrimRight(text[:open], " ")
	}
	return strings.TrimSpace(text), offset, function, distance, id
}

// openingParenthesis returns the index of the parenthesis that the last one of text closes, or -1.
func openingParenthesis(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// buildID reads a build id; nil if there is none.
func buildID(text string) []byte {
	if len(text) > 128 {
		return nil
	}
	id, err := hex.DecodeString(text)
	if err != nil || len(id) == 0 {
		return nil
	}
	return id
}

// stackWord reads a line of the section "stack": an address and the word there.
func (r *reader) stackWord(line string, at int) bool {
	m := lines().word.FindStringSubmatch(line)
	if m == nil {
		return strings.Contains(line, "........")
	}
	r.words(at, m[1], m[2])
	return true
}

// memory reads a line of the section "memory near": an address and up to four words.
func (r *reader) memory(line string, at int) bool {
	m := lines().near.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	r.words(at, m[1], strings.Fields(m[2])...)
	return true
}

// words adds the words at an address to the memory of the last thread. What could not be read ends a range.
func (r *reader) words(at int, addr string, words ...string) {
	t := r.thread()
	base, err := strconv.ParseUint(addr, 16, 64)
	if t == nil || err != nil {
		return
	}
	base = r.untagged(base)
	for _, word := range words {
		v, err := strconv.ParseUint(word, 16, 64)
		if err == nil {
			t.add(base, binary.LittleEndian.AppendUint64(nil, v)[:len(word)/2])
		}
		base += uint64(len(word)) / 2
	}
}

// untagged returns an address without the tag of MTE.
func (s *Tombstone) untagged(addr uint64) uint64 {
	if s.CPU == "arm64" {
		return addr << 8 >> 8
	}
	return addr
}

// add adds memory, to the last range if the memory follows it.
func (t *Thread) add(base uint64, data []byte) {
	n := len(t.Memory)
	if n > 0 && t.Memory[n-1].Base+uint64(len(t.Memory[n-1].Data)) == base {
		t.Memory[n-1].Data = append(t.Memory[n-1].Data, data...)
		return
	}
	t.Memory = append(t.Memory, Range{base, data})
}

// mapping reads a line of the memory map.
func (r *reader) mapping(line string, at int) bool {
	m := lines().mapping.FindStringSubmatch(strings.ReplaceAll(line, "'", ""))
	if m == nil {
		return strings.HasPrefix(line, "--->")
	}
	begin, err1 := strconv.ParseUint(m[1], 16, 64)
	last, err2 := strconv.ParseUint(m[2], 16, 64)
	if err1 != nil || err2 != nil || last < begin || last == ^uint64(0) || len(r.Mappings) == maxMappings {
		r.lose(at, errRecord)
		return true
	}
	out := Mapping{Mapping: walk.Mapping{Begin: begin, End: last + 1, Read: m[3] == "r", Write: m[4] == "w", Execute: m[5] == "x"}}
	if last&0xfff == 0 {
		out.End = last // older tombstones have the end itself
	}
	out.Offset, _ = strconv.ParseUint(m[6], 16, 64) // empty: 0
	out.Path = m[8]
	for strings.HasSuffix(out.Path, ")") {
		open := strings.LastIndex(out.Path, " (")
		if open < 0 {
			break
		}
		part := out.Path[open+2 : len(out.Path)-1]
		switch {
		case strings.HasPrefix(part, "BuildId: "):
			out.BuildID = buildID(part[len("BuildId: "):])
		case strings.HasPrefix(part, "load bias 0x"):
			out.LoadBias, _ = strconv.ParseUint(part[len("load bias 0x"):], 16, 64)
		default:
			open = -1
		}
		if open < 0 {
			break
		}
		out.Path = strings.TrimRight(out.Path[:open], " ")
	}
	r.Mappings = append(r.Mappings, out)
	return true
}
