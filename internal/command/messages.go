package command

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"time"

	"symkit/internal/address"
	"symkit/internal/printable"
	"symkit/internal/quantity"
)

// The bounds of Messages without ShowAll, in bytes. The sum of the kinds, with the lines
// that count the lines left out, is less than 16 KiB.
const (
	maxWord = 240  // of a path or name in a line
	maxLine = 1000 // of a line

	maxErrors   = 5 << 10
	maxOthers   = 5 << 10 // warnings and what a check found
	maxProgress = 2 << 10
	maxLast     = 3 << 10
)

// Messages is the standard error of a program. The program's output becomes lines without
// control characters (printable.String) and without passwords and tokens in addresses. Unless ShowAll is called, the lines are bounded
// in length and in number, so that no input can flood a log: long paths and names are
// elided in their middle, and lines beyond the bound of their kind are counted. On a
// terminal a status line stands below the messages.
//
// A Messages is safe for concurrent use.
type Messages struct {
	program string
	out     io.Writer
	columns int // of the terminal; 0 if out is not a terminal

	uncached sync.Once

	mu       sync.Mutex
	all      bool
	least    Severity
	partial  []byte // a line whose end is not written yet
	drawn    bool   // the status line is on the terminal
	errors   kind
	others   kind
	progress kind
	last     kind
	next     time.Time // of Stage
}

// kind is the state of one kind of lines.
type kind struct {
	written int // bytes
	left    int // lines that were not written
}

// NewMessages returns the standard error of a program, whose lines begin with the
// program's name and a colon. Go's packages have no lines of their own there: net/http would report
// idle connections on which something arrives, which no user can act on.
func NewMessages(program string, out io.Writer) *Messages {
	log.SetOutput(io.Discard)
	columns, _ := terminal(out)
	return &Messages{program: program, out: out, columns: columns, next: time.Now().Add(firstStage)}
}

// Severity is the kind of a line, for [Messages.Mute].
type Severity int

const (
	Remarks Severity = iota // warnings, progress, what a check found
	Errors
	Nothing // more severe than any line
)

// Mute leaves out all lines below a severity. They are not counted either.
func (m *Messages) Mute(least Severity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.least = least
}

// ShowAll lifts the bounds: the flag --verbose calls it.
func (m *Messages) ShowAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = true
}

// Write implements io.Writer. Errors of the underlying writer are ignored: there
// is nowhere to report these.
func (m *Messages) Write(text []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	// The end of text may be in the middle of a line.
	for line := range bytes.Lines(text) {
		end, whole := bytes.CutSuffix(line, []byte{'\n'})
		m.partial = append(m.partial, end...)
		if whole {
			m.line(string(m.partial))
			m.partial = m.partial[:0]
		}
	}
	return len(text), nil
}

// line writes one line within the bound of its kind.
func (m *Messages) line(text string) {
	if strings.HasPrefix(text, m.program+": error: ") {
		m.put(&m.errors, maxErrors, text)
	} else {
		m.put(&m.others, maxOthers, text)
	}
}

// put writes a line of a kind, unless the kind is muted or its lines already have most
// bytes.
func (m *Messages) put(k *kind, most int, text string) {
	severity := Remarks
	if k == &m.errors || k == &m.last {
		severity = Errors
	}
	if severity < m.least {
		return
	}

	text = printable.String(address.Redact(text))
	if !m.all {
		text = shorten(text)
		if k.left > 0 || k.written+len(text)+1 > most {
			k.left++
			return
		}
	}

	k.written += len(text) + 1
	m.erase() // the next call of Draw draws the status line again
	io.WriteString(m.out, text+"\n")
}

// Last writes a line that comes after all others, such as the reason for which the
// program fails. It is not counted with the others.
func (m *Messages) Last(format string, args ...any) {
	m.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(&m.last, maxLast, fmt.Sprintf(format, args...))
}

// Close ends the last line, erases the status line, and writes the number of lines that
// were left out.
func (m *Messages) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.partial) > 0 {
		m.line(string(m.partial))
		m.partial = nil
	}
	m.erase()

	var counts []string
	for _, k := range []struct {
		*kind
		one, many string
	}{{&m.errors, "error", "errors"}, {&m.others, "message", "messages"}} {
		switch {
		case k.left == 1:
			counts = append(counts, "1 more "+k.one)
		case k.left > 1:
			counts = append(counts, quantity.Number(k.left)+" more "+k.many)
		}
		k.left = 0
	}

	if len(counts) > 0 {
		m.put(&m.last, maxLast, fmt.Sprintf("%s: and %s; -v shows all", m.program, strings.Join(counts, " and ")))
	}
}

// Line writes a formatted message to w as one line. Line breaks in the message are
// escaped, and addresses are without what grants access.
func Line(w io.Writer, format string, args ...any) {
	io.WriteString(w, printable.String(address.Redact(fmt.Sprintf(format, args...)))+"\n")
}

// Progress shows how far the program is. On a terminal it replaces the status line;
// elsewhere it writes a line, of which there is a bounded number.
func (m *Messages) Progress(text string) {
	if m.columns > 0 {
		m.Draw(text)
		return
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(&m.progress, maxProgress, text)
}

// Columns returns the width of the terminal, or 0 if the messages go elsewhere.
func (m *Messages) Columns() int { return m.columns }

// Draw replaces the status line of the terminal, if the messages go to one.
func (m *Messages) Draw(text string) {
	if m.columns == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.least > Remarks {
		return
	}

	// A line as wide as the terminal would wrap.
	runes := []rune(printable.String(text))
	io.WriteString(m.out, clearLine+string(runes[:min(len(runes), m.columns-1)]))
	m.drawn = true
}

// The times between lines of Stage. The first line is drawn late, since most files are done before.
const (
	firstStage = 400 * time.Millisecond
	nextStage  = 100 * time.Millisecond
)

// Stage shows in the status line how far a stage of the work is, if enough time has passed since the last line.
func (m *Messages) Stage(stage string, done, total int) {
	m.mu.Lock()
	now := time.Now()
	early := now.Before(m.next)
	if !early {
		m.next = now.Add(nextStage)
	}
	m.mu.Unlock()
	if !early {
		m.Draw(fmt.Sprintf("%s: %s of %s", stage, quantity.Number(done), quantity.Number(total)))
	}
}

// Erase removes the status line.
func (m *Messages) Erase() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
}

func (m *Messages) erase() {
	if m.drawn {
		io.WriteString(m.out, clearLine)
		m.drawn = false
	}
}

// shorten elides the middle of each long word of a line, then of the line.
func shorten(line string) string {
	if len(line) <= maxWord {
		return line
	}

	words := strings.Split(line, " ")
	for i, word := range words {
		words[i] = printable.Elide(word, maxWord)
	}
	return printable.Elide(strings.Join(words, " "), maxLine)
}
