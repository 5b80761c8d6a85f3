package linter

import (
	"bytes"
	"strconv"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/emit"
)

// canon checks a file that symkit wrote for symkit's order and spelling: MODULE, INFO, FILE,
// INLINE_ORIGIN; per function FUNC, INLINE, lines; then PUBLIC; then STACK CFI. The records of each
// class are in order of address, or numbered from 0 in the order of the names.
type canon struct {
	c    *collect.Outcome
	data []byte
	// on states that symkit wrote the file. It is set when INFO GENERATOR comes; findings before
	// that wait in pending. off states that another tool wrote the file.
	on, off bool
	pending []report.Finding

	n     uint64 // records checked
	class int    // of the last record
	codes int    // INFO records before this one
	addr  uint64 // least that the next FUNC, PUBLIC or INIT may have
	line  uint64 // least that the next line record may have
	num   uint32 // the next number of a FILE or INLINE_ORIGIN
	name  []byte // name of the last FILE or INLINE_ORIGIN
	buf   []byte
	end   string // value of .ra for an undefined return address
}

// The classes of records, in the order in which symkit writes them. The classes from classFunc to
// classLine alternate.
const (
	classModule = iota
	classInfo
	classFile
	classOrigin
	classFunc
	classInline
	classLine
	classPublic
	classStack
)

// classOf returns the class of a record.
func classOf(rec emit.Record) int {
	switch rec.(type) {
	case *emit.Module:
		return classModule
	case *emit.Info:
		return classInfo
	case *emit.File:
		return classFile
	case *emit.InlineOrigin:
		return classOrigin
	case *emit.Func:
		return classFunc
	case *emit.Inline:
		return classInline
	case *emit.Line:
		return classLine
	case *emit.Public:
		return classPublic
	}
	return classStack
}

// record checks the record on line at, which begins at byte off.
func (k *canon) record(at, off int, rec emit.Record) {
	// INFO GENERATOR comes among the INFO records or not at all: any later record ends the wait.
	class := classOf(rec)
	k.off = k.off || !k.on && class > classInfo
	if k.off {
		k.pending = nil
		return
	}

	// The spelling.
	k.n++
	if class != classLine && class != classInline || leadingZero(k.data[off:]) {
		k.buf = rec.Append(k.buf[:0])
		if !bytes.HasPrefix(k.data[off:], k.buf) {
			k.fail(at, "symkit writes "+symfile.Shown(bytes.TrimSuffix(k.buf[:min(len(k.buf), symfile.MaxShown)], []byte("\n"))))
		}
	}

	// The order of the classes: a new class begins new numbers and addresses.
	switch under := class == classInline || class == classLine; {
	case class == classFunc && k.class >= classFunc && k.class <= classLine:
	case class < k.class:
		k.fail(at, "symkit writes it before the record above")
	case class > k.class && !under:
		k.addr, k.num, k.name = 0, 0, nil
	}
	k.class = class
	k.inOrder(at, rec)
}

// leadingZero reports whether a number in a line begins with a zero that is not the whole number. In
// a record of numbers alone, such a zero is the only spelling that the strict reader accepts and
// symkit does not write.
func leadingZero(line []byte) bool {
	begins := true // a field begins here
	for i, b := range line {
		if b == '\n' {
			break
		}
		if begins && b == '0' && i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\n' {
			return true
		}
		begins = b == ' '
	}
	return false
}

// inOrder checks rec against the last record of its class.
func (k *canon) inOrder(at int, rec emit.Record) {
	switch r := rec.(type) {
	case *emit.Info:
		k.info(at, r)
	case *emit.File:
		k.numbered(at, r.Num, r.Name)
	case *emit.InlineOrigin:
		k.numbered(at, r.Num, r.Name)
	case *emit.Func:
		k.address(at, r.Addr, r.Addr+uint64(r.Size))
		k.line = 0
	case *emit.Line:
		if r.Addr < k.line {
			k.fail(at, "out of address order")
		}
		k.line = r.Addr + uint64(r.Size)
	case *emit.Inline:
		for i := 1; i < len(r.Ranges); i++ {
			if r.Ranges[i].Addr < r.Ranges[i-1].Addr+uint64(r.Ranges[i-1].Size) {
				k.fail(at, "ranges out of address order")
			}
		}
	case *emit.Public:
		k.address(at, r.Addr, r.Addr+1)
	case *emit.StackCFIInit:
		k.address(at, r.Addr, r.Addr+uint64(r.Size))
		k.rules(at, r.Rules)
	case *emit.StackCFI:
		k.rules(at, r.Rules)
	case *emit.Module:
		if a := cfi.ArchByName(r.Arch); a != nil {
			k.end = strconv.FormatInt(a.End, 10)
		}
	}
}

// rules checks that an undefined return address is written as one constant.
func (k *canon) rules(at int, rules []byte) {
	_, text, ok := bytes.Cut(rules, []byte(".ra: "))
	if !ok || k.end == "" {
		return
	}

	text = text[:eval.NextRule(text)]
	if n, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil && n < eval.MaxUndefined && string(bytes.TrimSpace(text)) != k.end {
		k.fail(at, "symkit writes .ra: "+k.end)
	}
}

// info checks that CODE_ID is the first INFO record; GENERATOR names the program that wrote the
// file.
func (k *canon) info(at int, r *emit.Info) {
	if r.Key == emit.KeyCodeID && k.codes > 0 {
		k.fail(at, "symkit writes it before the record above")
	}

	// Findings that have waited are reported once the writer is known.
	k.codes++
	if r.Key != emit.KeyGenerator || k.on || !symfile.IsSymkit(r.Text) {
		return
	}
	k.on = true
	k.c.Begin(checks.Canonical, "records")
	for _, f := range k.pending {
		k.c.Wrong(f, 1)
	}
}

// numbered checks the number and the order of a FILE or INLINE_ORIGIN.
func (k *canon) numbered(at int, num uint32, name []byte) {
	if num != k.num || k.name != nil && bytes.Compare(k.name, name) >= 0 {
		k.fail(at, "not numbered from 0 in the order of the names")
	}
	k.num, k.name = num+1, name
}

// address checks that a record begins at or above the end of the last one.
func (k *canon) address(at int, addr, end uint64) {
	if addr < k.addr {
		k.fail(at, "out of address order")
	}
	k.addr = end
}

// fail adds a finding, which waits until the writer is known.
func (k *canon) fail(at int, what string) {
	f := report.Finding{Check: checks.Canonical, Line: at, What: what}
	if !k.on {
		k.pending = append(k.pending, f)
		return
	}
	k.c.Wrong(f, 1)
}
