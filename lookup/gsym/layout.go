package gsym

import (
	"bufio"
	"io"
)

// WriteTo writes the file, after the last function.
func (w *Writer) WriteTo(out io.Writer) (n int64, err error) {
	head, err := w.head()
	if err != nil {
		return 0, err
	}
	counted := bufio.NewWriterSize(&counter{out, &n}, 64<<10)
	counted.Write(head)
	for _, text := range w.strings.texts {
		counted.WriteString(text)
		counted.WriteByte(0)
	}
	for range -int(w.strings.size) & 3 {
		counted.WriteByte(0)
	}
	for _, b := range w.chunks {
		counted.Write(b)
	}
	return n, counted.Flush()
}

// head returns the parts before the string table.
func (w *Writer) head() ([]byte, error) {
	var base, last uint64
	if len(w.addrs) > 0 {
		base, last = w.addrs[0], w.addrs[len(w.addrs)-1]
	}
	width := 1
	for width < 8 && (last-base)>>(8*width) != 0 {
		width *= 2
	}

	// The tables begin at multiples of 4 bytes.
	count := uint64(len(w.addrs))
	infos := (headerSize + count*uint64(width) + 3) &^ 3
	files := infos + 4*count
	texts := files + 4 + fileSize*uint64(len(w.files))
	data := (texts + w.strings.size + 3) &^ 3
	size := data + w.before
	if len(w.chunks) > 0 {
		size += uint64(len(w.chunks[len(w.chunks)-1]))
	}
	w.fits(size)
	if w.err != nil {
		return nil, w.err
	}

	b := make([]byte, 0, texts)
	b = w.order.AppendUint32(b, magic)
	b = w.order.AppendUint16(b, version)
	b = append(b, byte(width), byte(len(w.uuid)))
	b = w.order.AppendUint64(b, base)
	b = w.order.AppendUint32(b, uint32(count))
	b = w.order.AppendUint32(b, uint32(texts))
	b = w.order.AppendUint32(b, uint32(w.strings.size))
	b = append(b, w.uuid...)
	b = b[:headerSize]

	for _, addr := range w.addrs {
		b = w.appendUint(b, addr-base, width)
	}
	b = b[:infos]
	for _, at := range w.infos {
		b = w.order.AppendUint32(b, uint32(data)+at)
	}
	b = w.order.AppendUint32(b, uint32(len(w.files)))
	for _, f := range w.files {
		b = w.order.AppendUint32(b, w.strings.offsets[f[0]])
		b = w.order.AppendUint32(b, w.strings.offsets[f[1]])
	}
	return b, nil
}

// appendUint appends a number of width bytes.
func (w *Writer) appendUint(b []byte, v uint64, width int) []byte {
	switch width {
	case 1:
		return append(b, byte(v))
	case 2:
		return w.order.AppendUint16(b, uint16(v))
	case 4:
		return w.order.AppendUint32(b, uint32(v))
	}
	return w.order.AppendUint64(b, v)
}

// counter counts the bytes that are written.
type counter struct {
	w io.Writer
	n *int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}
