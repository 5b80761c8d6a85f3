package upload

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/spool"
)

// tecken is a server of Mozilla's. Version 2 of its protocol asks where each file goes, and sends the file there;
// version 1 sends zip files. A file of the same size and MD5 is skipped.
// (tecken.readthedocs.io: upload, download)
type tecken struct {
	*place
	server  *download.Client
	storage *download.Client // of the places that the server names; has no token
	v2      bool
	zips    zips
}

// The last parts of paths that name an endpoint instead of the server.
const uploadV1, uploadV2 = "/upload", "/upload/v2"

func openTecken(ctx context.Context, p *place, token string) (Server, error) {
	t := &tecken{place: p}
	base, isV2 := strings.CutSuffix(p.url.Path, uploadV2)
	base, isV1 := strings.CutSuffix(base, uploadV1)
	p.url.Path, t.v2 = base, isV2
	t.server, t.storage = p.client(), newClient("storage of "+p.url.Host)
	if token != "" {
		t.server.Header = http.Header{"Auth-Token": {token}}
	}
	t.zips = zips{t: t, turns: make(chan struct{}, zipsAtATime)}

	// The token is checked, too.
	a, err := t.server.Send(ctx, &download.Request{Method: http.MethodPost, URL: p.join("/upload/auth_info/", nil)})
	e, refused := errorOf(err)
	switch {
	case refused && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed):
		return t, nil // a server from before version 2
	case err != nil:
		return nil, explain(err)
	}
	var info struct {
		Version int `json:"upload_api_version"`
	}
	err = decode(t.server, a, &info)
	t.v2 = isV2 || !isV1 && info.Version >= 2
	return t, err
}

// File implements Server. Of ELF files, Tecken's downloads have those with debug information alone, with gzip.
func (t *tecken) File(module string, kind Kind) string {
	switch kind {
	case Symbols:
		return symName(module)
	case DebugInfo:
		return module + ".dbg.gz"
	}
	return ""
}

// Has implements Server: by the answer of the download.
func (t *tecken) Has(ctx context.Context, key string) (bool, error) {
	_, err := t.server.Send(ctx, &download.Request{
		Method: http.MethodHead, URL: t.join((&url.URL{Path: "/" + key}).EscapedPath(), nil),
		Accept: func(status int) bool { return status == http.StatusOK || status == http.StatusFound },
	})
	e, refused := errorOf(err)
	if refused && e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests {
		return false, nil
	}
	return err == nil, explain(err)
}

// teckenKey matches the keys that the server takes.
var teckenKey = sync.OnceValue(func() *regexp.Regexp {
	const name = "[^\\x00-\\x1f\\x7f-\\xff\\\\^`><{}\\[\\]#%\"'|/\u0080-\U0010ffff]+"
	return regexp.MustCompile("^" + name + "/[0-9A-Fa-f]+/" + name + "$")
})

// Send implements Server.
func (t *tecken) Send(ctx context.Context, keys []string, _ Kind, write func(io.Writer) error) (sent Sent, err error) {
	for _, key := range keys {
		if !teckenKey().MatchString(key) {
			return sent, errors.New("the server takes no names with characters outside of ASCII, control characters or one of \\ ^ ` < > { } [ ] # % \" ' |")
		}
	}
	p := &packed{whole: strings.HasSuffix(keys[0], ".gz")}
	defer p.Close()
	err = p.fill(write)
	if err != nil {
		return sent, err
	}
	sent.Text, sent.Bytes = p.text, p.Size()
	if t.v2 {
		sent.Existed, err = t.start(ctx, keys, p)
	} else {
		sent.Existed, err = t.zips.send(ctx, keys, p)
	}
	return sent, err
}

// fileAction is what version 2 wants done with a file.
type fileAction struct {
	Key    string
	Action struct {
		Type     string
		URL      string
		Encoding string `json:"content_encoding"`
		Message  string `json:"msg"`
	}
}

// sessions is how often a file is begun if the storage forgets how much it has.
const sessions = 5

// start asks what to do with a file under each of the keys, and does it. existed is about the first key.
func (t *tecken) start(ctx context.Context, keys []string, p *packed) (existed bool, err error) {
	for try := 1; ; try++ {
		actions, err := t.actions(ctx, keys, p)
		if err != nil {
			return false, err
		}
		for i := range actions {
			err = cmp.Or(err, t.do(ctx, &actions[i], p))
		}
		e, refused := errorOf(err)
		forgotten := refused && e.Status >= 400 && e.Status < 500 || errors.Is(err, errOther)
		if !forgotten || try == sessions {
			return actions[0].Action.Type == "skip", err
		}
	}
}

// actions asks what to do with a file.
func (t *tecken) actions(ctx context.Context, keys []string, p *packed) ([]fileAction, error) {
	type file struct {
		Key  string `json:"key"`
		Size int64  `json:"size"`
		MD5  string `json:"md5_hash"`
	}
	var request struct {
		Files []file `json:"files"`
	}
	for _, key := range keys {
		request.Files = append(request.Files, file{key, p.size, p.sum()})
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	a, err := t.server.Send(ctx, &download.Request{
		Method: http.MethodPost, URL: t.join(uploadV2+"/", nil), Body: spool.Text(body),
		Header: http.Header{"Content-Type": {"application/json"}},
	})
	if err != nil {
		return nil, explain(err)
	}
	var answer struct {
		Protocol string `json:"upload_protocol"`
		Files    []fileAction
	}
	err = decode(t.server, a, &answer)
	if err != nil {
		return nil, err
	}
	if answer.Protocol != "gcs-resumable" {
		return nil, failed(errAnswer, fmt.Sprintf("%s: it wants files sent by the protocol %q, which is not known here", t.server.Server, shown(answer.Protocol)), ErrServer)
	}
	if len(answer.Files) != len(keys) {
		return nil, noProtocol(t.server, "it is about other files")
	}
	for i := range keys {
		if answer.Files[i].Key != keys[i] {
			return nil, noProtocol(t.server, "it is about other files")
		}
	}
	return answer.Files, nil
}

// do does what the server wants done with a file.
func (t *tecken) do(ctx context.Context, f *fileAction, p *packed) error {
	switch f.Action.Type {
	case "skip":
		return nil
	case "error":
		return fmt.Errorf("the server does not take the file: %s", shown(f.Action.Message))
	case "upload":
	default:
		return noProtocol(t.server, fmt.Sprintf("action %q", shown(f.Action.Type)))
	}
	if (f.Action.Encoding == "gzip") == p.whole {
		return noProtocol(t.server, fmt.Sprintf("it wants the file with the encoding %q", shown(f.Action.Encoding)))
	}
	at, err := t.elsewhere(f.Action.URL)
	if err != nil {
		return failed(err, t.server.Server+": "+err.Error(), ErrServer)
	}
	return resumable{t.storage, at, &p.Spool}.send(ctx)
}

// resumable is a session of Google's storage to send a file.
// (cloud.google.com/storage/docs/performing-resumable-uploads)
type resumable struct {
	storage *download.Client
	url     address.Address
	data    *spool.Spool
}

// partSize is how many bytes a request has: a multiple of 256 KiB. Tests change it.
var partSize int64 = 16 << 20

// noProgress bounds how often in succession the storage may keep nothing of a part.
const noProgress = 3

// send sends the file.
func (r resumable) send(ctx context.Context) error {
	at, stuck := int64(0), 0
	for {
		next, done, err := r.part(ctx, at)
		switch {
		case err != nil:
			return stored(err)
		case done:
			return nil
		case next > at:
			stuck = 0
		default:
			stuck++
		}
		if stuck == noProgress {
			return fmt.Errorf("%s: keeps nothing of what is sent", r.storage.Server)
		}
		at = next
	}
}

// part sends the bytes from an offset on, at most partSize. It returns the offset of the next part. After an error the
// storage is asked how much it has.
func (r resumable) part(ctx context.Context, at int64) (next int64, done bool, err error) {
	size, broken := r.data.Size(), false
	err = r.storage.Repeat(ctx, func() error {
		if broken {
			next, done, err = r.put(ctx, fmt.Sprintf("bytes */%d", size), nil)
			if err != nil || done || next >= min(at+partSize, size) {
				return err
			}
			at = next
		}
		broken = true
		n := min(partSize, size-at)
		place := fmt.Sprintf("bytes %d-%d/%d", at, at+n-1, size)
		if n == size {
			place = "" // a file that is sent at once
		}
		next, done, err = r.put(ctx, place, r.data.Section(at, n))
		return err
	})
	return next, done, err
}

// put makes one request. It returns how much the storage has.
func (r resumable) put(ctx context.Context, place string, body download.Content) (next int64, done bool, err error) {
	request := &download.Request{
		Method: http.MethodPut, URL: r.url, Body: body, Header: http.Header{},
		Accept: func(status int) bool {
			return status == http.StatusOK || status == http.StatusCreated || status == http.StatusPermanentRedirect
		},
	}
	if place != "" {
		request.Header.Set("Content-Range", place)
	}
	a, err := r.storage.Once(ctx, request)
	if err != nil {
		return 0, false, err
	}
	if a.Status != http.StatusPermanentRedirect {
		return 0, true, r.whole(a)
	}
	var last int64
	n, _ := fmt.Sscanf(a.Header.Get("Range"), "bytes=0-%d", &last) // no header: nothing is kept
	if n == 1 && last >= 0 && last < r.data.Size() {
		next = last + 1
	}
	return next, false, nil
}

// errOther: the storage has other bytes than were sent.
var errOther = errors.New("the storage has another number of bytes than the file")

// whole returns an error if the answer about a complete object says that the object is not the file.
func (r resumable) whole(a *download.Answer) error {
	var object struct {
		Size json.Number // in quotes, too
	}
	_ = json.Unmarshal(a.Body, &object) // there need not be any
	size := cmp.Or(object.Size.String(), a.Header.Get("X-Goog-Stored-Content-Length"))
	if size != "" && size != strconv.FormatInt(r.data.Size(), 10) {
		return fmt.Errorf("%s: %w: %s, not %d", r.storage.Server, errOther, shown(size), r.data.Size())
	}
	return nil
}
