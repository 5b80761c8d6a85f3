package mdmp

import (
	"encoding/binary"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"time"

	"symkit/internal/wire"
)

// A record of the format is a struct: its fields have the order and the sizes of the file's. They
// are numbers, arrays of fixed size, and records. A field _ has no meaning. An int is not in the
// file: its value is the offset of the field after it, for errors.
//
// The tag raw has the name of the field in the text of the record: Form. Fields without it are not
// in the text. After a comma is how the field is shown: d decimal, t as a time, h hexadecimal
// without 0x, otherwise hexadecimal; letters of a record are those of its fields. The tag valid is a
// bit of the flags that say whether the dump has a value of the field.

// read reads the record that a pointer leads to, or those of a slice. The cursor fails at the field
// that it does not have.
func read(c *wire.Cursor, record any) { decode(c, reflect.Indirect(reflect.ValueOf(record))) }

func decode(c *wire.Cursor, v reflect.Value) {
	kind := v.Kind()
	switch {
	case kind == reflect.Slice:
		for i := range v.Len() {
			decode(c, v.Index(i))
		}
	case !v.CanSet():
		c.Skip(uint64(v.Type().Size())) // a number, or an array of numbers
	case kind == reflect.Uint32:
		v.SetUint(uint64(c.U32()))
	case kind == reflect.Struct:
		for _, field := range v.Fields() {
			decode(c, field)
		}
	case kind == reflect.Array:
		for i := range v.Len() {
			decode(c, v.Index(i))
		}
	case kind == reflect.Int:
		v.SetInt(int64(c.Pos()))
	case kind == reflect.Int32:
		v.SetInt(int64(int32(c.U32())))
	default:
		v.SetUint(c.Uint(int(v.Type().Size())))
	}
}

// size returns the size of a record in the file.
func size(t reflect.Type) (n uint64) {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			n += size(f.Type)
		}
	case reflect.Array:
		n = uint64(t.Len()) * size(t.Elem())
	case reflect.Int:
	default:
		n = uint64(t.Size())
	}
	return n
}

// sizeOf returns the size of a record in the file.
func sizeOf[T any]() uint64 { return size(reflect.TypeFor[T]()) }

// Append appends a record, or those of a slice, in the form of the file.
func Append(out []byte, order binary.AppendByteOrder, record any) []byte {
	data, ok := record.([]byte)
	if ok {
		return append(out, data...)
	}
	return encode(out, order, reflect.ValueOf(record))
}

func encode(out []byte, order binary.AppendByteOrder, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			out = encode(out, order, field)
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			out = encode(out, order, v.Index(i))
		}
	case reflect.Uint8:
		out = append(out, byte(v.Uint()))
	case reflect.Uint16:
		out = order.AppendUint16(out, uint16(v.Uint()))
	case reflect.Int32:
		out = order.AppendUint32(out, uint32(v.Int()))
	case reflect.Uint32:
		out = order.AppendUint32(out, uint32(v.Uint()))
	case reflect.Uint64:
		out = order.AppendUint64(out, v.Uint())
	}
	return out
}

// records yields n records of size bytes each, of which the dump may have more than are known here,
// or fewer: these are 0. There is only one record, which is read again and again.
func records[T any](c *wire.Cursor, n int, size uint64) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		record := new(T)
		v := reflect.ValueOf(record).Elem()
		for range n {
			r := c.Sub(size)
			decode(&r, v)
			if !yield(record) {
				return
			}
		}
	}
}

// list yields the records of a list that begins with their number. Some writers align the first
// record to 8 bytes: then 4 bytes of padding follow the number, and the stream is larger by exactly
// these.
func list[T any](c *wire.Cursor) (int, iter.Seq[*T]) {
	at, size := c.Pos(), sizeOf[T]()
	n := uint64(c.U32())

	// The size of the stream shows whether padding comes before the records.
	switch uint64(c.Len()) {
	case n * size:
	case n*size + 4:
		c.Skip(4)
	default:
		c.Fail(at, ErrCount)
	}
	if c.Err() != nil {
		n = 0
	}
	return int(n), records[T](c, int(n), size)
}

// table yields the records of a list that states the sizes of its header and of its records. Both
// can be larger than the structures known here, but not smaller than least. The number of records
// has 8 bytes if wide, and otherwise 4.
func table[T any](c *wire.Cursor, least uint64, wide bool) (int, iter.Seq[*T]) {
	start := c.Pos()
	header, entry := uint64(c.U32()), uint64(c.U32())
	at := c.Pos()
	n := uint64(0)
	if wide {
		n = c.U64()
	} else {
		n = uint64(c.U32())
	}

	// Newer versions of headers and records are larger: only a smaller size is damage.
	known := uint64(c.Pos() - start)
	switch {
	case c.Err() != nil:
	case header < known:
		c.Fail(start, ErrRecordSize)
	case entry < least:
		c.Fail(start+4, ErrRecordSize)
	default:
		c.Skip(header - known)
		if c.Err() == nil && n > uint64(c.Len())/entry {
			c.Fail(at, ErrCount)
		}
	}
	if c.Err() != nil {
		n = 0
	}
	return int(n), records[T](c, int(n), entry)
}

// Form is the form of a record as text.
type Form struct {
	Width    int    // of names
	Flags    uint32 // the bits of the fields that are valid
	Elements int    // of a long array that are shown, each as a field
}

// Append appends the fields of a record, a line each.
func (f Form) Append(out []byte, record any) []byte {
	return f.fields(out, "", "", reflect.ValueOf(record))
}

// fields appends the fields of a record that has a name. The letters are those of its fields, or
// empty.
func (f Form) fields(out []byte, name, letters string, v reflect.Value) []byte {
	for field, v := range v.Fields() {
		tag, shown := field.Tag.Lookup("raw")
		if !shown {
			continue
		}
		own, letter, _ := strings.Cut(tag, ",")
		if letters != "" {
			letter, letters = letters[:1], letters[1:]
		}
		full := strings.Trim(name+"."+own, ".")
		valid, _ := strconv.ParseUint(field.Tag.Get("valid"), 0, 32) // a test checks the tags
		switch {
		case v.Kind() == reflect.Struct:
			out = f.fields(out, full, letter, v)
		case v.Kind() == reflect.Array && v.Len() > 2:
			for i := range f.Elements {
				out = f.line(out, fmt.Sprintf("%s[%2d]", full, i), letter, v.Index(i))
			}
		case uint32(valid)&f.Flags != uint32(valid):
			out = fmt.Appendf(out, "  %-*s = (invalid)\n", f.Width, full)
		default:
			out = f.line(out, full, letter, v)
		}
	}
	return out
}

// line appends the line of a field.
func (f Form) line(out []byte, name, letter string, v reflect.Value) []byte {
	out = fmt.Appendf(out, "  %-*s = ", f.Width, name)
	if v.Kind() == reflect.Array {
		for i := range v.Len() {
			if i > 0 {
				out = append(out, ':')
			}
			out = appendNumber(out, letter, v.Index(i).Uint())
		}
	} else {
		out = appendNumber(out, letter, v.Uint())
	}
	return append(out, '\n')
}

func appendNumber(out []byte, letter string, n uint64) []byte {
	switch letter {
	case "d":
		return strconv.AppendUint(out, n, 10)
	case "h":
		return strconv.AppendUint(out, n, 16)
	case "t":
		return fmt.Appendf(out, "%#x %s", n, time.Unix(int64(n), 0).UTC().Format(time.RFC3339))
	}
	return fmt.Appendf(out, "%#x", n)
}
