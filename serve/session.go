package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"symkit/serve/internal/depot"
	"symkit/serve/internal/tokens"
)

// An upload of several requests is a session. Its state is in the store, so that each request may come to another server:
// a file about the session, the parts of bodies that have arrived, and what was decided. The store must keep parts
// anyway, and the address of a session, which nobody can guess, needs no secret that servers would have to share. What is
// left of uploads that were given up is removed after a day.

// sessionAge is how long a session may take.
const sessionAge = 24 * time.Hour

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

// maxSession bounds the file about a session in bytes.
const maxSession = 8 << 20

// sessionKey returns the key of a file of a session.
func sessionKey(id, name string) string { return path.Join(depot.Private, "uploads", id, name) }

// begin makes a session.
func (s *Server) begin(ctx context.Context, c *client, files []sessionFile) (*session, error) {
	n := &session{Protocol: c.protocol, Token: c.token.Name, Upload: c.upload, Created: time.Now().UTC(), Files: files, id: rand.Text()}
	return n, s.putJSON(ctx, sessionKey(n.id, "session"), n)
}

// putJSON makes a small file.
func (s *Server) putJSON(ctx context.Context, key string, doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return s.putNote(ctx, key, string(text))
}

// getJSON reads a small file.
func (s *Server) getJSON(ctx context.Context, key string, doc any) error {
	r, _, err := s.depot.Open(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxSession))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, doc)
}

// session returns the session of an id.
func (s *Server) session(ctx context.Context, id, protocol string) (*session, error) {
	gone := refuse(http.StatusNotFound, "no such upload, or it began more than a day ago: begin a new one")
	if len(id) > 64 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || id == "" {
		return nil, gone
	}
	n := &session{id: id}
	err := s.getJSON(ctx, sessionKey(id, "session"), n)
	if missing(err) || err == nil && (n.Protocol != protocol || time.Since(n.Created) > sessionAge) {
		return nil, gone
	}
	return n, err
}

// client returns the client that began the session.
func (n *session) client(r *http.Request) *client {
	return &client{token: &tokens.Token{Name: n.Token}, address: r.RemoteAddr, protocol: n.Protocol, upload: n.Upload}
}

// base returns the address of this server as the client knows it.
func (s *Server) base(r *http.Request) string {
	if s.opt.URL != "" {
		return strings.TrimSuffix(s.opt.URL, "/")
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s", scheme, r.Host)
}
