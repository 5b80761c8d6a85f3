package dump

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/internal/demangle"
)

// stream reads the units of one file. .debug_info takes longest to inflate, and
// one goroutine has to do all of it; the others inflate the other sections and
// scan units as soon as their bytes are there. While they would have to wait
// for more, they do what can be done early.
type stream struct {
	d      *dumper
	f      *elfx.File
	s      dwarfx.Sections
	dw     *dwarfx.Data
	size   int // of .debug_info
	wanted []sectionOf
	next   atomic.Int32 // of wanted
	lost   []error      // why a section is not there
	failed error        // why .debug_info is not

	mu      sync.Mutex
	more    sync.Cond // anything below changed
	left    int       // sections that are not there yet
	pieces  *pieces
	unread  []*piece // whose units have no headers yet
	units   []*unit
	open    []int // of units: those that nobody has taken; the last is taken next
	working int   // units that somebody scans
	begun   bool  // somebody inflates .debug_info
	closed  bool  // no more units will come
	errs    []error
	early   []func() // what somebody may do meanwhile
}

// streamWorker is what one goroutine needs, to use again for every unit.
type streamWorker struct {
	scanner *unitScanner
	origins originNamer
}

// readUnits inflates the DWARF sections, scans the units and finds out what names
// functions. It reads the symbols and where frames are too, which have nothing to do
// with them.
func (d *dumper) readUnits() error {
	x := &stream{d: d, f: d.img.DWARF()}
	d.names = newNameTable(int(d.img.Size() / bytesPerName))
	d.info = &pieces{f: x.f, keep: true}
	x.pieces = d.info
	d.early = &earlyTexts{d: d, room: x.lend}
	var earlyErrs [2]error
	x.early = []func(){
		func() { earlyErrs[0] = d.guard(d.readSymbols) },
		func() { earlyErrs[1] = d.guard(d.readFrames) },
	}
	x.more.L = &x.mu
	x.s = dwarfx.Sections{BigEndian: x.f.BigEndian, AddrSize: x.f.AddrSize()}
	x.wanted = sectionsOf(&x.s)
	x.lost = make([]error, len(x.wanted))
	x.left = len(x.wanted)

	var group errgroup.Group
	for range d.opt.Jobs {
		group.Go(func() error {
			return elfx.Guard(func() error {
				x.sections()
				x.work(x.worker())
				return nil
			})
		})
	}
	err := cmp.Or(group.Wait(), earlyErrs[0], earlyErrs[1])
	for _, err := range append(x.lost, x.failed) {
		d.loss(err)
	}
	for _, err := range x.errs {
		d.dwarfLoss(err)
	}
	if d.dw = x.dw; d.dw == nil {
		d.dw = dwarfx.New(dwarfx.Sections{}, 0, d.code)
	}
	d.units = x.units
	if slices.ContainsFunc(d.units, func(u *unit) bool { return u.Draft }) {
		d.warn("%s: DWARF 6 is read as DWARF 5; what it adds is passed over", x.f.Path())
	}
	d.shareUnits(x.size, x.failed, x.errs)
	return err
}

func (x *stream) worker() *streamWorker {
	return &streamWorker{scanner: x.d.newScanner(), origins: originNamer{demangler: new(demangle.Demangler)}}
}

// sections inflates sections until all are taken.
func (x *stream) sections() {
	for i := int(x.next.Add(1)) - 1; i < len(x.wanted); i = int(x.next.Add(1)) - 1 {
		x.section(i)
	}
}

// section inflates one.
func (x *stream) section(i int) {
	alone := false
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if alone { // so there is room for .debug_line, which comes early too then
			x.pieces.keep = false
			x.early = append(x.early, x.d.readLineSection)
		}
		x.left--
		x.more.Broadcast()
	}()
	*x.wanted[i].data, x.lost[i] = x.f.SectionData(x.wanted[i].name)
	alone = x.wanted[i].data == &x.s.Abbrev && !x.d.hasAlt() && dwarfx.SelfContained(x.s.Abbrev)
}

// info inflates .debug_info. mu is held.
func (x *stream) info(w *streamWorker) {
	x.begun = true
	defer func() { // whatever happens, nobody may wait for ever
		x.closed = true
		x.more.Broadcast()
	}()
	switch s := x.f.Section(".debug_info"); {
	case s == nil || !s.Present():
		x.whole(w, nil, nil)
	case x.streams():
		size, _ := s.UncompressedSize()
		x.size = int(size)
		x.unlocked(func() {
			x.failed = s.Stream(func(buf []byte, done int) ([]byte, int) { return x.slide(w, buf, done) })
		})
		if x.failed == nil {
			x.await(w)
			x.readHeaders(true)
			x.largestFirst()
		}
	default:
		var data []byte
		x.unlocked(func() { data, x.failed = s.Data() })
		if x.failed == nil {
			x.whole(w, data, s.Discard)
		}
	}
	if x.failed != nil {
		x.units, x.open, x.dw, x.errs = nil, nil, nil, nil // what was read of it before is worth nothing
	}
}

// streams tells whether .debug_info comes piece by piece.
func (x *stream) streams() bool {
	s := x.f.Section(".debug_info")
	return s != nil && s.Streams()
}

// unlocked does something while mu is not held.
func (x *stream) unlocked(work func()) {
	x.mu.Unlock()
	defer x.mu.Lock()
	work()
}

// await waits for the sections that the headers of units need.
func (x *stream) await(w *streamWorker) {
	for x.left > 0 {
		if !x.do(w) {
			x.more.Wait()
		}
	}
}

// whole hands out the units of a .debug_info that is there. Its bytes are given up,
// if discard can do that, pieceSize at a time: each time interrupts the other
// processors.
func (x *stream) whole(w *streamWorker, data []byte, discard func(from, to uint64)) {
	x.await(w)
	x.size, x.pieces.discard = len(data), discard
	x.newData()
	x.errs = x.dw.ReadUnits(data, 0, true)
	for units := x.dw.Units; len(units) > 0; {
		n := 1
		for n < len(units) && units[n].End-units[0].Off < uint64(pieceSize) {
			n++
		}
		p := &piece{at: int(units[0].Off), data: data[units[0].Off:units[n-1].End]}
		x.handOut(p, units[:n])
		units = units[n:]
	}
	slices.Reverse(x.open) // the first is taken first
}

// slide is told that bytes of .debug_info are there, hands out the units that are
// complete, and returns where to inflate the next ones (elfx.Slide).
func (x *stream) slide(w *streamWorker, buf []byte, done int) (next []byte, kept int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if buf == nil {
		size := pieceSize
		if x.size <= 2*pieceSize { // or there would be two
			size = x.size
		}
		return x.newPiece(w, 0, size).data, 0
	}
	p := x.unread[len(x.unread)-1]
	p.grow(done, x.s.BigEndian)
	x.readHeaders(false)
	for x.d.opt.Jobs == 1 && x.do(w) { // while they are in the cache
	}
	if !p.full(x.size) {
		return buf, done
	}
	kept, size := p.follow()
	at := p.at + done - kept
	q := x.newPiece(w, at, min(size, x.size-at))
	x.unlocked(func() {
		elfx.Populate(q.data[:kept])
		copy(q.data, buf[done-kept:done])
	})
	q.whole = kept - (done - p.whole)
	x.readHeaders(false) // p is done with
	return q.data, kept
}

// lend gives away a buffer of .debug_info that is free; nil: there is none to spare.
func (x *stream) lend() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pieces.lend(x.closed)
}

// newPiece returns a piece of a size at an offset of .debug_info. Where there are
// enough of them it helps with the units that are there, and waits for them.
func (x *stream) newPiece(w *streamWorker, at, size int) *piece {
	for x.pieces.enough(size) && (x.left > 0 || len(x.open) > 0 || x.working > 0) && x.d.ctx.Err() == nil {
		x.readHeaders(false)
		if !x.do(w) && (x.left > 0 || x.working > 0) { // else the context is done, and nobody would tell
			x.more.Wait()
		}
	}
	p := &piece{at: at, left: 1, data: x.pieces.take(size)}
	if p.data == nil {
		x.unlocked(func() { p.data = x.f.NewBuffer(size) })
	}
	x.pieces.list = append(x.pieces.list, p)
	x.unread = append(x.unread, p)
	return p
}

// newData makes dw, when the sections are there.
func (x *stream) newData() {
	if x.dw == nil {
		x.dw = dwarfx.New(x.s, x.size, x.d.code)
	}
}

// readHeaders reads the headers of the units that are complete, and hands them out;
// with last, of what is left too: what is cut short there is damage.
func (x *stream) readHeaders(last bool) {
	if x.left > 0 {
		return
	}
	x.newData()
	open := len(x.open)
	defer func() { slices.Reverse(x.open[open:]) }()
	for len(x.unread) > 0 {
		p := x.unread[0]
		current := len(x.unread) == 1
		from, data := len(x.dw.Units), p.data[:p.whole]
		if last && current {
			data = p.data[:p.done]
		}
		x.errs = append(x.errs, x.dw.ReadUnits(data, p.at, last && current)...)
		x.handOut(p, x.dw.Units[from:])
		if current && !last {
			break
		}
		x.unread = x.unread[1:]
		x.pieces.done(p)
	}
}

// largestFirst makes the largest of the last units those that are taken next: nobody
// will wait long for the others then.
func (x *stream) largestFirst() {
	slices.SortStableFunc(x.open, func(a, b int) int {
		return cmp.Compare(x.units[a].End-x.units[a].Off, x.units[b].End-x.units[b].Off)
	})
}

// handOut offers units, whose bytes are in p, to be scanned.
func (x *stream) handOut(p *piece, units []*dwarfx.Unit) {
	for _, u := range units {
		u := &unit{Unit: u, lines: u, piece: p}
		p.units = append(p.units, u)
		x.open = append(x.open, len(x.units))
		x.units = append(x.units, u)
	}
	p.left += len(units)
	x.more.Broadcast()
}

// work scans units until there are no more, and does what else there is to do. One
// goroutine inflates .debug_info, the first that is here: the others wait for units as
// little as possible then, and it does what can be done early when it has to wait for
// them. Where there is nothing to inflate piece by piece, it is the first that is here
// when the other sections are there, or has nothing else to do.
func (x *stream) work(w *streamWorker) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		switch {
		case !x.begun && (x.left == 0 || x.streams()):
			x.info(w)
		case x.do(w):
		case !x.begun:
			x.info(w)
		case x.closed || x.d.ctx.Err() != nil:
			return
		default:
			x.more.Wait()
		}
	}
}

// do does something, if there is anything to do: scan the next unit or, where there
// is none yet, what can be done early. mu is not held meanwhile.
func (x *stream) do(w *streamWorker) bool {
	var task func()
	switch {
	case x.d.ctx.Err() != nil:
		return false
	case len(x.open) > 0:
		i := x.open[len(x.open)-1] // the last is still in the cache
		u := x.units[i]
		x.open = x.open[:len(x.open)-1]
		x.working++
		task = func() { x.unit(w, i, u) }
	case len(x.early) > 0:
		task, x.early = x.early[0], x.early[1:]
	case (x.working > 0 || !x.closed) && x.d.early.waiting(): // else all goroutines have other work soon
		task = func() { x.d.early.some() }
	default:
		return false
	}
	x.unlocked(task)
	return true
}

// unit scans unit i. What names its functions and what is inlined there is found
// out at once, if nothing outside of the unit belongs to them: then nobody needs its
// bytes any more. Else it is done when all units are there.
func (x *stream) unit(w *streamWorker, i int, u *unit) {
	named := false
	defer func() {
		if named {
			x.d.early.add(u, i)
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.working--; named {
			x.pieces.done(u.piece)
		}
		x.more.Broadcast()
	}()
	w.scanner.unit(u)
	switch {
	case u.Split != 0 || x.d.hasAlt() || !u.SelfContained():
	case len(u.Funcs) == 0:
		named = true
	case w.origins.namer.Confine(u.Unit) == nil:
		x.d.nameEarly(u, i, &w.origins)
		named = true
	}
}
