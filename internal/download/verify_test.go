package download

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestVerify: a text that lacks its end or has another byte is not that of its metadata.
func TestVerify(t *testing.T) {
	const text, sum = "MODULE text", "b5d82ee7ffa2e6d9e42fcc86f0c5ccb1"
	for _, test := range []struct {
		text, size, sum string
		want            string // of the error
	}{
		{text, "", "", ""}, {text, "11", "", ""}, {text, "x", "", ""},
		{text, "11", md5Of(text), ""}, {text, "", strings.ToUpper(md5Of(text)), ""},
		{text[:5], "11", md5Of(text), "5 bytes, not 11"}, {"MODULE texT", "11", md5Of(text), "its MD5 is "}, {"", "11", "", "0 bytes, not 11"},
		{text, "11", sum, "its MD5 is "},
	} {
		for _, prefix := range []string{"X-Amz-Meta-", "x-goog-meta-"} {
			h := http.Header{}
			for name, value := range map[string]string{"Original_size": test.size, "original_md5_hash": test.sum} {
				if value != "" {
					h.Set(prefix+name, value)
				}
			}
			got, err := io.ReadAll(Verify(strings.NewReader(test.text), h))
			if string(got) != test.text || (err != nil) != (test.want != "") || err != nil && (!errors.Is(err, ErrOther) || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v: %q, %v", test, got, err)
			}
		}
	}
}

func md5Of(text string) string {
	v := Verify(strings.NewReader(text), http.Header{"X-Amz-Meta-Original_md5_hash": {"x"}})
	_, err := io.ReadAll(v)
	_, sum, _ := strings.Cut(err.Error(), "its MD5 is ")
	sum, _, _ = strings.Cut(sum, ",")
	return sum
}
