package pkg

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"symkit/internal/wire"
	"symkit/located"
)

// An RPM package has a lead of 96 bytes, a signature header, a header, and a compressed
// cpio archive (RPM, "Package format"). Numbers are big-endian.
const (
	rpmLead       = 96
	rpmHeadMagic  = "\x8e\xad\xe8\x01"
	rpmIntro      = 16 // magic number, 4 reserved bytes, number of entries, bytes of data
	rpmEntry      = 16 // tag, type, offset in the data, count
	rpmMaxEntries = 1 << 16
	rpmMaxData    = 256 << 20
	rpmHeader     = "RPM header"
)

// Tags of the header, as RPM's rpmtag.h numbers them.
const (
	rpmFileSizes     = 1028
	rpmFileModes     = 1030
	rpmFileLinks     = 1036
	rpmFileInodes    = 1096
	rpmDirIndexes    = 1116
	rpmBaseNames     = 1117
	rpmDirNames      = 1118
	rpmLongFileSizes = 5008
)

// Types of entries.
const (
	rpmInt16   = 3
	rpmInt32   = 4
	rpmInt64   = 5
	rpmString  = 6
	rpmStrings = 8
)

// rpm reads an RPM package.
func (w *walker) rpm(r *bufio.Reader, prefix string, depth int) error {
	h, err := rpmMain(r)
	if err != nil {
		return err
	}
	files, err := h.files()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPackage, err)
	}

	// A package without files may have no payload.
	head, _ := r.Peek(HeadSize)
	if len(head) == 0 && len(files) == 0 {
		return nil
	}
	return w.unpacked(r, "payload: ", func(r *bufio.Reader) error { return w.cpio(r, prefix, depth, files) })
}

// rpmMain reads a package up to the end of its header.
func rpmMain(r io.Reader) (*rpmHead, error) {
	_, err := io.CopyN(io.Discard, r, rpmLead)
	if err != nil {
		return nil, fmt.Errorf("%w: RPM lead: %w", ErrPackage, io.ErrUnexpectedEOF)
	}

	// The signature is padded to eight bytes.
	_, size, err := readRPMHeader(r)
	if err == nil {
		_, err = io.CopyN(io.Discard, r, int64(-size&7))
	}
	var h *rpmHead
	if err == nil {
		h, _, err = readRPMHeader(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPackage, err)
	}
	return h, nil
}

// rpmHead is a header: an index of tags, and the data that the index refers to.
type rpmHead struct {
	index, data []byte
}

// readRPMHeader reads a header and returns the size of its index and data, too.
func readRPMHeader(r io.Reader) (h *rpmHead, size int, err error) {
	intro := make([]byte, rpmIntro)
	_, err = io.ReadFull(r, intro)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", rpmHeader, io.ErrUnexpectedEOF)
	}
	c := wire.New(rpmHeader, intro, true)
	magic := c.Bytes(4)
	c.Skip(4)
	entries, length := c.U32(), c.U32()
	if string(magic) != rpmHeadMagic || entries > rpmMaxEntries || length > rpmMaxData {
		return nil, 0, &located.Error{Section: rpmHeader, Err: ErrPackage}
	}

	// The bytes are read as they come, so that a short file costs no memory.
	size = int(entries)*rpmEntry + int(length)
	all, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err == nil && len(all) < size {
		err = &located.Error{Section: rpmHeader, Offset: len(all), Err: located.ErrTruncated}
	}
	if err != nil {
		return nil, 0, err
	}
	return &rpmHead{all[:int(entries)*rpmEntry], all[int(entries)*rpmEntry:]}, size, nil
}

// find returns the number of values that a tag has, and a cursor at the first of them.
// The count is 0 if the header lacks the tag.
func (h *rpmHead) find(tag, kind uint32) (count int, values wire.Cursor) {
	values = wire.NewAt(rpmHeader, h.data, len(h.index), true)
	for c := wire.New(rpmHeader, h.index, true); c.Len() > 0; {
		t, k, offset, n := c.U32(), c.U32(), c.U32(), c.U32()
		if t != tag || k != kind {
			continue
		}
		values.Seek(uint64(len(h.index)) + uint64(offset))
		least := map[uint32]int{rpmInt16: 2, rpmInt32: 4, rpmInt64: 8, rpmString: 1, rpmStrings: 1}[kind]
		if uint64(n) > uint64(values.Len()/least) {
			values.Fail(values.Pos(), located.ErrTruncated)
		}
		return int(n), values
	}
	return 0, values
}

// files returns the files that the header lists.
func (h *rpmHead) files() ([]rpmFile, error) {
	n, names := h.find(rpmBaseNames, rpmStrings)
	if err := names.Err(); err != nil {
		return nil, err
	}
	dirCount, dirs := h.find(rpmDirNames, rpmStrings)
	if err := dirs.Err(); err != nil {
		return nil, err
	}
	dirNames := make([]string, dirCount)
	for i := range dirNames {
		dirNames[i] = string(dirs.CString())
	}

	// Every array has an element for each file, or is missing.
	_, indexes := h.find(rpmDirIndexes, rpmInt32)
	_, sizes := h.find(rpmFileSizes, rpmInt32)
	long, longSizes := h.find(rpmLongFileSizes, rpmInt64)
	_, modes := h.find(rpmFileModes, rpmInt16)
	_, inodes := h.find(rpmFileInodes, rpmInt32)
	_, targets := h.find(rpmFileLinks, rpmStrings)

	files := make([]rpmFile, n)
	last := map[uint32]int{} // by inode, the index of the last file
	for i := range files {
		f := &files[i]
		base, dir := names.CString(), indexes.U32()
		if int64(dir) < int64(dirCount) {
			f.dir, f.base = dirNames[dir], string(base) // joined when the file is read: many files share a directory
		} else {
			names.Fail(names.Pos(), ErrPackage)
		}
		f.mode, f.inode, f.target = modes.U16(), inodes.U32(), string(targets.CString())

		f.size = int64(sizes.U32())
		if long > 0 {
			f.size = int64(min(longSizes.U64(), math.MaxInt64))
		}
		if before, known := last[f.inode]; known && uint64(f.mode)&cpioType == cpioRegular {
			files[before].linked, files[before].last, f.linked = true, false, true
		}
		f.last, last[f.inode] = true, i
		if names.Err() != nil {
			return nil, names.Err()
		}
	}
	return files, nil
}
