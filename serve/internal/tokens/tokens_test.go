package tokens

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFind: tokens, their digests, comments and dates.
func TestFind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) {
		t.Helper()
		err := os.WriteFile(path, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	const plain, secret = "0123456789abcdef", "fedcba9876543210"
	write(fmt.Sprintf("# tokens\nci upload %s 2999-01-01 # comment\n\nlaptop upload sha256:%x\nold upload 00000000000000000000 2020-01-01\n", plain, sha256.Sum256([]byte(secret))))
	var logged []string
	f, err := Open(path, func(err error) { logged = append(logged, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text, name string
		err        error
	}{
		{plain, "ci", nil}, {plain + "-laptop", "ci", nil}, {secret, "laptop", nil}, {"00000000000000000000", "old", ErrExpired},
		{"x", "", ErrUnknown}, {"", "", ErrUnknown}, {"sha256:00", "", ErrUnknown},
	} {
		got, err := f.Find(test.text)
		if !errors.Is(err, test.err) || (got != nil) != (test.name != "") || got != nil && got.Name != test.name {
			t.Errorf("%s: %+v, %v", test.text, got, err)
		}
	}

	// The file is read again. While it is damaged, the last one counts.
	change := func(text string) {
		write(text)
		err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Duration(len(text))*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		f.asked = time.Time{}
	}
	change("ci upload short\n")
	_, err = f.Find(plain)
	if err != nil || len(logged) != 1 || strings.Contains(logged[0], "short") || !strings.Contains(logged[0], "line 1: the token has less than 16 characters") {
		t.Errorf("%v, %q", err, logged)
	}
	change("ci upload aaaaaaaaaaaaaaaa\n")
	_, err = f.Find(plain)
	if !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// FuzzTokens: an error does not have the token in it.
func FuzzTokens(f *testing.F) {
	f.Add([]byte("ci upload 0123456789abcdef 2027-01-01\n"))
	f.Add([]byte("ci read sha256:00\n"))
	f.Add([]byte("ci upload secret\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := parse(text)
		if err != nil && all != nil {
			t.Fatal(err)
		}
		for _, token := range all {
			if token.Name == "" {
				t.Fatalf("%+v", token)
			}
		}
		words := strings.Fields(string(text))
		if err != nil && len(words) > 2 && len(words[2]) > 12 && strings.Contains(err.Error(), words[2]) {
			t.Fatalf("%v", err)
		}
	})
}
