package uploads

import "net/http"

// later asks a client to come again: as many requests as may be are in progress.
func later(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "10")
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, "the server takes as many uploads as it may: send the request again in some seconds", http.StatusServiceUnavailable)
}
