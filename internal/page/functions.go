package page

import (
	"fmt"
	"html/template"
	"strconv"

	"symkit/internal/quantity"
)

// functions are the functions that templates can call, by their names in templates. Numbers are of
// any type of integer.
var functions = template.FuncMap{
	"text":    Text,
	"number":  func(n any) string { return quantity.Group(fmt.Sprint(n)) },
	"bytes":   size,
	"count":   quantity.Count[int],
	"share":   quantity.Share,
	"seconds": quantity.Seconds,
}

// size returns a size in the unit that suits it.
func size(n any) (string, error) {
	v, err := strconv.ParseUint(fmt.Sprint(n), 10, 64)
	return quantity.Bytes(v), err
}
