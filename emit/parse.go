package emit

// parseModule reads the fields of a MODULE record. The parse functions read the fields
// after the keyword; the returned record is meaningless if f has failed.
func (r *Reader) parseModule(f *fields) Record {
	r.module = Module{OS: string(f.word()), Arch: string(f.word())}
	id := f.pos
	r.module.ID = string(f.word())
	if f.err == nil && !isID(r.module.ID) {
		f.fail(id, errNumber)
	}

	r.module.Name = string(f.name())
	return &r.module
}

func (r *Reader) parseInfo(f *fields) Record {
	r.info = Info{Key: string(f.word())}
	if f.more {
		r.info.Text = string(f.name())
	}
	return &r.info
}

// parseFile reads the fields of a FILE record ("FILE records").
func (r *Reader) parseFile(f *fields) Record {
	r.file = File{f.dec(), f.name()}
	if f.err == nil {
		r.files.add(r.file.Num)
	}
	return &r.file
}

// parseInlineOrigin reads the fields of an INLINE_ORIGIN record ("INLINE_ORIGIN
// records").
func (r *Reader) parseInlineOrigin(f *fields) Record {
	num, start := f.dec(), f.pos
	r.inlineOrigin = InlineOrigin{num, f.name()}
	if f.err == nil && beginsWithNumber(r.inlineOrigin.Name) {
		f.fail(start, errOldForm)
	}
	if f.err == nil {
		r.origins.add(num)
	}
	return &r.inlineOrigin
}

// parseFunc reads the fields of a FUNC record ("FUNC records"). The lines after a damaged
// FUNC still belong to it, so that one fault is one error.
func (r *Reader) parseFunc(f *fields) Record {
	r.under = underFunc
	multiple := f.multiple()
	code := f.codeRange()
	r.fn = Func{code.Addr, code.Size, f.hex32(), f.name(), multiple}
	return &r.fn
}

// parseLine reads a line record ("Line records").
func (r *Reader) parseLine(f *fields) Record {
	code := f.codeRange()
	line, at := f.dec(), f.pos
	r.lineRec = Line{code.Addr, code.Size, line, f.dec()}
	f.end()
	if f.err == nil && !r.files.has(r.lineRec.File) {
		f.fail(at, errReference)
	}
	return &r.lineRec
}

// parseInline reads the fields of an INLINE record ("INLINE records").
func (r *Reader) parseInline(f *fields) Record {
	i := &r.inline
	i.Depth, i.CallLine = f.dec(), f.dec()
	fileAt := f.pos
	i.CallFile = f.dec()
	originAt := f.pos
	i.Origin = f.dec()
	i.Ranges = append(i.Ranges[:0], f.codeRange())
	for f.more {
		if len(i.Ranges) == maxRangesRead {
			f.fail(f.pos, errTooLong)
			break
		}
		i.Ranges = append(i.Ranges, f.codeRange())
	}

	// The numbers must be those of earlier records. Each error is at its own field.
	switch {
	case f.err != nil:
	case !r.files.has(i.CallFile):
		f.fail(fileAt, errReference)
	case !r.origins.has(i.Origin):
		f.fail(originAt, errReference)
	}
	return i
}

// parsePublic reads the fields of a PUBLIC record ("PUBLIC records").
func (r *Reader) parsePublic(f *fields) Record {
	multiple := f.multiple()
	r.public = Public{f.hex64(), f.hex32(), f.name(), multiple}
	return &r.public
}

// parseStack reads the fields of a STACK record.
func (r *Reader) parseStack(f *fields) Record {
	start := f.pos
	switch string(f.word()) {
	case "WIN":
		r.under = underNothing
		return r.parseWin(f)
	case "CFI":
		if init := "INIT"; len(f.line)-f.pos >= len(init) && string(f.line[f.pos:][:len(init)]) == init {
			return r.parseCFIInit(f)
		}
		return r.parseCFI(f)
	}

	f.fail(start, errRecord)
	return nil
}

// parseCFIInit reads the fields of a STACK CFI INIT record ("STACK CFI records"). As with
// FUNC, the records after a damaged INIT still belong to it.
func (r *Reader) parseCFIInit(f *fields) Record {
	// Without a valid range, the following records are only compared with each other.
	r.under, r.cfiLast, r.cfiEnd = underInit, 0, ^uint64(0)
	start := f.pos
	if string(f.word()) != "INIT" {
		f.fail(start, errNumber)
	}

	code := f.codeRange()
	r.cfiInit = StackCFIInit{code.Addr, code.Size, f.rules()}
	if f.err == nil {
		r.cfiLast, r.cfiEnd = code.Addr, code.Addr+uint64(code.Size)
	}
	return &r.cfiInit
}

func (r *Reader) parseCFI(f *fields) Record {
	if r.under != underInit {
		f.fail(0, errOrder)
	}

	start := f.pos
	r.cfi = StackCFI{f.hex64(), f.rules()}

	// Addresses rise strictly, and stay inside the range of the INIT record.
	if f.err == nil && (r.cfi.Addr <= r.cfiLast || r.cfi.Addr >= r.cfiEnd) {
		f.fail(start, errOrder)
	}
	if f.err == nil {
		r.cfiLast = r.cfi.Addr
	}
	return &r.cfi
}

// parseWin reads the fields of a STACK WIN record ("STACK WIN records").
func (r *Reader) parseWin(f *fields) Record {
	typ := f.hex32()
	code := f.codeRange()
	r.win = StackWin{Type: typ, Addr: code.Addr, CodeSize: code.Size,
		PrologueSize: f.hex32(), EpilogueSize: f.hex32(),
		ParamSize: f.hex32(), SavedRegsSize: f.hex32(),
		LocalSize: f.hex32(), MaxStackSize: f.hex32()}
	if f.flag() {
		r.win.Program = f.name()
		return &r.win
	}

	r.win.AllocatesBP = f.flag()
	f.end()
	return &r.win
}
