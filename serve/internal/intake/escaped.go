package intake

import (
	"net/url"
	"strings"
)

// escapedPath returns a key as part of an address.
func escapedPath(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}
