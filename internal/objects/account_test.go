package objects

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestResume: a body whose connection breaks again and again is read to its end, from the
// bytes where each connection broke; an object that is replaced meanwhile is an error.
func TestResume(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 50_000)
	var replaced atomic.Bool
	var tag atomic.Value
	tag.Store(`"1"`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		replace := replaced.Load() // before the client has the whole answer
		at := 0
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &at)
		if match := r.Header.Get("If-Match"); match != "" && match != tag.Load() {
			answer(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		w.Header().Set("ETag", tag.Load().(string))
		w.Header().Set("Content-Length", fmt.Sprint(len(data)-at))
		if at > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(data)-1, len(data)))
			w.WriteHeader(http.StatusPartialContent)
		}
		w.Write(data[at:min(at+64<<10, len(data))])
		if replace {
			tag.Store(`"2"`)
		}
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b, err := Open(t.Context(), "s3://bucket")
	if err != nil {
		t.Fatal(err)
	}
	b.pause = time.Microsecond

	read := func() ([]byte, error) {
		r, _, err := b.Get(t.Context(), "a")
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	got, err := read()
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d of %d bytes, %v", len(got), len(data), err)
	}
	replaced.Store(true)
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "the object was replaced while it was read") {
		t.Error(err)
	}
}

// TestAccount: keys come from variables, profiles, processes, tokens, roles and the
// services of containers, in the order of the SDKs.
func TestAccount(t *testing.T) {
	dir := t.TempDir()
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed := strings.Contains(r.Header.Get("Authorization"), "Credential=base/")
		action := r.FormValue("Action")
		if action == "AssumeRole" && !signed || action == "AssumeRoleWithWebIdentity" && r.FormValue("WebIdentityToken") != "token" {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>`)
			return
		}
		fmt.Fprintf(w, `<R><%[1]sResult><Credentials><AccessKeyId>%[2]s</AccessKeyId><SecretAccessKey>s</SecretAccessKey>`+
			`<SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></%[1]sResult></R>`, action, r.FormValue("RoleArn"))
	}))
	defer sts.Close()
	container := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"AccessKeyId":"of %s","SecretAccessKey":"s","Token":"t","Expiration":"2100-01-01T00:00:00Z"}`, r.Header.Get("Authorization"))
	}))
	defer container.Close()

	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token, bad := write("token", "token"), write("bad", "other")
	config := write("config", `# settings
[default]
region = eu-north-1
s3 =
  endpoint_url = ignored
[profile  role]
role_arn = taken
source_profile = keys
[profile web]
role_arn = web
web_identity_token_file = `+token+`
[profile process]
credential_process = echo '{"Version":1,"AccessKeyId":"made","SecretAccessKey":"s"}'
[profile loop]
role_arn = a
source_profile = pool
[profile pool]
role_arn = b
source_profile = loop
[profile sso]
sso_session = x
`)
	keys := write("credentials", "[keys]\naws_access_key_id = base\naws_secret_access_key = s\n[default]\naws_access_key_id=file\naws_secret_access_key=s\n")
	for _, test := range []struct{ env, want string }{
		{"", "file"},
		{"AWS_ACCESS_KEY_ID=env AWS_SECRET_ACCESS_KEY=s", "env"},
		{"AWS_ACCESS_KEY_ID=env", "file"},
		{"AWS_WEB_IDENTITY_TOKEN_FILE=" + token + " AWS_ROLE_ARN=role", "role"},
		{"AWS_WEB_IDENTITY_TOKEN_FILE=" + bad + " AWS_ROLE_ARN=role", "AccessDenied: no"},
		{"AWS_PROFILE=keys", "base"}, {"AWS_PROFILE=role", "taken"}, {"AWS_PROFILE=web", "web"}, {"AWS_PROFILE=process", "made"},
		{"AWS_PROFILE=none", "failed to get shared config profile, none"}, {"AWS_PROFILE=loop", "failed to load assume role b, of profile loop"}, {"AWS_PROFILE=sso", "SSO"},
		{"AWS_SHARED_CREDENTIALS_FILE=" + token + " AWS_CONTAINER_CREDENTIALS_FULL_URI=" + container.URL + " AWS_CONTAINER_AUTHORIZATION_TOKEN=pod", "of pod"},
		{"AWS_SHARED_CREDENTIALS_FILE=" + token + " AWS_EC2_METADATA_DISABLED=true", ""},
	} {
		t.Run(test.env, func(t *testing.T) {
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
				"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"} {
				t.Setenv(name, "")
			}
			t.Setenv("AWS_CONFIG_FILE", config)
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", keys)
			t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
			for pair := range strings.FieldsSeq(test.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}

			var got string
			b, err := Open(t.Context(), "s3://bucket/prefix")
			if err == nil {
				k, failed := b.client.Options().Credentials.Retrieve(t.Context())
				got, err = k.AccessKeyID, failed
			}
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != test.want || err != nil && !strings.Contains(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
			if test.env == "" && *b.region.Load() != "eu-north-1" {
				t.Error(*b.region.Load())
			}
		})
	}
}
