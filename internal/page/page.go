// Package page writes self-contained HTML pages: reports that people look at, send to
// each other and print. A page is one file. It loads nothing, and its Content Security
// Policy allows only the style sheet and the script that this package wrote, by their
// hashes, so that no text of a crash dump or symbol file can run or fetch anything.
// Templates are parsed when a page is written, not when the program starts.
package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"symkit/internal/printable"
	"symkit/internal/quantity"
)

var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
	// shared has the templates of parts that several kinds of page have: "source" is a source.Excerpt.
	//go:embed shared.html
	shared string
)

// Document is one page. Title comes from files and may have any text.
type Document struct {
	Title     string
	Generator string // the program and its version
	Style     string // rules after those of all pages
	Script    string // code after that of all pages
	Body      *Template
	Values    any // the data of Body
	// Data is a JSON document for the script, which finds it by the id "data"; nil for none.
	Data any
}

// Template is the body of a kind of page. It is parsed when the first page is written.
type Template struct {
	parse func() (*template.Template, error)
}

// NewTemplate returns a template with the functions of this package.
func NewTemplate(text string) *Template {
	return &Template{sync.OnceValues(func() (*template.Template, error) {
		return template.New("body").Funcs(functions).Parse(shared + text)
	})}
}

// Write writes the page. Hidden characters that a template let through are escaped, too.
func (d *Document) Write(out io.Writer) error {
	body, err := d.Body.parse()
	if err != nil {
		return err
	}

	// The hashes are of exactly the text between the tags.
	css, code := style+d.Style, script+d.Script
	policy := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(css), hash(code))
	w := bufio.NewWriterSize(&printable.Writer{W: out}, 1<<16)
	fmt.Fprintf(w, head, policy, template.HTMLEscapeString(d.Generator), template.HTMLEscapeString(Text(d.Title)), css)
	err = body.Execute(w, d.Values)
	if err != nil {
		return err
	}
	if d.Data != nil {
		err = writeData(w, d.Data)
		if err != nil {
			return err
		}
	}

	fmt.Fprintf(w, "<script>%s</script>\n</body>\n</html>\n", code)
	return w.Flush()
}

const head = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="%s">
<title>%s</title>
<style>%s</style>
</head>
<body>
`

// writeData writes a block of JSON. Browsers do not run it. The encoder writes < as \u003c,
// so that no string ends the block.
func writeData(w io.Writer, data any) error {
	_, err := io.WriteString(w, `<script type="application/json" id="data">`)
	if err != nil {
		return err
	}
	err = json.NewEncoder(&printable.JSONWriter{W: w}).Encode(data)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "</script>\n")
	return err
}

// hash returns the source expression of an inline block (Content Security Policy Level 3,
// section 2.3.1).
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// MaxText is the number of bytes of a text that a page shows.
const MaxText = 4096

// Text returns a text of a file as a page shows it: Hidden characters are escaped, and of a
// text longer than MaxText bytes the beginning is shown with the length of the whole.
func Text(s string) string {
	if len(s) > MaxText {
		// An incomplete character at the cut would be shown as bytes.
		cut := strings.ToValidUTF8(s[:MaxText], "")
		return printable.String(cut) + fmt.Sprintf("… (%s bytes)", quantity.Number(len(s)))
	}
	return printable.String(s)
}
