package microdump

// A line is a record if the log's prefix names google-breakpad; the record comes after the
// colon and the space that end the prefix:
//
//	W/google-breakpad( 3745): O A arm 02 armv7l OS VERSION
//
// Outside of Android there is no prefix; then all lines up to the microdump's end are
// records. The first letter is the kind of the record (Breakpad,
// client/linux/microdump_writer); numbers and bytes are hexadecimal:
//
//	V PRODUCT:VERSION               the program
//	O A|L ARCH CPUS HARDWARE VERSION…  Android or Linux, and the number of CPUs
//	P TYPE                          the kind of process of the program
//	R SIGNAL NAME ADDRESS           why the process died
//	G VERSION|VENDOR|RENDERER       OpenGL, or UNKNOWN
//	S 0 POINTER START SIZE          the stack
//	S ADDRESS BYTES                 a part of the stack
//	C BYTES                         the CONTEXT structure of a minidump
//	M ADDRESS OFFSET SIZE ID NAME   a module

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"symkit/located"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

const (
	section = "microdump"
	key     = "google-breakpad"
	begin   = "-----BEGIN BREAKPAD MICRODUMP-----"
	end     = "-----END BREAKPAD MICRODUMP-----"
)

var (
	// errNone is the error for text without a microdump.
	errNone = errors.New("no microdump")
	// errRecord is the sentinel for a record that does not have the form of its kind.
	errRecord = errors.New("malformed record")
	// errGap is the sentinel for a part of the stack that does not follow the one before it.
	errGap = errors.New("not the part of the stack that comes next")
	// errEnd is the sentinel for a microdump whose last line is missing.
	errEnd = errors.New("the microdump does not end; copy the log again")
)

// maxLosses bounds Losses. Lost counts all.
const maxLosses = 20

// Dump is one microdump. Its texts alias the log that it was read from.
type Dump struct {
	Product string // name and version of the program
	Type    string // kind of the process

	Android  bool   // else Linux
	CPU      string // as in MODULE records
	CPUs     int
	Hardware string // the CPU as the kernel names it
	Version  string // of the system
	// GL is the version, the vendor and the renderer of OpenGL; nil: unknown.
	GL []string

	Crashed bool // there is a reason
	Signal  int
	Reason  string // the signal's name
	Address uint64 // of the fault

	// Context is a CONTEXT structure; nil: unknown.
	Context []byte
	// Stack is the memory of the stack. Parts that follow each other are one range.
	Stack   []Range
	Modules []Module // in the order of the log

	Offset int // of the first line in the log
	// Losses are the first damaged records, each a *located.Error with the offset in the log.
	// Lost counts all.
	Losses []error
	Lost   int
}

// Range is memory of the process.
type Range struct {
	Base uint64 // address in the process
	Data []byte
}

// Module is a file whose code is in the process.
type Module struct {
	Base, Size uint64 // in the process
	FileOffset uint64 // of the first byte in the file
	ID         string // of the MODULE record
	Name       string
}

// Is reports whether data has a microdump.
func Is(data []byte) bool { return bytes.Contains(data, []byte(begin)) }

// Decode returns the microdumps in a log. The error is errNone if there is none.
func Decode(log []byte) ([]*Dump, error) {
	var dumps []*Dump
	var d *decoder
	at := 0
	for raw := range bytes.Lines(log) {
		line, offset := string(bytes.TrimRight(raw, "\r\n")), at
		at += len(raw)

		// The first line decides how records are distinguished from other lines.
		if prefix, _, ok := strings.Cut(line, begin); ok {
			d.finish()
			d = &decoder{Dump: Dump{Offset: offset}, plain: !strings.Contains(prefix, key)}
			dumps = append(dumps, &d.Dump)
			continue
		}
		if d == nil || !d.plain && !strings.Contains(line, key) {
			continue
		}
		if strings.Contains(line, end) {
			d.ended = true
			d.finish()
			d = nil
			continue
		}
		d.line(line, offset)
	}
	d.finish()

	if len(dumps) == 0 {
		return nil, &located.Error{Section: section, Err: errNone}
	}
	return dumps, nil
}

// decoder reads the records of one microdump.
type decoder struct {
	Dump
	plain bool // lines have no prefix
	ended bool
	last  int // offset of the last record
}

// finish completes a microdump. d may be nil.
func (d *decoder) finish() {
	if d != nil && !d.ended {
		d.lose(d.last, errEnd)
		d.ended = true
	}
}

func (d *decoder) lose(at int, err error) {
	d.Lost++
	if len(d.Losses) < maxLosses {
		d.Losses = append(d.Losses, &located.Error{Section: section, Offset: at, Err: err})
	}
}

// line decodes one line of the log at an offset.
func (d *decoder) line(line string, at int) {
	record := line
	if !d.plain {
		// The prefix ends with the first colon after the key: "W/google-breakpad( 3745): ".
		start := strings.Index(line, key)
		_, rest, ok := strings.Cut(line[start:], ": ")
		if !ok {
			return
		}
		record = rest
	}

	// Kinds that are not known are skipped, as Breakpad skips them.
	d.last = at
	kind, text, ok := strings.Cut(record, " ")
	if read := records[kind]; ok && read != nil {
		if err := read(d, text); err != nil {
			d.lose(at+len(line)-len(text), err)
		}
	}
}

// records are the kinds of records by their letter.
var records = map[string]func(d *decoder, text string) error{
	"V": func(d *decoder, text string) error { d.Product = text; return nil },
	"P": func(d *decoder, text string) error { d.Type = text; return nil },
	"O": (*decoder).system,
	"R": (*decoder).reason,
	"G": (*decoder).gpu,
	"S": (*decoder).stack,
	"C": (*decoder).context,
	"M": (*decoder).module,
}

// fields cuts text into n fields. The last one may have spaces.
func fields(text string, n int) []string {
	out := make([]string, n)
	for i := range n - 1 {
		text = strings.TrimLeft(text, " ")
		out[i], text, _ = strings.Cut(text, " ")
	}
	out[n-1] = text
	return out
}

// architectures are the names of CPUs that differ from those in MODULE records.
var architectures = map[string]string{"riscv32": "riscv"}

func (d *decoder) system(text string) error {
	f := fields(text, 5)
	cpus, err := strconv.ParseUint(f[2], 16, 8)
	if f[0] != "A" && f[0] != "L" || err != nil {
		return errRecord
	}
	d.Android, d.CPU, d.CPUs, d.Hardware, d.Version = f[0] == "A", f[1], int(cpus), f[3], f[4]
	if name := architectures[d.CPU]; name != "" {
		d.CPU = name
	}
	return nil
}

func (d *decoder) reason(text string) error {
	f := fields(text, 3)
	signal, err := strconv.ParseUint(f[0], 16, 32)
	address, err2 := strconv.ParseUint(strings.TrimSpace(f[2]), 16, 64)
	if err != nil || err2 != nil {
		return errRecord
	}
	d.Crashed, d.Signal, d.Reason, d.Address = true, int(int32(signal)), f[1], address
	return nil
}

func (d *decoder) gpu(text string) error {
	if text != "UNKNOWN" {
		d.GL = strings.SplitN(text, "|", 3)
	}
	return nil
}

// stack adds a part of the stack. Its first record has the place of the stack alone.
func (d *decoder) stack(text string) error {
	f := fields(text, 2)
	if f[0] == "0" {
		return nil
	}
	base, err := strconv.ParseUint(f[0], 16, 64)
	data, ok := digits(f[1])
	if err != nil || base+uint64(len(data)) < base {
		return errRecord
	}

	// Parts come in the order of their addresses. A part that was lost leaves a gap.
	if n := len(d.Stack); n > 0 {
		last := &d.Stack[n-1]
		switch next := last.Base + uint64(len(last.Data)); {
		case base == next:
			last.Data = append(last.Data, data...)
			return malformed(ok)
		case base < next:
			return errGap
		}
		d.Stack = append(d.Stack, Range{base, data})
		return errGap
	}
	d.Stack = append(d.Stack, Range{base, data})
	return malformed(ok)
}

// malformed returns errRecord unless ok.
func malformed(ok bool) error {
	if ok {
		return nil
	}
	return errRecord
}

// digits decodes hexadecimal bytes, as many as there are. It returns false if something
// else comes before the end.
func digits(text string) (data []byte, ok bool) {
	text = strings.TrimSpace(text)
	data = make([]byte, hex.DecodedLen(len(text)))
	n, err := hex.Decode(data, []byte(text))
	return data[:n:n], err == nil
}

func (d *decoder) context(text string) error {
	data, ok := digits(text)
	if !ok {
		return errRecord
	}
	_, err := mdmp.ContextOf(d.CPU, false, data)
	if err != nil {
		return err
	}
	d.Context = data
	return nil
}

func (d *decoder) module(text string) error {
	f := fields(text, 5)
	var numbers [3]uint64
	for i := range numbers {
		v, err := strconv.ParseUint(f[i], 16, 64)
		if err != nil {
			return errRecord
		}
		numbers[i] = v
	}

	if f[4] == "" {
		return errRecord
	}

	// The kernel appends this suffix to the name of a file that was deleted.
	name := strings.TrimSuffix(f[4], " (deleted)")
	m := Module{Base: numbers[0], FileOffset: numbers[1], Size: numbers[2], ID: f[3], Name: name}
	if m.Size == 0 || m.Base+m.Size-1 < m.Base {
		return errRecord
	}
	d.Modules = append(d.Modules, m)
	return nil
}

// Bytes implements walk.Memory.
func (d *Dump) Bytes(addr, n uint64) []byte {
	i, found := slices.BinarySearchFunc(d.Stack, addr, func(r Range, addr uint64) int {
		switch {
		case r.Base > addr:
			return 1
		case addr-r.Base >= uint64(len(r.Data)):
			return -1
		}
		return 0
	})
	if !found {
		return nil
	}
	rest := d.Stack[i].Data[addr-d.Stack[i].Base:]
	if n > uint64(len(rest)) {
		return nil
	}
	return rest[:n:n]
}

var _ walk.Memory = (*Dump)(nil)
