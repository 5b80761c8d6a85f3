package testfile

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a SecretServer demands. Each word is also found where it is cut.
const secretUser, secretPassword, secretToken = "sesamuser", "sesampassword", "sesamtoken"

var secret = regexp.MustCompile("sesam[a-z]*")

// SecretServer serves a handler's files to those who know the user, the password and the token in
// the query. It returns the function that makes the URL of a path.
func SecretServer(t *testing.T, files http.Handler) (url func(path string) string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != secretUser || password != secretPassword || r.URL.Query().Get("token") != secretToken {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return func(path string) string {
		return strings.Replace(s.URL, "://", "://"+secretUser+":"+secretPassword+"@", 1) + path + "?token=" + secretToken + "&X-Amz-Signature=sesamsignature"
	}
}

// NoSecrets fails the test if a text, or the name or the content of a file below a directory,
// has a part of a secret that SecretServer's URLs have.
func NoSecrets(t *testing.T, texts []string, dirs ...string) {
	t.Helper()
	for _, text := range texts {
		if at := secret.FindStringIndex(text); at != nil {
			t.Errorf("a secret: ...%s...", text[max(0, at[0]-200):min(len(text), at[1]+100)])
		}
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || secret.MatchString(path) {
				t.Errorf("%s: %v", path, err)
				return nil
			}
			if !d.Type().IsRegular() {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil || secret.Match(data) {
				t.Errorf("%s: %q, %v", path, secret.Find(data), err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
