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
	if w.err != nil {
		return nil, w.err
	}
	var base, last uint64
	if len(w.addrs) > 0 {
		base, last = w.addrs[0], w.addrs[len(w.addrs)-1]
	}
	width := 1
	for width < 8 && (last-base)>>(8*width) != 0 {
		width *= 2
	}
	if !w.wide {
		b, ok := w.head1(base, width)
		if ok {
			return b, nil
		}
		w.widen()
	}
	return w.head2(base, width), nil
}

// head1 is head for version 1, whose tables begin at multiples of 4 bytes. It returns false if the file is too large.
func (w *Writer) head1(base uint64, width int) (b []byte, ok bool) {
	count := uint64(len(w.addrs))
	infos := align(headerSize+count*uint64(width), 4)
	files := infos + 4*count
	texts := files + 4 + 8*uint64(len(w.files))
	data := align(texts+w.strings.size, 4)
	if data+w.dataSize() > w.most {
		return nil, false
	}

	b = w.header(make([]byte, 0, texts), 1, width)
	uuid := w.uuid[:min(len(w.uuid), maxUUID)]
	b = append(b, byte(len(uuid)))
	b = w.order.AppendUint64(b, base)
	b = w.order.AppendUint32(b, uint32(count))
	b = w.order.AppendUint32(b, uint32(texts))
	b = w.order.AppendUint32(b, uint32(w.strings.size))
	b = append(b, uuid...)
	b = b[:headerSize]
	b = w.appendAddrs(b, base, width)
	b = b[:infos]
	for _, at := range w.infos {
		b = w.order.AppendUint32(b, uint32(data+at))
	}
	return w.appendFiles(b), true
}

// head2 is head for version 2. Its parts begin at multiples of 8 bytes, but for strings and infos.
func (w *Writer) head2(base uint64, width int) []byte {
	count := uint64(len(w.addrs))
	var parts [partKinds]struct{ at, size uint64 }
	end := uint64(headerSize2 + partSize*partKinds)
	place := func(kind int, size, to uint64) {
		parts[kind].at, parts[kind].size = align(end, to), size
		end = parts[kind].at + size
	}
	place(uuidPart, uint64(len(w.uuid)), 8)
	place(addrPart, count*uint64(width), 8)
	place(infoOffsetPart, 8*count, 8)
	place(filePart, 4+16*uint64(len(w.files)), 8)
	place(stringPart, w.strings.size, 1)
	place(infoPart, w.dataSize(), 4)

	b := w.header(make([]byte, 0, parts[stringPart].at), 2, width)
	b = append(b, 0) // the encoding of strings: as in version 1
	b = w.order.AppendUint64(b, base)
	b = w.order.AppendUint32(b, uint32(count))
	for _, kind := range [partKinds]int{uuidPart, addrPart, infoOffsetPart, filePart, stringPart, infoPart, endOfParts} {
		if kind == uuidPart && len(w.uuid) == 0 {
			continue // LLVM takes no empty part
		}
		b = w.order.AppendUint32(b, uint32(kind))
		b = w.order.AppendUint64(b, parts[kind].at)
		b = w.order.AppendUint64(b, parts[kind].size)
	}
	b = append(b[:parts[uuidPart].at], w.uuid...)
	b = w.appendAddrs(b[:parts[addrPart].at], base, width)
	b = b[:parts[infoOffsetPart].at]
	for _, at := range w.infos {
		b = w.order.AppendUint64(b, at)
	}
	return w.appendFiles(b[:parts[filePart].at])
}

// header appends what both versions begin with.
func (w *Writer) header(b []byte, version uint16, width int) []byte {
	b = w.order.AppendUint32(b, magic)
	b = w.order.AppendUint16(b, version)
	return append(b, byte(width))
}

// dataSize returns the bytes of all infos.
func (w *Writer) dataSize() uint64 {
	if len(w.chunks) == 0 {
		return 0
	}
	return w.before + uint64(len(w.chunks[len(w.chunks)-1]))
}

// appendAddrs appends the addresses of functions.
func (w *Writer) appendAddrs(b []byte, base uint64, width int) []byte {
	for _, addr := range w.addrs {
		b = w.appendUint(b, addr-base, width)
	}
	return b
}

// appendFiles appends the table of files.
func (w *Writer) appendFiles(b []byte) []byte {
	b = w.order.AppendUint32(b, uint32(len(w.files)))
	for _, f := range w.files {
		b = w.appendString(b, f[0])
		b = w.appendString(b, f[1])
	}
	return b
}

// align returns the next multiple of to, a power of two.
func align(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

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
