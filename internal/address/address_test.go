package address

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                      "",
		"/srv/x?token=1":                        "/srv/x?token=1",
		`C:\x`:                                  `C:\x`,
		"https://host/x":                        "https://host/x",
		"https://host:8443/@scope/pkg@1.2/x":    "https://host:8443/@scope/pkg@1.2/x",
		"https://[::1]:8443/a@b":                "https://[::1]:8443/a@b",
		"https://user:secret@host/x":            "https://xxxxx@host/x",
		"https://secret@host/x":                 "https://xxxxx@host/x",
		"https://secret:x-oauth-basic@host/x":   "https://xxxxx@host/x",
		"HTTPS://user:secret@host/x":            "HTTPS://xxxxx@host/x",
		"https:/user:secret@host/x":             "https:/xxxxx@host/x",
		"https://user:sec/ret@host/x":           "https://xxxxx@host/x",
		"https://user:sec ret@host/x":           "https://xxxxx@host/x",
		"https://user:sec@ret@host/x":           "https://xxxxx@host/x",
		"s3://key:secret@bucket/x":              "s3://xxxxx@bucket/x",
		"https://host/x?token=secret":           "https://host/x?token=xxxxx",
		"https://host/x?secret":                 "https://host/x?xxxxx",
		"https://host/x?a=&code_id=1&b=secret":  "https://host/x?a=&code_id=1&b=xxxxx",
		"https://host/x#L12":                    "https://host/x#L12",
		"https://host/x#access_token=secret":    "https://host/x#xxxxx",
		"https://host?code_file=a?x=1&y=secret": "https://host?code_file=a?x=1&y=xxxxx",
		"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4&X-Amz-Credential=secret&X-Amz-Signature=secret&X-Amz-Security-Token=secret": "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=xxxxx&X-Amz-Credential=xxxxx&X-Amz-Signature=xxxxx&X-Amz-Security-Token=xxxxx",
	} {
		a := New(raw)
		if got := a.String(); got != want || a.Raw() != raw {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
		for _, format := range []string{"%v", "%s", "%q", "%+v", "%#v"} {
			if got := fmt.Sprintf(format, a); strings.Contains(want, "xxxxx") && strings.Contains(got, "user") {
				t.Errorf("%s of %s: %s", format, raw, got)
			}
		}
		text, err := json.Marshal(map[string]any{"a": a})
		if err != nil || strings.Contains(want, "xxxxx") && strings.Contains(string(text), "sec") {
			t.Errorf("JSON of %s: %s, %v", raw, text, err)
		}
	}
}

func TestName(t *testing.T) {
	for raw, want := range map[string]string{
		"https://host/a/x.dmp?token=secret/y": "x.dmp", "https://host/a/x.dmp#y": "x.dmp", "https://host/": "", "dir/x?y.dmp": "x?y.dmp", "s3://b/k": "k",
		"https://host/a%20b.dmp": "a b.dmp", "https://host/..%2fx": "x", "https://host/100%.dmp": "100%.dmp", "a%20b": "a%20b",
	} {
		if got := New(raw).Name(); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
		if got := New(raw).Place(); strings.Contains(raw, "://") && strings.ContainsAny(got, "?#") || got == "" {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

// TestRedact: the sentence around an address stays.
func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"a: b": "a: b",
		"https://u:p@h/x?t=p: the server answered":                      "https://xxxxx@h/x?t=xxxxx: the server answered",
		`Get "https://h/x?t=p": dial (https://h/y?t=p), or s3://p@b/x.`: `Get "https://h/x?t=xxxxx": dial (https://h/y?t=xxxxx), or s3://xxxxx@b/x.`,
		"libs:/usr/lib@2/x": "libs:/usr/lib@2/x",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%s\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestError: the errors of Go's packages have addresses as they were given.
func TestError(t *testing.T) {
	var errs []error
	for _, raw := range []string{"https://user:secret@host:port/x?token=secret", "https://user:sec/ret@host/x"} {
		_, err := url.Parse(raw)
		errs = append(errs, err, fmt.Errorf("x: %w", err))
	}
	_, get := http.Get("http://user:secret@127.0.0.1:1/x?token=secret")
	for _, err := range append(errs, get) {
		got := Error(err)
		if got == nil || strings.Contains(got.Error(), "sec") || !errors.Is(got, err) {
			t.Errorf("%v", got)
		}
	}
	if Error(nil) != nil || Error(fs.ErrExist) != fs.ErrExist {
		t.Error("errors without addresses")
	}
}

// FuzzRedact: a text without secrets stays, and a secret never does.
func FuzzRedact(f *testing.F) {
	f.Add("see ", ": failed")
	f.Add(`Get "`, `": x`)
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.ContainsAny(before+after, "Q") || strings.ContainsAny(before, "?#@") {
			return
		}
		const secret = "QQQ"
		got := Redact(before + " https://u:" + secret + "@host/x?t=" + secret + " " + after)
		if strings.Contains(got, secret) {
			t.Errorf("%q", got)
		}
		if again := Redact(got); again != got {
			t.Errorf("%q, again %q", got, again)
		}
	})
}

// TestCheck: what begins like an address is one, with a scheme that is known and written as it is
// read, or an error. Drives of Windows and paths with colons are no addresses.
func TestCheck(t *testing.T) {
	for _, text := range []string{"s3://b/p", "https://h", "dir/x", "/x", "C:/x", `C:\x`, "a:b", "./gs://b", "x/s3:/b", "", "-", "1:/x"} {
		if err := Check(text, "s3", "https"); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"gs://b/p", "az://b", "http://h", "s3:/b", "S3://b", "Https://h", "file:///x", "abfss://c@a/x", "s3+x://b"} {
		if err := Check(text, "s3", "https"); err == nil || !strings.HasPrefix(err.Error(), New(text).String()+": ") || !strings.Contains(err.Error(), "s3:// or https://") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := Check("s3://b?x=secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
