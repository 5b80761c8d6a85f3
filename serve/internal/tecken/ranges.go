package tecken

import (
	"strconv"
	"strings"
)

// Range is the header Content-Range of a part of a resumable upload (Google Cloud Storage, "Resumable uploads").
type Range struct {
	First, Last int64 // of the bytes of the part; without Part, 0
	Part        bool  // the request has bytes: "bytes A-B/…"; else it asks what has arrived: "bytes */…"
	Total       int64 // of the file; -1: not known yet
}

// ParseRange reads the header.
func ParseRange(header string) (r Range, ok bool) {
	text, ok := strings.CutPrefix(header, "bytes ")
	if !ok {
		return r, false
	}
	part, total, ok := strings.Cut(text, "/")
	if !ok {
		return r, false
	}
	r.Total = -1
	if total != "*" {
		r.Total, ok = number(total)
	}
	if part == "*" || !ok {
		return r, ok
	}
	first, last, ok := strings.Cut(part, "-")
	if !ok {
		return r, false
	}
	r.Part = true
	r.First, ok = number(first)
	if ok {
		r.Last, ok = number(last)
	}
	return r, ok && r.First <= r.Last && (r.Total < 0 || r.Last < r.Total)
}

// number reads a number of at most 2^53 bytes.
func number(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 53)
	return int64(n), err == nil
}
