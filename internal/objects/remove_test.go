package objects

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
)

// TestList: all objects below the prefix, over several answers, and no other ones.
func TestList(t *testing.T) {
	s, b := start(t)
	for _, key := range []string{"some/prefix/a/1", "some/prefix/a/2", "some/prefix/b", "some/prefix2/c", "d"} {
		s.objects[key] = []byte("text")
	}
	for below, want := range map[string]string{"": "[a/1 a/2 b]", "a/": "[a/1 a/2]", "c": "[]"} {
		keys := []string{}
		for o, err := range b.List(t.Context(), below) {
			if err != nil || o.Size != 4 || o.ETag == "" || o.Modified.Year() != 2026 {
				t.Fatal(o, err)
			}
			keys = append(keys, o.Key)
		}
		if fmt.Sprint(keys) != want {
			t.Errorf("%q: %v, want %s", below, keys, want)
		}
	}
}

// TestRemove: an object that another one has replaced stays, also when the answer to the request that removed the first
// one is lost, and with services that know no condition.
func TestRemove(t *testing.T) {
	const key = "some/prefix/a"
	for _, ignorant := range []bool{false, true} {
		s, b := start(t)
		s.noConditions = ignorant
		s.objects[key] = []byte("tagged 1")
		is, err := b.Stat(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		lost := false
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodDelete || lost || ignorant && r.Header.Get("If-Match") != "" {
				return false
			}
			lost = true
			s.objects[key] = []byte("tagged 2")
			answer(w, http.StatusInternalServerError, "InternalError")
			return true
		}
		err = b.Remove(t.Context(), "a", is)
		if !errors.Is(err, ErrChanged) || string(s.objects[key]) != "tagged 2" {
			t.Errorf("%v: %v, %q", ignorant, err, s.objects)
		}
		is, _ = b.Stat(t.Context(), "a")
		err = errors.Join(b.Remove(t.Context(), "a", is), b.Remove(t.Context(), "a", is))
		if err != nil || len(s.objects) != 0 {
			t.Errorf("%v: %v, %q", ignorant, err, s.objects)
		}
	}
}

// TestRemoveReplaced: the service compares the tag.
func TestRemoveReplaced(t *testing.T) {
	s, b := start(t)
	s.objects["some/prefix/a"] = []byte("tagged 1")
	is, _ := b.Stat(t.Context(), "a")
	s.objects["some/prefix/a"] = []byte("tagged 2")
	err := b.Remove(t.Context(), "a", is)
	if !errors.Is(err, ErrChanged) || len(s.objects) != 1 {
		t.Errorf("%v, %q", err, s.objects)
	}
}
