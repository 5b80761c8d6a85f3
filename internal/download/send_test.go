package download

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// text is content that can be read again.
type text string

func (t text) Size() int64     { return int64(len(t)) }
func (t text) Open() io.Reader { return strings.NewReader(string(t)) }

// TestSend: a request is sent again with its whole body, as long as that may help.
func TestSend(t *testing.T) {
	for _, test := range []struct {
		name     string
		statuses []int // of the answers
		accept   func(int) bool
		asked    int
		status   int // of the result; 0: there is an answer
	}{
		{"at once", []int{201}, nil, 1, 0},
		{"later", []int{503, 429, 200}, nil, 3, 0},
		{"never", []int{503, 503, 503, 503}, nil, 3, 503},
		{"refused", []int{400}, nil, 1, 400},
		{"a redirect", []int{307}, nil, 1, 307},
		{"another status", []int{308}, func(s int) bool { return s == 308 }, 1, 0},
		{"not the status", []int{201}, func(s int) bool { return s == 200 }, 1, 201},
	} {
		c, at, asked := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != "body" || r.ContentLength != 4 || r.Method != http.MethodPut || r.Header.Get("X") != "y" {
				t.Errorf("%s: %s %q, %v", test.name, r.Method, body, err)
			}
			w.Header().Set("Location", "/elsewhere?token=sesame")
			w.WriteHeader(test.statuses[n-1])
			_, _ = io.WriteString(w, "answer")
		})
		a, err := c.Send(t.Context(), &Request{Method: http.MethodPut, URL: at, Header: http.Header{"X": {"y"}}, Body: text("body"), Accept: test.accept})
		e, _ := errors.AsType[*Error](err)
		switch {
		case asked() != test.asked:
			t.Errorf("%s: %d requests", test.name, asked())
		case test.status == 0 && (err != nil || string(a.Body) != "answer"):
			t.Errorf("%s: %v, %v", test.name, a, err)
		case test.status != 0 && (e == nil || e.Status != test.status || string(e.Answer) != "answer" || strings.Contains(e.Error(), "sesame")):
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestSendStalled: a server that takes nothing, or does not answer, is given up. Time counts from the last byte.
func TestSendStalled(t *testing.T) {
	for _, reads := range []bool{false, true} {
		c, at, asked := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				return // the server has answered once
			}
			if reads {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			time.Sleep(400 * time.Millisecond)
		})
		c.Timeout, c.Attempts = 50*time.Millisecond, 2
		_, err := c.Send(t.Context(), &Request{Method: http.MethodPost, URL: at})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Send(t.Context(), &Request{Method: http.MethodPost, URL: at, Body: text(strings.Repeat("x", 32<<20))})
		if !errors.Is(err, ErrStalled) || asked() != 3 {
			t.Errorf("%v after %d requests", err, asked())
		}
	}
}

// TestFirstAttempts: a server that never answers is not asked as often as one that does.
func TestFirstAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := &Client{Server: "s", Attempts: 11}
		begun := time.Now()
		_ = c.Repeat(t.Context(), func() error {
			tries++
			return c.failed(errors.New("no route"), true)
		})
		if tries != firstAttempts || time.Since(begun) > 15*time.Second {
			t.Errorf("%d in %v", tries, time.Since(begun))
		}
		c.answered.Store(true)
		tries, begun = 0, time.Now()
		_ = c.Repeat(t.Context(), func() error {
			tries++
			return c.failed(errors.New("no route"), true)
		})
		if tries != 11 || time.Since(begun) < 2*time.Minute || time.Since(begun) > 4*time.Minute {
			t.Errorf("%d in %v", tries, time.Since(begun))
		}
	})
}

// TestAnswerTooLarge: an answer without end is no answer.
func TestAnswerTooLarge(t *testing.T) {
	c, at, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	_, err := c.Send(t.Context(), &Request{Method: http.MethodGet, URL: at})
	if !errors.Is(err, errAnswer) {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(1994, 11, 6, 8, 49, 30, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "-1": 0, "1000000": maxWait, "x": 0, "99999999999999999999": 0,
		"Sun, 06 Nov 1994 08:49:37 GMT": 7 * time.Second, "Sun, 06 Nov 1994 08:49:00 GMT": 0, "Sun, 06 Nov 2094 08:49:00 GMT": maxWait,
	} {
		if got := after(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
