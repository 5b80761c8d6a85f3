package intake

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"symkit/internal/printable"
	"symkit/serve/gate"
)

// entry is a line of the journal: a decision about a file.
type entry struct {
	Time     string `json:"time"`
	Upload   string `json:"upload,omitempty"`
	Protocol string `json:"protocol"`
	Token    string `json:"token"` // its name
	Client   string `json:"client"`
	Key      string `json:"key"`
	Size     int64  `json:"size"`
	MD5      string `json:"md5,omitempty"`
	gate.Decision
	Error   string  `json:"error,omitempty"` // nothing was decided
	Seconds float64 `json:"seconds"`
}

// journal writes lines of JSON.
type journal struct {
	mu sync.Mutex
	w  io.Writer
}

// write writes a line at once, so that lines of several goroutines and processes do not mix.
func (j *journal) write(e *entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.w == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	out := &whole{}
	_, err = (&printable.JSONWriter{W: out}).Write(append(line, '\n'))
	if err != nil {
		return err
	}
	_, err = j.w.Write(out.bytes)
	return err
}

// whole collects what is written.
type whole struct{ bytes []byte }

func (w *whole) Write(p []byte) (int, error) {
	w.bytes = append(w.bytes, p...)
	return len(p), nil
}

// Record puts a decision about a file into the journal. failed is the reason for which nothing was decided.
func (s *Intake) Record(c *Client, key string, of *Content, d *gate.Decision, failed error, began time.Time) {
	e := &entry{Time: time.Now().UTC().Format(time.RFC3339Nano), Upload: c.Upload, Protocol: c.Protocol, Token: c.Token,
		Client: c.Address, Key: printable.Elide(printable.String(key), maxShown), Decision: *d, Seconds: time.Since(began).Seconds()}
	if of != nil {
		e.Size, e.MD5 = of.Digest.Size, of.Digest.MD5
	}
	verdict := string(d.Verdict)
	if failed != nil {
		e.Error, verdict = failed.Error(), "error"
	}
	s.Count(c.Protocol, verdict, e.Size)
	err := s.journal.write(e)
	if err != nil {
		s.Log(err)
	}
}

// maxShown bounds a key in the journal and in answers, in bytes.
const maxShown = 400
