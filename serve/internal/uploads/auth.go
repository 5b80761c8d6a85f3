package uploads

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"

	"symkit/serve/internal/intake"
	"symkit/serve/internal/tokens"
)

// Texts of Tecken (tecken/tokens/middleware.py).
const (
	textNoToken      = "This requires an Auth-Token to authenticate the request"
	textUnknownToken = "API Token not matched"
	textExpiredToken = "API Token found but expired"
	textReadOnly     = "this server takes no symbols: its administrator has to start it with --tokens"
)

// tokenOf returns the token that a request shows: Tecken's header, those of HTTP, or, for sym_upload, which sends no
// header, a parameter of the address.
func tokenOf(r *http.Request) string {
	token := r.Header.Get("Auth-Token")
	if token == "" {
		token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	_, password, ok := r.BasicAuth()
	if ok {
		token = password
	}
	query := r.URL.Query()
	return cmp.Or(token, query.Get("key"), query.Get("token"), query.Get("api_key"))
}

// authorize returns the token of a request that sends symbols, or a text for the client. A file of tokens that cannot be
// read is no reason to accept.
func (s *Desk) authorize(r *http.Request) (*tokens.Token, string) {
	if s.opt.Tokens == nil {
		return nil, textReadOnly
	}
	text := tokenOf(r)
	if text == "" {
		return nil, textNoToken
	}
	token, err := s.opt.Tokens.Find(text)
	switch {
	case errors.Is(err, tokens.ErrExpired):
		return nil, textExpiredToken
	case err != nil:
		return nil, textUnknownToken
	}
	return token, ""
}

// uploader returns the client of a request that sends symbols. If it may not, it gets the answer 403 after its body: a
// proxy in front that cannot pass the body on would answer in the server's place (Mozilla's bug 1655944).
func (s *Desk) uploader(w http.ResponseWriter, r *http.Request, protocol string, refuse answerer) (*intake.Client, bool) {
	token, text := s.authorize(r)
	if token != nil {
		return &intake.Client{Token: token.Name, Address: r.RemoteAddr, Protocol: protocol, Upload: rand.Text()}, true
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, s.opt.MaxUpload)) // a broken connection has no answer
	refuse(w, http.StatusForbidden, text)
	return nil, false
}
