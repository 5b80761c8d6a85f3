package dwarfinfo

import (
	"encoding/binary"
	"errors"
	"testing"

	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
)

// TestPackageIndex: rows are read when they are needed, and ids above the limit are an error.
func TestPackageIndex(t *testing.T) {
	le := binary.LittleEndian
	data := []byte{5, 0, 0, 0}
	for _, v := range []uint32{2, 2, 4} { // columns, rows, slots
		data = le.AppendUint32(data, v)
	}
	for _, id := range []uint64{7, 0, 9, 0} {
		data = le.AppendUint64(data, id)
	}
	for _, v := range []uint32{1, 0, 2, 0, partInfo, partAbbrev, 10, 20, 30, 40, 1, 2, 3, 4} {
		data = le.AppendUint32(data, v)
	}

	x, err := readIndex(wire.New(".debug_cu_index", data, false), limits.Limits{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if row := x.of(9); len(row) != 2 || row[partInfo] != (part{30, 3}) || row[partAbbrev] != (part{40, 4}) {
		t.Errorf("%v", row)
	}
	if row := x.of(8); row != nil {
		t.Errorf("%v of an id that is not there", row)
	}
	_, err = readIndex(wire.New(".debug_cu_index", data, false), limits.Limits{}.With(limitof.UnitRecords, idMemory), 100)
	if !errors.Is(err, limits.ErrExceeded) {
		t.Errorf("%v above the limit", err)
	}
}
