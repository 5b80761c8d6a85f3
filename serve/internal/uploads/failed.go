package uploads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"syscall"

	"symkit/internal/quantity"
	"symkit/internal/spool"
	"symkit/serve/internal/intake"
)

// errTimeout is the cause of the end of a request that takes too long.
var errTimeout = errors.New("the request took longer than the server allows: send less at once")

// answerer writes an error in the form of a protocol.
type answerer func(w http.ResponseWriter, status int, text string)

// failed answers a request that could not be worked off: because of its body, the store, the disk or the time.
func (s *Desk) failed(w http.ResponseWriter, err error, answer answerer) {
	r, refused := errors.AsType[*intake.Refusal](err)
	large, tooLarge := errors.AsType[*http.MaxBytesError](err)
	_, file := errors.AsType[*fs.PathError](err)
	switch {
	case refused:
		answer(w, r.Status, r.Text)
	case tooLarge:
		answer(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %s: send its files in several", quantity.Bytes(large.Limit)))
	case errors.Is(err, spool.ErrTooLarge):
		answer(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a file is %v: the server takes no larger one", err))
	case errors.Is(err, intake.ErrBomb), errors.Is(err, intake.ErrPacked):
		answer(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, os.ErrDeadlineExceeded):
		answer(w, http.StatusRequestTimeout, fmt.Sprintf("the client sent less than %s in %v: send the request again", quantity.Bytes(64<<10), s.opt.Stall))
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		answer(w, http.StatusServiceUnavailable, errTimeout.Error())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		s.Log(err)
		answer(w, http.StatusInsufficientStorage, "the server's disk is full: its administrator has to make space; nothing was stored of this file")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, multipart.ErrMessageTooLarge), !file && errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		answer(w, http.StatusBadRequest, "the body of the request ends early: send it again")
	case isFormError(err):
		answer(w, http.StatusBadRequest, "the body of the request is no form: "+err.Error())
	default:
		s.Log(err)
		answer(w, http.StatusServiceUnavailable, "the store cannot be used now: send the request again in some seconds; the server's log has the reason")
	}
}

// formError is an error of package multipart, which has no type of its own.
type formError struct{ error }

func isFormError(err error) bool {
	_, ok := errors.AsType[formError](err)
	return ok
}

// newForm returns the reader of a request's form, of at most a number of bytes.
func newForm(w http.ResponseWriter, r *http.Request, most int64) (*form, error) {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	reader, err := r.MultipartReader()
	if err != nil {
		return nil, intake.Refuse(http.StatusBadRequest, "Must be multipart form data with at least one file")
	}
	return &form{reader}, nil
}

// form reads the parts of a form.
type form struct{ *multipart.Reader }

// NextPart returns the next part. Errors of the connection keep their kind, others are formErrors.
func (f *form) NextPart() (*multipart.Part, error) {
	part, err := f.NextRawPart()
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	if err == nil || err == io.EOF || tooLarge || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNRESET) {
		return part, err
	}
	return nil, formError{err}
}
