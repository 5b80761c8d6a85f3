package uploads

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"symkit/serve/internal/depot"
	"symkit/serve/internal/intake"
)

// An upload of several requests is a session. Its state is in the store, so that each request may come to another server:
// a file about the session, the parts of bodies that have arrived, and what was decided. The store must keep parts
// anyway. The address of a session is too long to be guessed, so that servers share no secret. The files of abandoned
// uploads are removed after a day.

// Age is how long a session may take.
const Age = 24 * time.Hour

// shortTime bounds requests that move no files.
const shortTime = 30 * time.Second

// session is the file about a session.
type session struct {
	Protocol string        `json:"protocol"`
	Token    string        `json:"token"` // its name
	Upload   string        `json:"upload"`
	Created  time.Time     `json:"created"`
	Files    []sessionFile `json:"files,omitempty"`

	id string
}

// sessionFile is a file that the client announced.
type sessionFile struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	File string `json:"file"`
	Size int64  `json:"size"`
	MD5  string `json:"md5"`
}

// begin makes a session.
func (s *Desk) begin(ctx context.Context, c *intake.Client, files []sessionFile) (*session, error) {
	n := &session{Protocol: c.Protocol, Token: c.Token, Upload: c.Upload, Created: time.Now().UTC(), Files: files, id: rand.Text()}
	return n, s.putJSON(ctx, depot.UploadKey(n.id, "session"), n)
}

// putJSON makes a small file.
func (s *Desk) putJSON(ctx context.Context, key string, doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return depot.PutNote(ctx, s.Depot, key, string(text))
}

// getJSON reads a small file.
func (s *Desk) getJSON(ctx context.Context, key string, doc any) error {
	text, err := depot.ReadNote(ctx, s.Depot, key)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), doc)
}

// session returns the session of an id.
func (s *Desk) session(ctx context.Context, id, protocol string) (*session, error) {
	gone := intake.Refuse(http.StatusNotFound, "no such upload, or it began more than a day ago: begin a new one")
	if len(id) > 64 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || id == "" {
		return nil, gone
	}
	n := &session{id: id}
	err := s.getJSON(ctx, depot.UploadKey(id, "session"), n)
	if depot.Missing(err) || err == nil && (n.Protocol != protocol || time.Since(n.Created) > Age) {
		return nil, gone
	}
	return n, err
}

// client returns the client that began the session.
func (n *session) client(r *http.Request) *intake.Client {
	return &intake.Client{Token: n.Token, Address: r.RemoteAddr, Protocol: n.Protocol, Upload: n.Upload}
}

// base returns the address of this server as the client knows it.
func (s *Desk) base(r *http.Request) string {
	if s.opt.URL != "" {
		return strings.TrimSuffix(s.opt.URL, "/")
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s", scheme, r.Host)
}
