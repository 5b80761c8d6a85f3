package symbolicate

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"symkit/internal/par"
	"symkit/lookup"
)

// Answers are written part by part: chunk frames are one task, and the texts of a row of tasks are sent before the next
// row begins. Up to unsent bytes wait, so that an error can still be the answer.
const (
	chunk     = 4 << 10
	unsent    = 1 << 20
	maxAnswer = 256 << 20 // bytes of an answer
)

// output collects the text of an answer and sends it.
type output struct {
	ctx     context.Context
	w       http.ResponseWriter
	text    []byte
	sent    int64
	started bool
}

// flush sends the text if there is enough of it.
func (o *output) flush() error {
	if o.sent+int64(len(o.text)) > maxAnswer {
		return errTooLarge
	}
	if len(o.text) < unsent {
		return nil
	}
	return o.send()
}

// send sends the text.
func (o *output) send() error {
	if !o.started {
		o.w.Header().Set("Content-Type", "application/json")
		o.started = true
	}
	n, err := o.w.Write(o.text)
	o.sent += int64(n)
	o.text = o.text[:0]
	return err
}

// finish sends the rest of the answer.
func (o *output) finish() error {
	if !o.started {
		o.w.Header().Set("Content-Length", strconv.Itoa(len(o.text)))
	}
	return o.send()
}

// end returns err if it can still be the answer. An answer that was begun is broken off.
func (o *output) end(err error) error {
	if err != nil && o.started {
		panic(http.ErrAbortHandler)
	}
	return err
}

// symbolicateV5 answers with one object for each job.
func (s *Server) symbolicateV5(w http.ResponseWriter, r *http.Request) error {
	start := time.Now()
	req, err := s.read(w, r, true)
	if err != nil {
		return err
	}
	defer closeModules(req)
	o := &output{ctx: r.Context(), w: w, text: []byte(`{"results": [`)}
	for i := range req.jobs {
		if i > 0 {
			o.text = append(o.text, ", "...)
		}
		o.text = append(o.text, `{"stacks": [`...)
		err = o.stacks(&req.jobs[i], appendFrame)
		if err != nil {
			return o.end(err)
		}
		o.text = append(o.text, `], "found_modules": {`...)
		o.text = appendModules(o.text, i, &req.jobs[i])
		o.text = append(o.text, "}}"...)
		err = o.flush()
		if err != nil {
			return o.end(err)
		}
	}
	o.text = append(o.text, ']')
	if r.Header.Get("Debug") != "" {
		o.text = appendDebug(o.text, req, time.Since(start))
	}
	o.text = append(o.text, '}')
	return o.end(o.finish())
}

// symbolicateV4 answers one job with a text for each frame.
func (s *Server) symbolicateV4(w http.ResponseWriter, r *http.Request) error {
	req, err := s.read(w, r, false)
	if err != nil {
		return err
	}
	defer closeModules(req)
	o := &output{ctx: r.Context(), w: w, text: []byte(`{"symbolicatedStacks": [`)}
	err = o.stacks(&req.jobs[0], appendText)
	if err != nil {
		return o.end(err)
	}
	o.text = append(o.text, `], "knownModules": [`...)
	for i, m := range req.jobs[0].memory {
		if i > 0 {
			o.text = append(o.text, ", "...)
		}
		o.text = m.appendFound(o.text)
	}
	o.text = append(o.text, "]}"...)
	return o.end(o.finish())
}

// read reads a request and opens its modules.
func (s *Server) read(w http.ResponseWriter, r *http.Request, many bool) (*request, error) {
	body, err := readBody(w, r, maxBody)
	if err != nil {
		return nil, err
	}
	req, err := parse(body, many)
	if err != nil {
		return nil, err
	}
	err = s.openModules(r.Context(), req)
	if err != nil {
		closeModules(req)
		return nil, err
	}
	return req, nil
}

// place is a place in the list of stacks: before a stack, if frame is the first of the stack or the stack is empty, or
// before another frame of the stack.
type place struct{ stack, frame int }

// begin returns where the frames of a stack begin.
func (j *job) begin(stack int) int {
	if stack == 0 {
		return 0
	}
	return j.ends[stack-1]
}

// after returns the place that is a number of frames and stacks after p.
func (j *job) after(p place, n int) place {
	for ; n > 0 && p.stack < len(j.ends); n-- {
		step := min(j.ends[p.stack]-p.frame, n)
		p.frame += step
		n -= step
		if p.frame == j.ends[p.stack] {
			p.stack++
		}
	}
	return p
}

// frameWriter appends the text of a frame with a number.
type frameWriter func(dst []byte, c *scratch, j *job, f frame, number int) []byte

// scratch is the memory of a worker.
type scratch struct{ frames []lookup.Frame }

// part is a part of the stacks of a job.
type part struct {
	from, to place
	text     []byte
}

// stacks writes the stacks of a job.
func (o *output) stacks(j *job, write frameWriter) error {
	row := make([]part, min(2*runtime.GOMAXPROCS(0), 8, (len(j.frames)+len(j.ends))/chunk+1))
	for i := range row {
		buffer := texts.Get().(*[]byte)
		row[i].text = *buffer
		defer func() {
			*buffer = row[i].text
			texts.Put(buffer)
		}()
	}
	for at := (place{}); at.stack < len(j.ends); {
		n := 0
		for ; n < len(row) && at.stack < len(j.ends); n++ {
			row[n].from = at
			at = j.after(at, chunk)
			row[n].to = at
		}
		room := maxAnswer - o.sent - int64(len(o.text))
		err := par.Each(o.ctx, len(row), n, func() func(int) error {
			c := &scratch{}
			return func(i int) (err error) {
				row[i].text, err = j.appendStacks(o.ctx, row[i].text[:0], c, row[i].from, row[i].to, write, int(room)/len(row))
				return err
			}
		})
		if err != nil {
			return err
		}
		for i := range row[:n] {
			err := o.add(row[i].text)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a text to the answer. A large one is sent as it is, not copied.
func (o *output) add(text []byte) error {
	if len(o.text)+len(text) < unsent {
		o.text = append(o.text, text...)
		return nil
	}
	err := o.send()
	if err != nil {
		return err
	}
	n, err := o.w.Write(text)
	o.sent += int64(n)
	if err == nil && o.sent > maxAnswer {
		err = errTooLarge
	}
	return err
}

// errTooLarge is the failure of a request whose answer has more than maxAnswer bytes.
var errTooLarge = refuse("the answer is too large: please send fewer frames in a single request")

// texts are buffers of parts of answers.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// appendStacks appends the text from one place to another, of not much more than most bytes.
func (j *job) appendStacks(ctx context.Context, dst []byte, c *scratch, p, end place, write frameWriter, most int) ([]byte, error) {
	for p != end {
		begin := j.begin(p.stack)
		if p.frame == begin {
			if p.stack > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(dst, '[')
		}
		for p.frame < j.ends[p.stack] {
			if p.frame > begin {
				dst = append(dst, ", "...)
			}
			dst = write(dst, c, j, j.frames[p.frame], p.frame-begin)
			if len(dst) > most {
				return dst, errTooLarge
			}
			if ctx.Err() != nil { // a function can have records without end
				return dst, context.Cause(ctx)
			}
			p.frame++
			if p == end {
				return dst, nil
			}
		}
		dst = append(dst, ']')
		p.stack++
	}
	return dst, nil
}

// lookUp returns the functions at a frame, the innermost first, and the address in the file. There are none if the frame
// has no symbols.
func (c *scratch) lookUp(j *job, f frame) (frames []lookup.Frame, addr uint64) {
	if f.module < 0 || f.unknown || j.memory[f.module].file == nil {
		return nil, 0
	}
	file := j.memory[f.module].file
	addr, _ = file.Address(lookup.Relative, f.offset)
	c.frames, _ = file.Frames(c.frames[:0], addr) // damage costs this frame a part of its answer
	if len(c.frames) > 0 {
		return c.frames, addr
	}

	// A symbol of unknown size reaches up to the next symbol.
	sym, ok := file.SymbolBelow(addr)
	if ok && !sym.Data && (sym.Size == 0 || addr-sym.Addr < sym.Size) {
		c.frames = append(c.frames, lookup.Frame{Name: sym.Name, Linkage: sym.Name, Start: sym.Addr, Size: sym.Size})
	}
	return c.frames, addr
}

// shown returns the name of the module of a frame.
func (j *job) shown(f frame) string {
	if f.module < 0 || j.memory[f.module].shown == "" {
		return "<unknown>"
	}
	return j.memory[f.module].shown
}

// appendOffset appends the offset of a frame in hexadecimal.
func appendOffset(dst []byte, f frame) []byte {
	if f.unknown {
		return append(dst, "-0x1"...)
	}
	return strconv.AppendUint(append(dst, "0x"...), f.offset, 16)
}

// appendFrame appends a frame of /symbolicate/v5: the keys of Eliot in its order, then samply's function_size.
func appendFrame(dst []byte, c *scratch, j *job, f frame, number int) []byte {
	dst = strconv.AppendInt(append(dst, `{"frame": `...), int64(number), 10)
	dst = appendString(append(dst, `, "module": `...), j.shown(f))
	dst = append(appendOffset(append(dst, `, "module_offset": "`...), f), '"')
	frames, addr := c.lookUp(j, f)
	last := len(frames) - 1
	if last < 0 {
		return append(dst, '}')
	}
	outer := &frames[last]
	if outer.Name != "" || outer.Linkage != "" {
		dst = appendString(append(dst, `, "function": `...), outer.Readable())
		dst = appendHex(append(dst, `, "function_offset": `...), addr-outer.Start)
	}
	dst = appendPlace(dst, outer)
	for i := range frames[:last] {
		separator := `, {"function": `
		if i == 0 {
			separator = `, "inlines": [{"function": `
		}
		dst = appendString(append(dst, separator...), frames[i].Readable())
		dst = append(appendPlace(dst, &frames[i]), '}')
	}
	if last > 0 {
		dst = append(dst, ']')
	}
	size := outer.Size
	if size == 0 {
		sym, ok := j.memory[f.module].file.SymbolAt(addr)
		if ok && sym.Addr == outer.Start {
			size = sym.Size
		}
	}
	if size > 0 {
		dst = appendHex(append(dst, `, "function_size": `...), size)
	}
	return append(dst, '}')
}

// appendPlace appends the file and the line of a frame: no line without a file, and no line 0.
func appendPlace(dst []byte, f *lookup.Frame) []byte {
	if f.File == "" {
		return dst
	}
	dst = appendString(append(dst, `, "file": `...), f.File)
	if f.Line == 0 {
		return dst
	}
	return strconv.AppendUint(append(dst, `, "line": `...), uint64(f.Line), 10)
}

// appendText appends a frame of /symbolicate/v4.
func appendText(dst []byte, c *scratch, j *job, f frame, _ int) []byte {
	frames, _ := c.lookUp(j, f)
	var text []byte
	if len(frames) > 0 {
		text = append(text, frames[len(frames)-1].Readable()...)
	}
	if len(text) == 0 {
		text = appendOffset(text, f)
	}
	text = append(append(append(text, " (in "...), j.shown(f)...), ')')
	return appendString(dst, string(text))
}

// appendFound appends whether a module has symbols; null if no frame asks for them.
func (m *module) appendFound(dst []byte) []byte {
	found, asked := m.found()
	if !asked {
		return append(dst, "null"...)
	}
	return strconv.AppendBool(dst, found)
}

// appendModules appends the members of found_modules of job n, and samply's module_errors if there are some.
func appendModules(dst []byte, n int, j *job) []byte {
	begin := len(dst)
	failed := 0
	for _, m := range j.memory {
		if m.told == n+1 {
			continue
		}
		m.told = n + 1
		if len(dst) > begin {
			dst = append(dst, ", "...)
		}
		dst = m.appendFound(m.appendKey(dst))
		if m.err != nil {
			failed++
		}
	}
	if failed == 0 {
		return dst
	}
	dst = append(dst, `}, "module_errors": {`...)
	for _, m := range j.memory {
		if m.told != n+1 || m.err == nil {
			continue
		}
		m.told = 0
		name, message := m.problem()
		dst = appendString(append(m.appendKey(dst), `[{"name": `...), name)
		dst = append(appendString(append(dst, `, "message": `...), message), "}]"...)
		failed--
		if failed > 0 {
			dst = append(dst, ", "...)
		}
	}
	return dst
}

// appendKey appends the name and the id of a module as the name of a member.
func (m *module) appendKey(dst []byte) []byte {
	return append(appendString(dst, m.name+"/"+m.id), ": "...)
}
