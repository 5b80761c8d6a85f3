package upload

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/printable"
)

var (
	// ErrServer: the server cannot be used. Other files would meet the error, too.
	ErrServer = errors.New("the server cannot be used")
	// ErrToken: the server does not accept the token, or wants one. It is an ErrServer.
	ErrToken = errors.New("the server does not accept the token")

	// errAnswer: what answers is no server of the protocol.
	errAnswer = errors.New("the answer is not that of the protocol")
)

// failure is an error of a request in words.
type failure struct {
	text  string
	kinds []error // that the error is
	cause error
}

func (f *failure) Error() string   { return f.text }
func (f *failure) Unwrap() []error { return append(f.kinds, f.cause) }

// failed returns an error in words, which is of the kinds.
func failed(cause error, text string, kinds ...error) error {
	return &failure{text, kinds, cause}
}

// errorOf returns the error of a request that is in an error.
func errorOf(err error) (*download.Error, bool) { return errors.AsType[*download.Error](err) }

// explain returns the error of a request to a server in words.
func explain(err error) error {
	e, ok := errorOf(err)
	if !ok {
		return err // ctx has ended
	}
	text := fmt.Sprintf("%s: %v", e.Server, e)
	reason := reasonOf(e.Answer)
	if reason != "" {
		text += ": " + reason
	}
	switch code := e.Status; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return failed(err, fmt.Sprintf("%s: the server does not accept the token: %s", e.Server, answered(code, reason)), ErrServer, ErrToken)
	case code == http.StatusRequestEntityTooLarge:
		return failed(err, fmt.Sprintf("the file is larger than the server takes: %s", answered(code, reason)))
	case code == http.StatusBadRequest || code == http.StatusConflict || code == http.StatusUnprocessableEntity || code == http.StatusUnsupportedMediaType:
		return failed(err, "the server does not take the file: "+answered(code, reason))
	case code == http.StatusInternalServerError: // may be about this file alone: see guarded
		return failed(err, "the server failed: "+answered(code, reason))
	}
	return failed(err, text, ErrServer)
}

// stored is explain for the place where the server has its files, which wants no token.
func stored(err error) error {
	e, ok := errorOf(err)
	if !ok || e.Status == 0 || e.Status >= 500 {
		return explain(err)
	}
	return failed(err, fmt.Sprintf("%s: the storage that the server named does not take the file: %s", e.Server, answered(e.Status, reasonOf(e.Answer))))
}

// answered returns a status with the server's reason.
func answered(code int, reason string) string {
	text := fmt.Sprintf("%d %s", code, http.StatusText(code))
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// maxShown bounds the part of a server's text that is shown, in bytes.
const maxShown = 300

// reasonOf returns the reason in the body of a refusal: JSON's "error", "detail" or "message", or a line of text.
func reasonOf(body []byte) string {
	var reason struct{ Error, Detail, Message json.RawMessage }
	text := ""
	if json.Unmarshal(body, &reason) == nil {
		for _, raw := range []json.RawMessage{reason.Error, reason.Detail, reason.Message} {
			if text == "" && len(raw) > 0 && json.Unmarshal(raw, &text) != nil {
				text = string(raw) // Sentry has objects, too
			}
		}
	} else {
		text, _, _ = strings.Cut(strings.TrimSpace(string(body)), "\n")
		if strings.HasPrefix(text, "<") {
			text = "" // a page
		}
	}
	return shown(text)
}

// shown returns a text of a server as messages have it.
func shown(text string) string {
	return printable.String(printable.Elide(address.Redact(strings.TrimSpace(text)), maxShown))
}

// decode reads the JSON of an answer into out.
func decode(client *download.Client, a *download.Answer, out any) error {
	err := json.Unmarshal(a.Body, out)
	if err != nil {
		return noProtocol(client, "its JSON cannot be read")
	}
	return nil
}

// noProtocol returns the error of a server whose answer makes no sense.
func noProtocol(client *download.Client, what string) error {
	text := fmt.Sprintf("%s: %v: %s; is this the address of such a server?", client.Server, errAnswer, what)
	return failed(errAnswer, text, ErrServer)
}
