package gsym

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/internal/wire"
	"symkit/located"
)

// assembled returns a file with one function at 0x10, whose info is made of the words of a text: 4:N and 1:N are
// numbers of 4 bytes and 1 byte, N is a ULEB128, +N and -N are SLEB128s, and (…) is the length in 4 bytes of the words
// between the parentheses, and these words. String 1 is "f", 3 is "p", file 1 is p. String 5 has no end.
func assembled(t testing.TB, text string) (file []byte, info int) {
	t.Helper()
	w := NewWriter(nil, false)
	w.String("f")
	w.File("p")
	w.Func(&Func{Addr: 0x10, Size: 0x10, Name: 1})
	w.String("end")

	var b []byte
	var open []int
	for word := range strings.FieldsSeq(text) {
		size, number, sized := strings.Cut(word, ":")
		switch {
		case word == "(":
			open = append(open, len(b))
			b = append(b, 0, 0, 0, 0)
			continue
		case word == ")":
			at := open[len(open)-1]
			open = open[:len(open)-1]
			binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
			continue
		case !sized:
			number = word
		}
		n, err := strconv.ParseInt(number, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case size == "4" && sized:
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		case size == "1" && sized:
			b = append(b, byte(n))
		case number[0] == '+' || number[0] == '-':
			b = appendSLEB(b, n)
		default:
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	w.chunks = [][]byte{b}
	file = written(t, w)
	binary.LittleEndian.PutUint32(file[24:], uint32(w.strings.size-1)) // the table ends before the last NUL
	return file, len(file) - len(b)
}

// TestDamage: each branch that rejects a header, with its place.
func TestDamage(t *testing.T) {
	order := binary.LittleEndian
	good := sample(t, false)
	for name, test := range map[string]struct {
		patch func(b []byte) []byte
		want  error
		at    int
	}{
		"empty":           {func(b []byte) []byte { return nil }, located.ErrTruncated, 0},
		"magic":           {func(b []byte) []byte { b[1] = 0; return b }, errMagic, 0},
		"version":         {func(b []byte) []byte { b[4] = 3; return b }, errVersion, 4},
		"width":           {func(b []byte) []byte { b[6] = 3; return b }, wire.ErrSize, 6},
		"UUID":            {func(b []byte) []byte { b[7] = 21; return b }, errUUID, 7},
		"header":          {func(b []byte) []byte { return b[:47] }, located.ErrTruncated, 32},
		"addresses":       {func(b []byte) []byte { order.PutUint32(b[16:], 1<<31); return b }, located.ErrTruncated, 48},
		"infos":           {func(b []byte) []byte { order.PutUint32(b[16:], 100); return b }, located.ErrTruncated, 148},
		"files":           {func(b []byte) []byte { order.PutUint32(b[64:], 1<<30); return b }, located.ErrTruncated, 68},
		"strings":         {func(b []byte) []byte { order.PutUint32(b[20:], 1<<30); return b }, located.ErrOffset, 100},
		"size of strings": {func(b []byte) []byte { order.PutUint32(b[24:], 1<<30); return b }, located.ErrTruncated, 100},
	} {
		_, err := Open(test.patch(slices.Clone(good)))
		checkDamage(t, name, err, test.want, test.at)
	}
}

// TestDamageWide is TestDamage for version 2.
func TestDamageWide(t *testing.T) {
	order := binary.LittleEndian
	good := sampleWide(t, false)
	const list = headerSize2
	for name, test := range map[string]struct {
		patch func(b []byte) []byte
		want  error
		at    int
	}{
		"width":         {func(b []byte) []byte { b[6] = 3; return b }, wire.ErrSize, 6},
		"encoding":      {func(b []byte) []byte { b[7] = 1; return b }, errEncoding, 7},
		"list":          {func(b []byte) []byte { return b[:list+39] }, located.ErrOffset, list + 4},
		"end of list":   {func(b []byte) []byte { return append(b[:list:list], 99, 0, 0, 0) }, located.ErrTruncated, list + 4},
		"place of part": {func(b []byte) []byte { order.PutUint64(b[list+4:], 1<<63); return b }, located.ErrOffset, list + 4},
		"size of part":  {func(b []byte) []byte { order.PutUint64(b[list+12:], 1<<63); return b }, located.ErrTruncated, 160},
		"addresses":     {func(b []byte) []byte { order.PutUint32(b[16:], 1<<31); return b }, located.ErrTruncated, 168},
		"files":         {func(b []byte) []byte { order.PutUint32(b[192:], 1<<30); return b }, located.ErrTruncated, 196},
	} {
		_, err := Open(test.patch(slices.Clone(good)))
		checkDamage(t, name, err, test.want, test.at)
	}
}

// TestDamagedFunctions: each branch that rejects a part of a function. Places count from its info.
func TestDamagedFunctions(t *testing.T) {
	const head, end = "4:16 4:1 ", " 4:0 4:0"
	for text, test := range map[string]struct {
		want error
		at   int
	}{
		"4:16":                             {located.ErrTruncated, 4},
		"4:16 4:8" + end:                   {errString, 4},
		"4:16 4:5" + end:                   {wire.ErrUnterminated, 4},
		head + "4:0":                       {located.ErrTruncated, 12},
		head + "4:7 4:9 1:0":               {located.ErrTruncated, 16},
		head + "4:1 ( )" + end:             {located.ErrTruncated, 16},
		head + "4:1 ( +1 -1 7 1:0 )" + end: {errLineRange, 16},
		head + "4:1 ( +0 +0 7 )" + end:     {located.ErrTruncated, 19},
		head + "4:1 ( +0 +0 7 1:1 )" + end: {located.ErrTruncated, 20},
		head + "4:1 ( +0 +0 7 1:2 )" + end: {located.ErrTruncated, 20},
		head + "4:1 ( +0 +0 7 1:3 )" + end: {located.ErrTruncated, 20},
		// The default file is 1, and the second one does not exist.
		head + "4:1 ( +0 +0 7 1:1 2 1:4 1:0 )" + end: {errFile, 20},
		// A root, and a call with an unknown file or name.
		head + "4:2 ( 1 0 )" + end:                                           {located.ErrTruncated, 18},
		head + "4:2 ( 1 0 16 )" + end:                                        {located.ErrTruncated, 19},
		head + "4:2 ( 1 0 16 1:1 4:1 0 0 )" + end:                            {located.ErrTruncated, 26},
		head + "4:2 ( 1 0 16 1:1 4:1 0 0 1 0 16 1:0 4:1 2 0 0 )" + end:       {errFile, 30},
		head + "4:2 ( 1 0 16 1:1 4:1 0 0 1 0 16 1:0 4:99 1 0 0 )" + end:      {errString, 30},
		head + "4:2 ( 1 0 16 1:1 4:1 0 0 1 1 15 1:1 4:1 1 0 )" + end:         {located.ErrTruncated, 36},
		head + "4:2 ( 1 0 16 1:1 4:1 0 0 1000000 0 16 1:0 4:1 1 0 0 )" + end: {located.ErrTruncated, 39},
	} {
		data, info := assembled(t, text)
		f, err := Open(data)
		if err != nil {
			t.Fatal(err)
		}
		s, frames, err := f.Lookup(nil, 0x10)
		checkDamage(t, text, err, test.want, info+test.at)
		if s.Name != nil || len(frames) > 0 {
			t.Errorf("%s: %v %v", text, s, frames)
		}
	}
}

// TestUnusual: what other writers may write and ours does not.
func TestUnusual(t *testing.T) {
	const head, end = "4:16 4:1 ", " 4:0 4:0"
	for text, want := range map[string]string{
		// Unknown information is skipped, and an end with a length is an end.
		head + "4:9 ( 1:1 ) 4:0 ( 1:1 )": "f+0x8/0x10: f :0",
		// A table without a row at the address.
		head + "4:1 ( +0 +0 7 1:2 9 1:0 )" + end: "f+0x8/0x10: f :0",
		// No file.
		head + "4:1 ( +0 +0 7 1:1 0 1:4 1:0 )" + end: "f+0x8/0x10: f :7",
		// A line that is negative wraps, as in LLVM's reader.
		head + "4:1 ( +0 +0 0 1:3 -1 1:4 1:0 )" + end: "f+0x8/0x10: f p:4294967295",
		// A function without children that has a root; a root elsewhere; empty ranges; a call without a file.
		head + "4:2 ( 1 0 16 1:0 4:1 0 0 )" + end:                                             "f+0x8/0x10: f :0",
		head + "4:2 ( 1 0 1 1:1 4:1 0 0 1 0 16 1:0 4:3 1 9 0 )" + end:                         "f+0x8/0x10: f :0",
		head + "4:2 ( 1 0 16 1:1 4:1 0 0 2 4 0 6 4 1:1 4:3 0 9 1 2 1 1:0 4:1 1 2 0 0 )" + end: "f+0x8/0x10: f :0 p p:2 f :9",
	} {
		data, _ := assembled(t, text)
		f, err := Open(data)
		if err != nil {
			t.Fatal(err)
		}
		if got := textAt(f, 0x18); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// checkDamage checks an error and its place.
func checkDamage(t *testing.T, name string, err, want error, at int) {
	t.Helper()
	damage, ok := errors.AsType[*located.Error](err)
	if !ok || damage.Section != section || !errors.Is(err, want) || damage.Offset != at {
		t.Errorf("%s: %v, want %v at %#x", name, err, want, at)
	}
}
