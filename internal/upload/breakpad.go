package upload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"symkit/internal/download"
	"symkit/internal/quantity"
	"symkit/internal/spool"
)

// breakpad is a server that speaks sym-upload of Breakpad: version 2, in which the server is asked whether it has a
// file and names the place where the file goes, or version 1, in which a form has the file.
// (breakpad: docs/sym_upload_v2_protocol.md, src/common/linux/symbol_upload.cc, symbol_collector_client.cc)
type breakpad struct {
	*place
	server  *download.Client
	storage *download.Client // of the places that the server names; has no token
	query   url.Values       // of all requests
	v2      bool
}

func openBreakpad(ctx context.Context, p *place, token string) (Server, error) {
	b := &breakpad{place: p, server: p.client(), storage: newClient("storage of " + p.url.Host), query: p.url.Query()}
	p.url.RawQuery = ""

	// The token is the parameter that has no value in the address, or Breakpad's.
	name := "key"
	for _, parameter := range slices.Sorted(maps.Keys(b.query)) {
		if b.query.Get(parameter) == "" {
			name = parameter
		}
	}
	if token != "" {
		b.query.Set(name, token)
	}

	// The id is of no module, but of the usual form.
	status, err := b.status(ctx, "symkit", "0123456789ABCDEF0123456789ABCDEF0")
	e, refused := errorOf(err)
	switch {
	case err == nil:
		b.v2 = status != ""
	case refused && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden):
		return nil, explain(err)
	case refused && e.Status == http.StatusBadRequest: // about the id
		b.v2 = true
	case refused && e.Status >= 300 && e.Status < 500 || refused && e.Status == http.StatusNotImplemented:
	default:
		return nil, explain(err)
	}
	return b, nil
}

// File implements Server. Version 1 has no kinds of files.
func (b *breakpad) File(module string, kind Kind) string {
	switch {
	case kind == Symbols:
		return symName(module)
	case b.v2:
		return elfName(module, kind)
	}
	return ""
}

// status returns what the server says about a file, "" if its answer has no status.
func (b *breakpad) status(ctx context.Context, module, id string) (string, error) {
	a, err := b.server.Send(ctx, &download.Request{
		Method: http.MethodGet, URL: b.join("/v1/symbols/"+url.PathEscape(module)+"/"+url.PathEscape(id)+":checkStatus", b.query),
	})
	if err != nil {
		return "", err
	}
	var answer struct{ Status string }
	_ = json.Unmarshal(a.Body, &answer) // a page, of a server without version 2, has no status
	return answer.Status, nil
}

// Has implements Server. The answer is about all files of a module.
func (b *breakpad) Has(ctx context.Context, key string) (bool, error) {
	if !b.v2 {
		return false, nil
	}
	module, id, file := split(key)
	if file != symName(module) {
		return false, nil
	}
	status, err := b.status(ctx, module, id)
	return status == "FOUND", explain(err)
}

// Send implements Server.
func (b *breakpad) Send(ctx context.Context, keys []string, kind Kind, write func(io.Writer) error) (sent Sent, err error) {
	data := &spool.Spool{}
	defer data.Close()
	err = write(data)
	if err != nil {
		return sent, err
	}
	sent.Text, sent.Bytes = data.Size(), data.Size()
	for i, key := range keys {
		existed := false
		if b.v2 {
			existed, err = b.put(ctx, key, kind, data)
		} else {
			err = b.post(ctx, key, data)
		}
		if err != nil {
			return sent, err
		}
		sent.Existed = sent.Existed || i == 0 && existed
	}
	return sent, nil
}

// uploadTypes are the names of kinds.
var uploadTypes = [...]string{Symbols: "BREAKPAD", Executable: "ELF", DebugInfo: "DEBUG_ONLY"}

// put sends a file by version 2.
func (b *breakpad) put(ctx context.Context, key string, kind Kind, data *spool.Spool) (existed bool, err error) {
	var upload string
	for try := 1; ; try++ {
		upload, err = b.create(ctx, data)
		e, refused := errorOf(err)
		if !refused || e.Server != b.storage.Server || e.Status < 400 || e.Status >= 500 || try == sessions {
			break // else the place may have been too old
		}
	}
	if err != nil {
		return false, err
	}

	type symbolID struct {
		File string `json:"debug_file"`
		ID   string `json:"debug_id"`
	}
	module, id, _ := split(key)
	body, err := json.Marshal(struct {
		ID   symbolID `json:"symbol_id"`
		Type string   `json:"symbol_upload_type"`
	}{symbolID{module, id}, uploadTypes[kind]})
	if err != nil {
		return false, err
	}
	a, err := b.server.Send(ctx, &download.Request{
		Method: http.MethodPost, URL: b.join("/v1/uploads/"+url.PathEscape(upload)+":complete", b.query), Body: spool.Text(body),
		Header: http.Header{"Content-Type": {"application/json"}},
	})
	if err != nil {
		return false, explain(err)
	}
	var answer struct{ Result string }
	err = decode(b.server, a, &answer)
	switch {
	case err != nil:
		return false, err
	case answer.Result == "OK":
		return false, nil
	case answer.Result == "DUPLICATE_DATA":
		return true, nil
	}
	return false, fmt.Errorf("the server does not take the file: result %q", shown(answer.Result))
}

// create makes an upload, and sends the file to the place that the server names. It returns the upload's key.
func (b *breakpad) create(ctx context.Context, data *spool.Spool) (key string, err error) {
	a, err := b.server.Send(ctx, &download.Request{Method: http.MethodPost, URL: b.join("/v1/uploads:create", b.query)})
	if err != nil {
		return "", explain(err)
	}
	// The document has other names than Breakpad's own client.
	var answer struct {
		URL  string `json:"uploadUrl"`
		Key  string `json:"uploadKey"`
		URL2 string `json:"upload_url"`
		Key2 string `json:"upload_key"`
	}
	err = decode(b.server, a, &answer)
	if err != nil {
		return "", err
	}
	to, key := answer.URL, answer.Key
	if to == "" {
		to, key = answer.URL2, answer.Key2
	}
	if to == "" || key == "" {
		return "", noProtocol(b.server, "it has no \"uploadUrl\" and \"uploadKey\"")
	}
	at, err := b.elsewhere(to)
	if err != nil {
		return "", failed(err, b.server.Server+": "+err.Error(), ErrServer)
	}
	_, err = b.storage.Send(ctx, &download.Request{
		Method: http.MethodPut, URL: at, Body: data.Section(0, data.Size()),
		Accept: func(status int) bool { return status == http.StatusOK },
	})
	return key, stored(err)
}

// maxModule bounds the first line of a symbol file, in bytes.
const maxModule = 64 << 10

// post sends a symbol file by version 1.
func (b *breakpad) post(ctx context.Context, key string, data *spool.Spool) error {
	line := make([]byte, min(data.Size(), maxModule))
	_, err := data.ReadAt(line, 0)
	if err != nil && err != io.EOF {
		return err
	}
	text, _, found := strings.Cut(string(line), "\n")
	words := strings.SplitN(strings.TrimSuffix(text, "\r"), " ", 5)
	if !found || len(words) != 5 || words[0] != "MODULE" {
		return errors.New("the first line is no MODULE record of at most " + quantity.Bytes(maxModule))
	}

	module, id, file := split(key)
	body := newForm()
	for _, field := range [][2]string{
		{"code_file", module}, {"cpu", words[2]}, {"debug_file", module}, {"debug_identifier", id}, {"os", words[1]},
	} {
		body.field(field[0], field[1])
	}
	body.file("symbol_file", file, data.Section(0, data.Size()))
	_, err = b.server.Send(ctx, &download.Request{
		Method: http.MethodPost, URL: b.join("", b.query), Header: body.header(), Body: body.body(),
	})
	return explain(err)
}
