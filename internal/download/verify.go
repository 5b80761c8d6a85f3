package download

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"

	"symkit/internal/quantity"
)

// ErrOther reports that a symbol file is not the one that its metadata describe.
var ErrOther = errors.New("the file is not what its metadata say")

// Verify returns a reader of the text of a symbol file, which fails at the end unless the text has
// the size and the checksum that the header of the answer has as metadata (Mozilla's names, of S3's
// and Google's services). Without metadata it returns r.
func Verify(r io.Reader, h http.Header) io.Reader {
	v := &verifier{r: r, size: -1, sum: strings.ToLower(metadata(h, "Original_md5_hash")), digest: md5.New()}
	n, err := strconv.ParseInt(metadata(h, "Original_size"), 10, 64)
	if err == nil {
		v.size = n
	}
	if v.size < 0 && v.sum == "" {
		return r
	}
	return v
}

// metadata returns the metadata of a name, or "".
func metadata(h http.Header, name string) string {
	for _, prefix := range []string{"X-Amz-Meta-", "X-Goog-Meta-"} {
		if value := h.Get(prefix + name); value != "" {
			return value
		}
	}
	return ""
}

type verifier struct {
	r      io.Reader
	size   int64  // -1: not known
	sum    string // in hexadecimal digits; empty: not known
	digest hash.Hash
	n      int64
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	v.n += int64(n)
	_, _ = v.digest.Write(p[:n]) // never fails
	if err != io.EOF {
		return n, err
	}
	got := hex.EncodeToString(v.digest.Sum(nil))
	switch {
	case v.size >= 0 && v.n != v.size:
		return n, fmt.Errorf("%w: %s, not %s", ErrOther, quantity.Count(v.n, "byte", "bytes"), quantity.Number(v.size))
	case v.sum != "" && got != v.sum:
		return n, fmt.Errorf("%w: its MD5 is %s, not %s", ErrOther, got, v.sum)
	}
	return n, io.EOF
}
