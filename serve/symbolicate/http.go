package symbolicate

import (
	"errors"
	"io"
	"net/http"
	"strconv"
)

// failure is an error that the client sees.
type failure struct {
	status int
	title  string
}

func (f *failure) Error() string { return f.title }

// refuse returns the failure of a request that is wrong.
func refuse(title string) error { return &failure{http.StatusBadRequest, title} }

// readBody reads the body of a request, of at most so many bytes.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	tooLarge := &failure{http.StatusRequestEntityTooLarge, "please limit the size of a request to <= " + strconv.FormatInt(most, 10) + " bytes"}
	if r.ContentLength > most {
		return nil, tooLarge
	}
	body := http.MaxBytesReader(w, r.Body, most)
	data := make([]byte, 0, max(r.ContentLength, 0)+512)
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			_, ok := errors.AsType[*http.MaxBytesError](err)
			if ok {
				return nil, tooLarge
			}
			return nil, refuse("the body of the request could not be read")
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// reply answers with JSON.
func reply(w http.ResponseWriter, text []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // of a client that is gone
	return nil
}
