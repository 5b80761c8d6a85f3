package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// partSize is the size of the parts of a large object; smaller objects are sent as one.
const partSize = 32 << 20

// errNoUpload reports an upload that was already completed or aborted.
var errNoUpload = errors.New("no such upload")

// Header has the properties that Create stores with an object.
type Header struct {
	ContentType     string
	ContentEncoding string
	Meta            map[string]string
}

func (h *Header) values() http.Header {
	v := http.Header{}
	if h.ContentType != "" {
		v.Set("Content-Type", h.ContentType)
	}
	if h.ContentEncoding != "" {
		v.Set("Content-Encoding", h.ContentEncoding)
	}
	for name, value := range h.Meta {
		v.Set("X-Amz-Meta-"+name, value)
	}
	return v
}

// Content is the bytes of an object, which may be read several times.
type Content interface {
	io.ReaderAt
	Size() int64
}

// Create makes an object. The error is ErrExist if there is one, unless replace is set.
//
// A request whose answer was lost may have made the object. So before a second request
// the object is looked for, and nothing that the server has is sent again.
func (b *Bucket) Create(ctx context.Context, key string, c Content, h Header, replace bool) error {
	condition := http.Header{}
	if !replace {
		condition.Set("If-None-Match", "*")
	}
	if c.Size() > partSize && !b.google {
		return b.multipart(ctx, key, c, h, condition)
	}

	header, mark := h.values(), rand.Text()
	header.Set(markHeader, mark)
	maps.Copy(header, condition)
	all := io.NewSectionReader(c, 0, c.Size())
	sum, err := digest(all)
	if err != nil {
		return err
	}
	tries := 0
	return b.repeat(ctx, key, func() error {
		tries++
		if tries > 1 && !replace {
			made, err := b.marked(ctx, key, mark)
			if made || err != nil {
				return err
			}
		}
		return b.command(ctx, &request{method: http.MethodPut, key: key, header: header, body: all, sum: sum}, nil, tagged)
	})
}

// markHeader is the metadata in which an object has the mark of the call of Create that made it, so
// that a call whose answer was lost knows its object.
const markHeader = "X-Amz-Meta-Symkit-Write"

// marked reports whether an object has a mark. The error for an object with another mark is
// ErrExist; without an object it is nil.
func (b *Bucket) marked(ctx context.Context, key, mark string) (made bool, err error) {
	resp, err := b.do(ctx, &request{method: http.MethodHead, key: key})
	if err != nil {
		return false, nil // what is wrong, the next request meets again
	}
	resp.Body.Close()
	if resp.Header.Get(markHeader) == mark {
		return true, nil
	}
	return false, &failure{ErrExist.Error(), ErrExist, true}
}

// errNotS3 reports an answer that no S3 service gives: that of a portal or of another server.
var errNotS3 = &failure{text: "the answer has no ETag: no S3 service answers at this address", final: true}

// tagged returns an error unless an answer has the tag of the object that was made.
func tagged(h http.Header) error {
	if h.Get("ETag") == "" {
		return errNotS3
	}
	return nil
}

// digest returns the SHA-256 of r in hexadecimal digits.
func digest(r *io.SectionReader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(r, 0, r.Size()))
	return hex.EncodeToString(h.Sum(nil)), err
}

// command sends a request, stores the XML of the answer in result, unless that is nil,
// and passes the header of the answer to look, unless that is nil.
func (b *Bucket) command(ctx context.Context, r *request, result any, look func(http.Header) error) error {
	resp, err := b.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if look != nil {
		err = look(resp.Header)
	}
	if err != nil || result == nil {
		return err
	}
	if xml.Unmarshal(data, result) != nil {
		return &failure{text: "the answer has no XML: no S3 service answers at this address", final: true}
	}
	return nil
}

// part is a part of an object that the server has.
type part struct {
	Number int    `xml:"PartNumber"`
	ETag   string `xml:"ETag"`
}

// multipart sends an object in parts, each of which is repeated on its own. The object exists
// after the last request, which names all parts.
func (b *Bucket) multipart(ctx context.Context, key string, c Content, h Header, condition http.Header) error {
	var upload struct {
		ID string `xml:"UploadId"`
	}
	header, mark := h.values(), rand.Text()
	header.Set(markHeader, mark)
	err := b.repeat(ctx, key, func() error {
		return b.command(ctx, &request{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}, header: header}, &upload, nil)
	})
	if err == nil && upload.ID == "" {
		err = fmt.Errorf("%s: %w", b.URL(key), errNotS3)
	}
	if err != nil {
		return err
	}

	parts, err := b.sendParts(ctx, key, upload.ID, c)
	if err == nil {
		err = b.complete(ctx, key, upload.ID, mark, parts, condition)
	}
	if err != nil {
		// Parts cost storage until they are removed, also after an interruption.
		abort := &request{method: http.MethodDelete, key: key, query: url.Values{"uploadId": {upload.ID}}}
		_ = b.command(context.WithoutCancel(ctx), abort, nil, nil)
	}
	return err
}

// sendParts sends the parts of an object.
func (b *Bucket) sendParts(ctx context.Context, key, id string, c Content) (parts []part, err error) {
	for at := int64(0); at < c.Size(); at += partSize {
		p := part{Number: len(parts) + 1}
		content := io.NewSectionReader(c, at, min(partSize, c.Size()-at))
		sum, err := digest(content)
		if err != nil {
			return nil, err
		}

		query := url.Values{"uploadId": {id}, "partNumber": {strconv.Itoa(p.Number)}}
		err = b.repeat(ctx, key, func() error {
			r := &request{method: http.MethodPut, key: key, query: query, body: content, sum: sum}
			return b.command(ctx, r, nil, func(h http.Header) error {
				p.ETag = h.Get("ETag")
				return tagged(h)
			})
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// complete makes an object of its parts.
func (b *Bucket) complete(ctx context.Context, key, id, mark string, parts []part, condition http.Header) error {
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Parts   []part   `xml:"Part"`
	}{Parts: parts})
	if err != nil {
		return err
	}
	body := io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))
	sum, err := digest(body)
	if err != nil {
		return err
	}

	tries := 0
	return b.repeat(ctx, key, func() error {
		tries++
		// A status of 200 may still be followed by an error.
		var answer struct {
			XMLName       xml.Name
			Code, Message string
			ETag          string
		}
		r := &request{method: http.MethodPost, key: key, query: url.Values{"uploadId": {id}}, header: condition, body: body, sum: sum}
		err := b.command(ctx, r, &answer, nil)
		if err == nil && answer.XMLName.Local == "Error" {
			err = explain(http.MethodPost, http.StatusInternalServerError, answer.Code, answer.Message)
		}

		if err == nil && answer.ETag == "" {
			err = errNotS3
		}

		// The answer to an earlier request may have been lost, which made the object.
		if tries > 1 && (errors.Is(err, errNoUpload) || errors.Is(err, ErrExist)) {
			made, other := b.marked(ctx, key, mark)
			if made || other != nil {
				return other
			}
		}
		return err
	})
}
