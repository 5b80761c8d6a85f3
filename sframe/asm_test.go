package sframe

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// assemble turns the text twin of a section into its bytes. One line each:
//
//	chunk v3 amd64 [sorted] [fp] [pcrel] [fixedra N] [fixedfp N] [aux N]
//	fde START SIZE addr1|addr2|addr4 [mask REP] [keyb] [signal] [flex]
//	fre START sp|fp|reg b1|b2|b4 [mangled] [WORD...]
//	zeros N              padding
//	patch SIZE AT VALUE  overwrite SIZE bytes at offset AT
//	cut AT               drop the bytes from offset AT on
//
// START of an fde is the raw field. Counts, lengths and offsets are computed;
// patch makes them wrong.
func assemble(t testing.TB, text string) []byte {
	t.Helper()
	a := &assembler{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := a.line(words[0], words[1:]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	a.endChunk()
	return a.out
}

type assembler struct {
	out              []byte
	order            binary.ByteOrder
	version          int
	header, aux      []byte
	table, fres      []byte
	fdeCount, freSum int
	open             bool
	addrSize         int
}

func (a *assembler) line(op string, args []string) error {
	switch op {
	case "chunk":
		a.endChunk()
		return a.chunk(args)
	case "fde":
		return a.fde(args)
	case "fre":
		return a.fre(args)
	}
	a.endChunk()
	n := make([]int64, len(args))
	for i := range args {
		v, err := strconv.ParseInt(args[i], 0, 64)
		if err != nil {
			return err
		}
		n[i] = v
	}
	switch op {
	case "zeros":
		a.out = append(a.out, make([]byte, n[0])...)
	case "patch":
		copy(a.out[n[1]:], a.int(nil, int(n[0]), n[2]))
	case "cut":
		a.out = a.out[:n[0]]
	default:
		return fmt.Errorf("unknown line")
	}
	return nil
}

// int appends v as size bytes in the chunk's byte order.
func (a *assembler) int(b []byte, size int, v int64) []byte {
	var w [8]byte
	if a.order == binary.BigEndian {
		binary.BigEndian.PutUint64(w[:], uint64(v))
		return append(b, w[8-size:]...)
	}
	binary.LittleEndian.PutUint64(w[:], uint64(v))
	return append(b, w[:size]...)
}

func (a *assembler) chunk(args []string) error {
	abi, ok := map[string]ABI{"aarch64be": AArch64BE, "aarch64": AArch64LE, "amd64": AMD64, "s390x": S390X}[args[1]]
	if !ok {
		return fmt.Errorf("ABI")
	}
	a.order = binary.LittleEndian
	if abi.isBigEndian() {
		a.order = binary.BigEndian
	}
	a.version = int(args[0][1] - '0')
	var flags, fixedFP, fixedRA, aux int64
	if abi == AMD64 {
		fixedRA = -8
	}
	for i := 2; i < len(args); i++ {
		var err error
		switch args[i] {
		case "sorted":
			flags |= 1
		case "fp":
			flags |= 2
		case "pcrel":
			flags |= 4
		case "fixedra":
			i++
			fixedRA, err = strconv.ParseInt(args[i], 0, 8)
		case "fixedfp":
			i++
			fixedFP, err = strconv.ParseInt(args[i], 0, 8)
		case "aux":
			i++
			aux, err = strconv.ParseInt(args[i], 0, 8)
		default:
			err = fmt.Errorf("unknown word %q", args[i])
		}
		if err != nil {
			return err
		}
	}
	a.header = a.int(nil, 2, magic)
	a.header = append(a.header, byte(a.version), byte(flags), byte(abi), byte(fixedFP), byte(fixedRA), byte(aux))
	a.aux = make([]byte, aux)
	a.table, a.fres, a.fdeCount, a.freSum, a.open = nil, nil, 0, 0, true
	return nil
}

func (a *assembler) endChunk() {
	if !a.open {
		return
	}
	a.open = false
	h := a.header
	for _, v := range []int{a.fdeCount, a.freSum, len(a.fres), 0, len(a.table)} {
		h = a.int(h, 4, int64(v))
	}
	a.out = append(append(append(append(a.out, h...), a.aux...), a.table...), a.fres...)
}

func (a *assembler) fde(args []string) error {
	start, err := strconv.ParseInt(args[0], 0, 64)
	if err != nil {
		return err
	}
	size, err := strconv.ParseInt(args[1], 0, 64)
	if err != nil {
		return err
	}
	var info, info2, rep int64
	for i := 2; i < len(args); i++ {
		switch args[i] {
		case "addr1":
			a.addrSize = 1
		case "addr2":
			info, a.addrSize = info|1, 2
		case "addr4":
			info, a.addrSize = info|2, 4
		case "mask":
			info |= infoPCMask
			i++
			rep, err = strconv.ParseInt(args[i], 0, 16)
		case "keyb":
			info |= infoKeyB
		case "signal":
			info |= infoSignal
		case "flex":
			info2 = 1
		default:
			err = fmt.Errorf("unknown word %q", args[i])
		}
	}
	field := 4
	if a.version == 3 {
		field = 8
	}
	a.table = a.int(a.table, field, start)
	a.table = a.int(a.table, 4, size)
	a.table = a.int(a.table, 4, int64(len(a.fres)))
	switch a.version {
	case 1, 2:
		a.table = append(a.int(a.table, 4, 0), byte(info))
		if a.version == 2 {
			a.table = append(a.table, byte(rep), 0, 0)
		}
	case 3:
		a.fres = append(a.fres, 0, 0, byte(info), byte(info2), byte(rep))
	}
	a.fdeCount++
	return err
}

// count adds one to the open FDE's number of FREs.
func (a *assembler) count() {
	a.freSum++
	if a.version != 3 {
		at := len(a.table) - map[int]int{1: 5, 2: 8}[a.version]
		a.order.PutUint32(a.table[at:], a.order.Uint32(a.table[at:])+1)
		return
	}
	entry := a.table[len(a.table)-4:]
	at := a.fres[a.order.Uint32(entry):]
	a.order.PutUint16(at, a.order.Uint16(at)+1)
}

func (a *assembler) fre(args []string) error {
	a.count()
	start, err := strconv.ParseInt(args[0], 0, 64)
	if err != nil {
		return err
	}
	var info, size, n = int64(0), 1, int64(0)
	var words []byte
	for _, w := range args[1:] {
		switch w {
		case "fp", "reg", "b1":
		case "sp":
			info |= freBaseSP
		case "b2":
			info, size = info|1<<5, 2
		case "b4":
			info, size = info|2<<5, 4
		case "mangled":
			info |= freMangled
		default:
			v, err := strconv.ParseInt(w, 0, 64)
			if err != nil {
				return err
			}
			words = a.int(words, size, v)
			n++
		}
	}
	a.fres = a.int(a.fres, a.addrSize, start)
	a.fres = append(append(a.fres, byte(info|n<<1)), words...)
	return nil
}
