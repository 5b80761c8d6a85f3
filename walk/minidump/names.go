package minidump

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed reasons.txt
var reasonText string

//go:embed windows.txt
var windowsText string

// names are the tables of reasons.txt and windows.txt: names by table and
// number.
type names map[string]map[uint32]string

var (
	reasonNames  = sync.OnceValue(func() names { return parseNames(reasonText) })
	windowsNames = sync.OnceValue(func() names { return parseNames(windowsText) })
)

// parseNames reads tables: "[TABLE]" and lines "NUMBER NAME".
func parseNames(text string) names {
	out := names{}
	var table map[uint32]string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			table = map[uint32]string{}
			out[strings.Trim(line, "[]")] = table
		default:
			number, name, _ := strings.Cut(line, " ")
			n, _ := strconv.ParseUint(number, 16, 32) // a test checks the tables
			table[uint32(n)] = name
		}
	}
	return out
}

// lookup returns the name of a number in a table.
func lookup[N uint32 | uint64](table string, n N) (string, bool) {
	if uint64(n) > 1<<32-1 {
		return "", false
	}

	// windows.txt is parsed only for a table that reasons.txt lacks.
	tables := reasonNames()
	if t, ok := tables[table]; ok {
		name, ok := t[uint32(n)]
		return name, ok
	}
	name, ok := windowsNames()[table][uint32(n)]
	return name, ok
}
