package dump

import (
	"cmp"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/demangle"
)

// earlyTexts makes texts of names before all names are there, on goroutines that would
// wait for others: of the linkage names of what is inlined, which need nothing but
// themselves. What is left when all names are there resolveNames makes.
type earlyTexts struct {
	d    *dumper
	room func() []byte // memory for texts, or nil

	mu     sync.Mutex
	units  []namedUnit
	makers []*textMaker // that nobody uses
}

// namedUnit is a unit whose origins have numbers.
type namedUnit struct {
	*unit
	number int
	done   int // of origins, those whose texts are made
}

// textMaker is what one goroutine needs.
type textMaker struct {
	demangle.Demangler
	room textRoom
}

// add adds a unit.
func (x *earlyTexts) add(u *unit, number int) {
	if x.d.opt.Jobs == 1 || len(u.origins) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.units = append(x.units, namedUnit{unit: u, number: number})
}

// waiting tells whether there is anything to do.
func (x *earlyTexts) waiting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.units) > 0
}

// take takes a unit, the last, and a maker; ok is false where there is no unit.
func (x *earlyTexts) take() (u namedUnit, m *textMaker, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	last := len(x.units) - 1
	if last < 0 {
		return u, nil, false
	}
	u, x.units = x.units[last], x.units[:last]
	if n := len(x.makers) - 1; n >= 0 {
		m, x.makers = x.makers[n], x.makers[:n]
		m.room.none = false
	} else {
		m = &textMaker{room: textRoom{more: x.room}}
		m.Keep = m.room.keep
	}
	return u, m, true
}

// some makes some texts; it reports whether there were any to make.
func (x *earlyTexts) some() bool {
	u, m, ok := x.take()
	if !ok {
		return false
	}
	x.make(&u, m)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.makers = append(x.makers, m); u.done < len(u.origins) {
		x.units = append(x.units, u)
	}
	return true
}

// make makes texts of names that were first met in u.
func (x *earlyTexts) make(u *namedUnit, m *textMaker) {
	const most = 256 // at once
	for made := 0; u.done < len(u.origins) && made < most; u.done++ {
		id, order := u.origins[u.done], originOrder(uint32(u.number), uint32(u.done))
		key, language := x.d.names.untold(id, order)
		if key == nil {
			continue
		}
		made++
		text, ok := m.ForLanguage(uint16(language), key)
		if !ok {
			continue
		}
		if x.d.tooMuchKnown(text) {
			u.done = len(u.origins)
			return
		}
		x.d.names.tell(id, order, text, m.ASCII() && emit.IsPlainOriginName(text))
	}
}

// end gives back the memory that is left, when nobody makes texts any more.
func (x *earlyTexts) end(to *pieces) {
	for _, m := range x.makers {
		to.giveBack(m.room.free)
	}
	x.units, x.makers = nil, nil
}

// meanwhile does work, parts of which are for one goroutine alone: the others make texts.
func (d *dumper) meanwhile(work func() error) (err error) {
	var group errgroup.Group
	var done atomic.Bool
	defer func() { // also where work panics, since the file changed
		done.Store(true)
		err = cmp.Or(err, group.Wait())
	}()
	for range d.opt.Jobs - 1 {
		group.Go(func() error {
			return elfx.Guard(func() error {
				for !done.Load() && d.early.some() {
				}
				return nil
			})
		})
	}
	return work()
}
