// A Go program with much of the standard library in it: generics, closures,
// deferred calls, reflection, goroutines, assembly.
package main

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

type number interface{ ~int | ~float64 }

func sum[T number](numbers ...T) (s T) {
	for _, n := range numbers {
		s += n
	}
	return s
}

type shelf struct {
	Name   string    `json:"name"`
	Prices []float64 `json:"prices"`
}

var words = regexp.MustCompile(`\w+`)

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	z := gzip.NewWriter(w)
	defer func() {
		if err := z.Close(); err != nil {
			panic(err)
		}
	}()
	slices.SortFunc(s.Prices, func(a, b float64) int { return int(b - a) })
	if err := json.NewEncoder(z).Encode(s); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func main() {
	server := httptest.NewTLSServer(&shelf{Name: strings.Join(words.FindAllString("top shelf", -1), "-"), Prices: []float64{1, 2.5}})
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text := template.Must(template.New("").Parse("{{.Status}} {{printf \"%x\" .Hash}} {{.Sum}}\n"))
	err = text.Execute(os.Stdout, map[string]any{"Status": response.Status, "Hash": sha256.Sum256(nil), "Sum": sum(1, 2) + int(sum(0.5, 1))})
	if err != nil {
		panic(err)
	}
}
