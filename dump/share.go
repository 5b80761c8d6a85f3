package dump

import (
	"errors"
	"fmt"

	"symkit/internal/wire"
)

// Share is how much of one kind of data was lost to damage or a limit. Both numbers are
// estimates, in the unit that is known without reading what was lost.
type Share struct {
	Lost, All uint64
	First     error // the first loss
}

// add counts a loss of n; nil is none.
func (s *Share) add(n uint64, err error) {
	if err == nil {
		return
	}
	s.Lost += n
	if s.First == nil {
		s.First = err
	}
}

// largeLoss: so many times what was lost is more than all there was.
const largeLoss = 10

// LargeLosses says of lines, functions, inlined calls and unwind rules, in words, where more
// than a tenth was lost. Rules are known when the module has been written.
func (s *Stats) LargeLosses() (texts []string) {
	for _, kind := range []struct {
		of   *Share
		what string
	}{
		{&s.FuncShare, "functions, with their lines and inlined calls,"}, {&s.LineShare, "lines"},
		{&s.CallShare, "inlined calls"}, {&s.RuleShare, "unwind rules"},
	} {
		if x := kind.of; x.First != nil && x.Lost*largeLoss > x.All {
			texts = append(texts, fmt.Sprintf("about %.0f %% of the %s are lost: %v", 100*float64(x.Lost)/float64(max(x.All, x.Lost)), kind.what, x.First))
		}
	}
	return texts
}

// rest is how many bytes of [from, to) an error has cost that ended reading there: those from
// the error's place on, or all.
func rest(err error, from, to uint64) uint64 {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		if at := uint64(e.Offset); at > from && at < to {
			return to - at
		}
	}
	return to - from
}

// shareUnits counts what was lost of the units, and of the section that they are in.
func (d *dumper) shareUnits(sectionSize int, failed error, headers []error) {
	s := &d.m.Stats.FuncShare
	s.All = uint64(sectionSize)
	if failed != nil {
		s.add(max(s.All, 1), failed)
		return
	}
	known := uint64(0)
	for _, u := range d.units {
		known += u.End - u.Off
	}
	for _, err := range headers {
		if known < s.All {
			s.add(s.All-known, d.inDWARF(err))
			known = s.All
		}
	}
}
