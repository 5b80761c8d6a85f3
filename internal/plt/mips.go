package plt

// MIPS has two kinds of slots. Position-independent code calls lazy stubs (.MIPS.stubs), which hand the number of their
// symbol to the dynamic linker. Other code calls slots of .plt, which jump through a word of the GOT. Each kind exists
// in the standard encoding and in compressed ones, MIPS16 and microMIPS, whose units are halfwords.

// mipsStub tells the kinds by the first instruction.
func mipsStub(s stub) slotRef {
	first := s.U32()
	halves := first // the halfwords in the order of the code
	if !s.BigEndian() {
		halves = first<<16 | first>>16
	}
	switch {
	case first == 0x8f998010 || first == 0xdf998010: // l[wd] t9, -32752(gp)
		return mipsLazy(s)
	case first>>16 == 0x3c0f || first>>16 == 0x3c0e: // lui t7 or t2, high
		return mipsSlot(s, first<<16)
	case halves == 0xff3c8010: // lw t9, -32752(gp)
		return microLazy(s)
	case halves>>16 == 0x41a2: // lui v0, high
		return microSlot(s, uint64(halves<<16))
	case halves>>23 == 0x79000000>>23: // addiupc v0, words
		words := int64(int32(halves<<9) >> 9)
		return microSlot(s, s.pc&^3+uint64(words*4))
	case halves == 0xb2039a60: // lw v0, 12(pc); lw v1, 0(v0): MIPS16
		s.Skip(8)
		return s.found(slotGOT, uint64(s.U32()))
	}
	return slotRef{}
}

// mipsLazy: move t7, ra; jalr t9; li t8, symbol. Of a symbol above 65535, lui t8 comes before the move. The order of the
// instructions differs between linkers.
func mipsLazy(s stub) slotRef {
	high := uint64(0)
	for range 4 {
		switch op := s.U32(); op >> 16 {
		case 0x3c18: // lui t8
			high = uint64(op&0xffff) << 16
		case 0x2418, 0x6418, 0x3418, 0x3718: // addiu, daddiu, ori
			return s.found(slotSymbol, high|uint64(op&0xffff))
		}
	}
	return slotRef{}
}

// mipsSlot: l[wd] t9, low(t7 or t2).
func mipsSlot(s stub, high uint32) slotRef {
	load := s.U32()
	addr := high + uint32(int32(int16(load)))
	switch load >> 16 {
	case 0x8df9, 0x8dd9:
		return s.found(slotGOT, uint64(addr))
	case 0xddf9, 0xddd9:
		return s.found(slotGOT, uint64(int64(int32(addr))))
	}
	return slotRef{}
}

// microLazy: as mipsLazy.
func microLazy(s stub) slotRef {
	high := uint64(0)
	for range 6 {
		switch s.U16() {
		case 0x41b8: // lui t8
			high = uint64(s.U16()) << 16
		case 0x3300, 0x5300, 0x5318: // addiu, ori
			return s.found(slotSymbol, high|uint64(s.U16()))
		}
	}
	return slotRef{}
}

// microSlot: lw t9, low(v0).
func microSlot(s stub, base uint64) slotRef {
	if s.U16() != 0xff22 {
		return slotRef{}
	}
	low := int64(int16(s.U16()))
	return s.found(slotGOT, uint64(uint32(base+uint64(low))))
}
