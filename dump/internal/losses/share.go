package losses

import (
	"errors"

	"symkit/located"
)

// Share is how much of one kind of data was lost to damage or a limit. Both numbers are
// estimates, in a unit that is known without reading the lost parts.
type Share struct {
	Lost, All uint64
	First     error // the first loss
}

// Add counts a loss of n; a nil error is none.
func (s *Share) Add(n uint64, err error) {
	if err == nil {
		return
	}
	s.Lost += n
	if s.First == nil {
		s.First = err
	}
}

// Rest returns how many bytes of [from, to) were lost to an error that ended the
// reading of them: the bytes from the error's offset on, or all bytes.
func Rest(err error, from, to uint64) uint64 {
	e, ok := errors.AsType[*located.Error](err)
	if ok {
		at := uint64(e.Offset)
		if at > from && at < to {
			return to - at
		}
	}

	// An error outside of the range does not say how far the reading came.
	return to - from
}
