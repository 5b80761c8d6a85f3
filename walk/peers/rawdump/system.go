package rawdump

import (
	"fmt"
	"strings"

	"symkit/internal/printable"
	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

// system has the fields of MINIDUMP_SYSTEM_INFO that other streams need.
type system struct {
	read bool
	cpu  mdmp.CPU
	os   mdmp.OS
}

const systemLayout layout = `MINIDUMP_SYSTEM_INFO
  processor_architecture                     = {x2}
  processor_level                            = {d2}
  processor_revision                         = {x2}
  number_of_processors                       = {d1}
  product_type                               = {d1}
  major_version                              = {d4}
  minor_version                              = {d4}
  build_number                               = {d4}
  platform_id                                = {x4}
  csd_version_rva                            = {x4}
  suite_mask                                 = {x2}
`

const systemSize = 56 // with a reserved field and CPU_INFORMATION

// readSystem reads the fields that other streams need.
func (p *printer) readSystem() system {
	c := p.stream(mdmp.SystemInfoStream)
	if c.Len() < systemSize {
		return system{}
	}
	s := system{read: true, cpu: mdmp.CPU(c.U16())}
	c.Skip(18)
	s.os = mdmp.OS(c.U32())
	return s
}

// systemInfo writes MINIDUMP_SYSTEM_INFO.
func (p *printer) systemInfo() {
	if !p.system.read {
		return
	}
	c := p.stream(mdmp.SystemInfoStream)
	p.fields(systemLayout, c)

	// A service pack that cannot be read is shown as an empty one.
	c.Skip(8)
	major, minor, build := c.U32(), c.U32(), c.U32()
	c.Skip(4)
	pack, _ := p.name(uint64(c.U32()))
	p.printf("  (version)                                  = %d.%d.%d %s\n", major, minor, build, pack)
	whole := p.stream(mdmp.SystemInfoStream)
	info, _ := mdmp.DecodeSystemInfo(whole.Rest(), p.big) // the stream has the size of one
	p.printf("  (cpu_info)                                 = %s\n\n", printable.String(info.CPUInfo()))
}

// miscField is a field of MINIDUMP_MISC_INFO with a number: its offset, the flag that must be
// set if the field is valid (0: the field is always valid), and its format.
type miscField struct {
	name   string
	offset int
	flag   mdmp.MiscFlags
	letter byte
}

var miscFields = []miscField{
	{"size_of_info", 0, 0, 'd'},
	{"flags1", 4, 0, 'x'},
	{"process_id", 8, mdmp.MiscProcessID, 'd'},
	{"process_create_time", 12, mdmp.MiscProcessTimes, 't'},
	{"process_user_time", 16, mdmp.MiscProcessTimes, 'd'},
	{"process_kernel_time", 20, mdmp.MiscProcessTimes, 'd'},
	{"processor_max_mhz", 24, mdmp.MiscPower, 'd'},
	{"processor_current_mhz", 28, mdmp.MiscPower, 'd'},
	{"processor_mhz_limit", 32, mdmp.MiscPower, 'd'},
	{"processor_max_idle_state", 36, mdmp.MiscPower, 'd'},
	{"processor_current_idle_state", 40, mdmp.MiscPower, 'd'},
	{"process_integrity_level", 44, mdmp.MiscIntegrity, 'd'},
	{"process_execute_flags", 48, mdmp.MiscExecuteFlags, 'x'},
	{"protected_process", 52, mdmp.MiscProtected, 'd'},
	{"time_zone_id", 56, mdmp.MiscTimeZone, 'd'},
}

// The sizes of the versions of MINIDUMP_MISC_INFO.
var miscSizes = []int{1364, 832, 232, 44, 24}

const cookieOffset = 1360

// miscInfo writes MINIDUMP_MISC_INFO, in the largest of its versions that the stream holds.
func (p *printer) miscInfo() {
	stream := p.stream(mdmp.MiscInfoStream)
	size := 0
	for _, s := range miscSizes {
		if stream.Len() >= s {
			size = s
			break
		}
	}
	if size == 0 {
		return
	}
	stream = stream.Sub(uint64(size))
	c := stream
	c.Skip(4)
	flags := mdmp.MiscFlags(c.U32())

	p.printf("MINIDUMP_MISC_INFO\n")
	for _, f := range miscFields {
		p.miscNumber(f, stream, flags)
	}

	c = stream
	c.Skip(60)
	p.timeZone(c, flags&mdmp.MiscTimeZone != 0 && size >= 232)
	c = stream
	c.Skip(min(232, uint64(size)))
	for _, s := range []struct {
		name  string
		units int
	}{{"build_string", 260}, {"dbg_bld_str", 40}} {
		text, ok := "", false
		if flags&mdmp.MiscBuildString != 0 && size >= 832 {
			text, ok = fixed(&c, s.units)
		}
		p.printf("  %-29s= %s\n", s.name, orInvalid(text, ok))
	}

	p.xstate(stream, size == 1364)
	p.miscNumber(miscField{"process_cookie", cookieOffset, mdmp.MiscCookie, 'd'}, stream, flags)
	p.printf("\n")
}

// miscNumber writes one field.
func (p *printer) miscNumber(f miscField, c wire.Cursor, flags mdmp.MiscFlags) {
	p.printf("  %-29s= ", f.name)
	if c.Len() < f.offset+4 || f.flag != 0 && flags&f.flag == 0 {
		p.printf("(invalid)\n")
		return
	}
	c.Skip(uint64(f.offset))
	text := string(field{f.letter, 4}.append(nil, &c))
	if f.letter == 'x' {
		text = strings.TrimPrefix(text, "0x")
	}
	p.printf("%s\n", text)
}

func orInvalid(text string, ok bool) string {
	if !ok {
		return "(invalid)"
	}
	return text
}

// timeZone writes TIME_ZONE_INFORMATION.
func (p *printer) timeZone(c wire.Cursor, valid bool) {
	p.printf("  time_zone                    = ")
	if !valid {
		p.printf("(invalid)\n")
		return
	}
	p.printf("\n    bias          = %d\n", int32(c.U32()))
	for _, name := range []string{"standard", "daylight"} {
		text, ok := fixed(&c, 32)
		p.printf("    %s_name = %s\n    %s_date = %s\n", name, orInvalid(text, ok), name, systemTime(&c))
		p.printf("    %s_bias = %d\n", name, int32(c.U32()))
	}
}

// features are the names of parts of the extended state of an x86.
var features = map[int]string{0: "LEGACY_FLOATING_POINT", 1: "LEGACY_SSE", 2: "GSSE_AND_AVX", 3: "MPX_BNDREGS", 4: "MPX_BNDCSR",
	5: "AVX512_KMASK", 6: "AVX512_ZMM_H", 7: "ACK512_ZMM", 8: "XSTATE_IPT", 62: "XSTATE_LWP"}

// xstate writes XSTATE_CONFIG_FEATURE_MSC_INFO: the features that are enabled.
func (p *printer) xstate(c wire.Cursor, valid bool) {
	p.printf("  xstate_data                  = ")
	if !valid {
		p.printf("(invalid)\n")
		return
	}
	p.printf("\n")
	c.Skip(832 + 8)
	enabled := c.U64()
	for i := range 64 {
		offset, size := c.U32(), c.U32()
		if enabled>>i&1 == 0 {
			continue
		}
		name := fmt.Sprintf("%-22s", features[i])
		if features[i] == "" {
			name = "(unknown)           "
		}
		p.printf("    feature %2d - %s:  offset %4d, size %4d\n", i, name, offset, size)
	}
}
