package upload

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/quantity"
	"symkit/internal/spool"
)

// sentry is a project of a Sentry server. Files are sent in chunks, of which the server names those that it lacks, and
// put together there. The server reads the file then, and has the last word on its id.
// (develop.sentry.dev; sentry-cli)
type sentry struct {
	*place
	client                *download.Client
	organization, project string // escaped
	chunks                address.Address
	opt                   chunkOptions
}

// chunkOptions are the server's wishes.
type chunkOptions struct {
	URL              string
	ChunkSize        int64
	ChunksPerRequest int
	MaxRequestSize   int64
	MaxFileSize      int64
	MaxWait          int64 // seconds
	HashAlgorithm    string
	Accept           []string
	Compression      []string
}

const (
	// Bounds of what a server may wish for.
	leastChunk, mostChunk = 1 << 10, 256 << 20
	mostChunks            = 1 << 20
	// mostMissing is how often a server may lack chunks that it was sent.
	mostMissing = 3
)

// poll is the time between two questions whether a server has read a file, usualWait how long the server may take.
// Tests change both.
var poll, usualWait = time.Second, 5 * time.Minute

func openSentry(ctx context.Context, p *place, token string) (Server, error) {
	var parts []string
	base := p.url.Path
	for range 2 {
		var last string
		base, last = path.Split(base)
		base = strings.TrimRight(base, "/")
		parts = append(parts, url.PathEscape(last))
	}
	p.url.Path = base
	s := &sentry{place: p, project: parts[0], organization: parts[1], client: p.client()}
	if token != "" {
		s.client.Header = http.Header{"Authorization": {"Bearer " + token}}
	}
	a, err := s.client.Send(ctx, &download.Request{Method: http.MethodGet, URL: p.join("/api/0/organizations/"+s.organization+"/chunk-upload/", nil)})
	if err != nil {
		return nil, s.explain(err, "organization "+parts[1])
	}
	err = decode(s.client, a, &s.opt)
	if err != nil {
		return nil, err
	}
	s.chunks, err = p.elsewhere(s.opt.URL)
	if err != nil {
		return nil, failed(err, s.client.Server+": "+err.Error(), ErrServer)
	}
	return s, s.opt.check(s.client)
}

// check returns an error about wishes that cannot be met.
func (o *chunkOptions) check(c *download.Client) error {
	switch {
	case o.ChunkSize < leastChunk || o.ChunkSize > mostChunk || o.ChunksPerRequest < 1 || o.MaxRequestSize < o.ChunkSize:
		return noProtocol(c, fmt.Sprintf("chunks of %d bytes, %d in a request of %d bytes", o.ChunkSize, o.ChunksPerRequest, o.MaxRequestSize))
	case o.HashAlgorithm != "sha1":
		return noProtocol(c, fmt.Sprintf("hash %q, which is not known here", shown(o.HashAlgorithm)))
	case !slices.Contains(o.Accept, "debug_files"):
		return failed(errAnswer, c.Server+": the server takes no debug information files in chunks", ErrServer)
	}
	return nil
}

// explain returns an error. What is missing is that with the address of the request.
func (s *sentry) explain(err error, what string) error {
	e, ok := errorOf(err)
	if ok && (e.Status == http.StatusNotFound || e.Status == http.StatusMovedPermanently || e.Status == http.StatusFound) {
		return failed(err, fmt.Sprintf("%s: there is no %s, or the token does not permit to see it: %s", s.client.Server, what, answered(e.Status, reasonOf(e.Answer))), ErrServer, ErrToken)
	}
	return explain(err)
}

// File implements Server.
func (s *sentry) File(module string, kind Kind) string {
	if kind == Symbols {
		return symName(module)
	}
	return elfName(module, kind)
}

// Has implements Server. The server knows files by their bytes.
func (s *sentry) Has(context.Context, string) (bool, error) { return false, nil }

// chunked is a file that is kept until the server has it, with the sums of its chunks.
type chunked struct {
	spool.Spool
	size  int64 // of a chunk
	all   hash.Hash
	chunk hash.Hash
	n     int64 // bytes of chunk
	sums  []string
}

func newChunked(size int64) *chunked { return &chunked{size: size, all: sha1.New(), chunk: sha1.New()} }

func (c *chunked) Write(p []byte) (int, error) {
	n, err := c.Spool.Write(p)
	c.all.Write(p[:n]) // cannot fail
	for p = p[:n]; len(p) > 0; {
		k := min(int64(len(p)), c.size-c.n)
		c.chunk.Write(p[:k])
		c.n += k
		p = p[k:]
		if c.n == c.size {
			c.end()
		}
	}
	return n, err
}

// end ends a chunk.
func (c *chunked) end() {
	c.sums = append(c.sums, hex.EncodeToString(c.chunk.Sum(nil)))
	c.chunk.Reset()
	c.n = 0
}

// section returns the bytes of a chunk.
func (c *chunked) section(i int) spool.Section {
	at := int64(i) * c.size
	return c.Section(at, min(c.size, c.Size()-at))
}

// Send implements Server. The server finds files by the id in them, so a second key gives nothing more.
func (s *sentry) Send(ctx context.Context, keys []string, _ Kind, write func(io.Writer) error) (sent Sent, err error) {
	c := newChunked(s.opt.ChunkSize)
	defer c.Close()
	err = write(c)
	if err != nil {
		return sent, err
	}
	if c.n > 0 {
		c.end()
	}
	sent.Text, sent.Bytes = c.Size(), c.Size()
	if s.opt.MaxFileSize > 0 && c.Size() > s.opt.MaxFileSize || len(c.sums) > mostChunks {
		return sent, fmt.Errorf("%s are more than the server takes, %s", quantity.Bytes(c.Size()), quantity.Bytes(s.opt.MaxFileSize))
	}
	sent.Existed, err = s.assemble(ctx, keys[0], c)
	return sent, err
}

// assembled is the server's answer about a file.
type assembled struct {
	State   string
	Missing []string `json:"missingChunks"`
	Detail  *string
}

// assemble has the server put a file together, and sends what it lacks. existed: it lacked nothing.
func (s *sentry) assemble(ctx context.Context, key string, c *chunked) (existed bool, err error) {
	deadline := time.Now().Add(usualWait)
	if s.opt.MaxWait > 0 {
		deadline = time.Now().Add(min(usualWait, time.Duration(min(s.opt.MaxWait, 3600))*time.Second))
	}
	missing := 0
	for try := 0; ; try++ {
		a, err := s.ask(ctx, key, c)
		if err != nil {
			return false, err
		}
		detail := ""
		if a.Detail != nil {
			detail = ": " + shown(*a.Detail)
		}
		switch {
		case a.State == "ok":
			return try == 0, nil
		case a.State == "error" && try > 0: // the first answer may be that to an earlier upload
			return false, errors.New("the server does not take the file" + detail)
		case a.State == "not_found" && len(a.Missing) > 0:
			missing++
			if missing > mostMissing {
				return false, fmt.Errorf("the server still lacks %s that it was sent%s", quantity.Count(len(a.Missing), "chunk", "chunks"), detail)
			}
			err = s.sendChunks(ctx, c, a.Missing)
			if err != nil {
				return false, err
			}
			continue
		case !slices.Contains([]string{"error", "not_found", "created", "assembling"}, a.State):
			return false, noProtocol(s.client, fmt.Sprintf("state %q", shown(a.State)))
		case time.Now().After(deadline):
			return false, fmt.Errorf("the server has the file, and has not read it yet (%s); run the same command again later to see whether it can%s", a.State, detail)
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// ask asks what has become of a file, which has the server begin.
func (s *sentry) ask(ctx context.Context, key string, c *chunked) (*assembled, error) {
	type request struct {
		Name    string   `json:"name"`
		DebugID string   `json:"debug_id,omitempty"`
		Chunks  []string `json:"chunks"`
	}
	_, id, file := split(key)
	sum := hex.EncodeToString(c.all.Sum(nil))
	body, err := json.Marshal(map[string]request{sum: {file, debugID(id), c.sums}})
	if err != nil {
		return nil, err
	}
	a, err := s.client.Send(ctx, &download.Request{
		Method: http.MethodPost, URL: s.join("/api/0/projects/"+s.organization+"/"+s.project+"/files/difs/assemble/", nil),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: spool.Text(body),
	})
	if err != nil {
		return nil, s.explain(err, "project "+s.organization+"/"+s.project)
	}
	var answer map[string]*assembled
	err = decode(s.client, a, &answer)
	if err != nil {
		return nil, err
	}
	about := answer[sum]
	if about == nil {
		return nil, noProtocol(s.client, "it is about other files")
	}
	return about, nil
}

// debugID returns the id of a MODULE record with the hyphens that Sentry's have, and the age unless it is 0. It is
// empty for an id of another form.
func debugID(id string) string {
	if len(id) < 33 {
		return ""
	}
	id = strings.ToLower(id)
	text := strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:32]}, "-")
	age := strings.TrimLeft(id[32:], "0")
	if age != "" {
		text += "-" + age
	}
	return text
}

// sendChunks sends the chunks of the given sums.
func (s *sentry) sendChunks(ctx context.Context, c *chunked, missing []string) error {
	wanted := map[string]bool{}
	for _, sum := range missing {
		wanted[strings.ToLower(sum)] = true
	}
	var batch []int
	var size int64
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := s.sendBatch(ctx, c, batch)
		batch, size = batch[:0], 0
		return err
	}
	known := 0
	for i, sum := range c.sums {
		if !wanted[sum] {
			continue
		}
		delete(wanted, sum) // equal chunks are sent once
		known++
		n := c.section(i).Size()
		if len(batch) == s.opt.ChunksPerRequest || len(batch) > 0 && size+n > s.opt.MaxRequestSize {
			err := flush()
			if err != nil {
				return err
			}
		}
		batch, size = append(batch, i), size+n
	}
	if known == 0 {
		return noProtocol(s.client, "it lacks chunks of other files")
	}
	return flush()
}

// sendBatch sends chunks in one request.
func (s *sentry) sendBatch(ctx context.Context, c *chunked, batch []int) error {
	body := newForm()
	packed := &spool.Spool{}
	defer packed.Close()
	for _, i := range batch {
		if !slices.Contains(s.opt.Compression, "gzip") {
			body.file("file", c.sums[i], c.section(i))
			continue
		}
		at := packed.Size()
		z := gzip.NewWriter(packed)
		_, err := io.Copy(z, c.section(i).Open())
		err = errors.Join(err, z.Close())
		if err != nil {
			return err
		}
		body.file("file_gzip", c.sums[i], packed.Section(at, packed.Size()-at))
	}
	_, err := s.client.Send(ctx, &download.Request{Method: http.MethodPost, URL: s.chunks, Header: body.header(), Body: body.body()})
	return s.explain(err, "place for chunks")
}
