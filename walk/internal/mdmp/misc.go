package mdmp

import "symkit/internal/wire"

// MiscInfo is MINIDUMP_MISC_INFO in any of its five versions. Fields of later
// versions than the dump's are zero.
type MiscInfo struct {
	Size  uint32 // of the structure: determines its version
	Flags MiscFlags

	ProcessID uint32 // MiscProcessID
	// Seconds since 1970 and of CPU time; MiscProcessTimes.
	CreateTime, UserTime, KernelTime uint32

	// Version 2; MiscPower.
	MaxMHz, CurrentMHz, MHzLimit, MaxIdleState, CurrentIdleState uint32

	// Version 3.
	IntegrityLevel   uint32 // MiscIntegrity
	ExecuteFlags     uint32 // MiscExecuteFlags
	ProtectedProcess uint32 // MiscProtected
	TimeZoneID       uint32 // MiscTimeZone
	TimeZone         TimeZone

	// Version 4; MiscBuildString.
	BuildString, DebugBuildString Text

	// Version 5.
	XState        XStateInfo
	ProcessCookie uint32 // MiscCookie
}

// MiscFlags are the bits MINIDUMP_MISC*: each says that some fields of MiscInfo are valid.
type MiscFlags uint32

// The flags.
const (
	MiscProcessID    MiscFlags = 0x001
	MiscProcessTimes MiscFlags = 0x002
	MiscPower        MiscFlags = 0x004
	MiscIntegrity    MiscFlags = 0x010
	MiscExecuteFlags MiscFlags = 0x020
	MiscTimeZone     MiscFlags = 0x040
	MiscProtected    MiscFlags = 0x080
	MiscBuildString  MiscFlags = 0x100
	MiscCookie       MiscFlags = 0x200
)

// TimeZone is TIME_ZONE_INFORMATION. Biases are in minutes.
type TimeZone struct {
	Bias         int32
	StandardName Text
	StandardDate SystemTime
	StandardBias int32
	DaylightName Text
	DaylightDate SystemTime
	DaylightBias int32
}

// SystemTime is SYSTEMTIME.
type SystemTime struct {
	Year, Month, DayOfWeek, Day, Hour, Minute, Second, Milliseconds uint16
}

// XStateInfo is XSTATE_CONFIG_FEATURE_MSC_INFO: where the extended state of
// the CPU lies in a context.
type XStateInfo struct {
	Size        uint32
	ContextSize uint32
	Enabled     uint64 // a bit for each valid feature
	Features    [64]XStateFeature
}

// XStateFeature is a part of the extended state. Offset counts from the start
// of the area that XSAVE writes.
type XStateFeature struct{ Offset, Size uint32 }

// The sizes of the versions of MINIDUMP_MISC_INFO.
const (
	miscSize1 = 24
	miscSize2 = 44
	miscSize3 = 232
	miscSize4 = 832
	miscSize5 = 1364
)

// readMiscInfo decodes MINIDUMP_MISC_INFO.
func (d *Dump) readMiscInfo(c wire.Cursor) error {
	at := c.Pos()
	m := &MiscInfo{Size: c.U32()}

	// The size determines the version. It may be larger than that of version 5, but must be
	// inside the stream.
	if c.Err() == nil && (m.Size < miscSize1 || uint64(m.Size) > uint64(c.End()-at)) {
		c.Fail(at, ErrRecordSize)
	}

	m.Flags = MiscFlags(c.U32())
	m.ProcessID = c.U32()
	m.CreateTime, m.UserTime, m.KernelTime = c.U32(), c.U32(), c.U32()
	// Each version appends fields to the one before it.
	if m.Size >= miscSize2 {
		m.MaxMHz, m.CurrentMHz, m.MHzLimit = c.U32(), c.U32(), c.U32()
		m.MaxIdleState, m.CurrentIdleState = c.U32(), c.U32()
	}
	if m.Size >= miscSize3 {
		m.IntegrityLevel, m.ExecuteFlags, m.ProtectedProcess, m.TimeZoneID = c.U32(), c.U32(), c.U32(), c.U32()
		m.TimeZone = timeZone(&c)
	}
	if m.Size >= miscSize4 {
		m.BuildString, m.DebugBuildString = fixed(&c, 260), fixed(&c, 40)
	}
	if m.Size >= miscSize5 {
		m.XState = xstateInfo(&c)
		m.ProcessCookie = c.U32()
	}
	if c.Err() != nil {
		return c.Err()
	}

	d.Misc = m
	return nil
}

func timeZone(c *wire.Cursor) (z TimeZone) {
	z.Bias = int32(c.U32())
	z.StandardName = fixed(c, 32)
	z.StandardDate = systemTime(c)
	z.StandardBias = int32(c.U32())
	z.DaylightName = fixed(c, 32)
	z.DaylightDate = systemTime(c)
	z.DaylightBias = int32(c.U32())
	return z
}

func systemTime(c *wire.Cursor) SystemTime {
	return SystemTime{Year: c.U16(), Month: c.U16(), DayOfWeek: c.U16(), Day: c.U16(),
		Hour: c.U16(), Minute: c.U16(), Second: c.U16(), Milliseconds: c.U16()}
}

func xstateInfo(c *wire.Cursor) (x XStateInfo) {
	x.Size, x.ContextSize, x.Enabled = c.U32(), c.U32(), c.U64()
	for i := range x.Features {
		x.Features[i] = XStateFeature{c.U32(), c.U32()}
	}
	return x
}
