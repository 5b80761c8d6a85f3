package mdmp

import (
	"encoding/binary"
	"fmt"
	"strings"

	"symkit/internal/wire"
)

// readSystemInfo decodes MINIDUMP_SYSTEM_INFO. An unreadable service pack is
// lost alone.
func (d *Dump) readSystemInfo(c wire.Cursor) error {
	var s SystemRecord
	read(&c, &s)
	if c.Err() != nil {
		return c.Err()
	}
	pack, err := d.optional(s.ServicePackAt)
	d.lose(SystemInfoStream, err)
	d.System = SystemInfo{s, pack}
	return nil
}

// Version returns the system's version as Breakpad prints it: three numbers, and
// after a space ServicePack, even an empty one.
func (s *SystemInfo) Version() string {
	v := fmt.Sprintf("%d.%d.%d", s.Major, s.Minor, s.Build)
	if s.ServicePack.units != nil {
		v += " " + s.ServicePack.String()
	}
	return v
}

// VersionBuild returns the version as three numbers, and the build. Dumps of Linux have
// uname's output instead of the numbers: its second word is the version; the words after
// that, without the machine and "Linux/GNU", are the build.
func (s *SystemInfo) VersionBuild() (version, build string) {
	version = fmt.Sprintf("%d.%d.%d", s.Major, s.Minor, s.Build)
	build = strings.TrimSpace(s.ServicePack.String())
	if s.OS != OSLinux || version != "0.0.0" {
		return version, build
	}

	// uname -srvmo prints the kernel's name first, then its release.
	words := strings.Split(s.ServicePack.String(), " ")
	if len(words) < 2 || words[1] == "0.0.0" {
		return version, build
	}

	version, words = words[1], words[2:]

	// The machine is the last word, or the word before "Linux/GNU".
	if n := len(words); n > 0 {
		last := words[n-1]
		words = words[:n-1]
		if last == "Linux/GNU" && n > 1 {
			words = words[:n-2]
		}
	}
	return version, strings.Join(words, " ")
}

// CPUInfo describes the processor as Breakpad and rust-minidump print it:
// vendor, family, model and stepping of an x86, architecture, part and features
// of an ARM. It is empty for others.
func (s *SystemInfo) CPUInfo() string {
	switch s.CPU {
	case CPUX86, CPUX86Win64, CPUAMD64:
		info := fmt.Sprintf("family %d model %d stepping %d", s.Level, s.Revision>>8, s.Revision&0xff)
		if v := s.Vendor(); v != "" {
			return v + " " + info
		}
		return info
	case CPUARM:
		return s.armInfo()
	}
	return ""
}

// Vendor returns the processor's vendor as CPUID gives it. Only dumps of 32-bit processes on
// an x86 have the vendor.
func (s *SystemInfo) Vendor() string {
	if s.CPU != CPUX86 && s.CPU != CPUX86Win64 {
		return ""
	}

	// CPUID gives the vendor in three registers of four characters each.
	return strings.Map(visible, string(Append(nil, binary.LittleEndian, s.Info[:3])))
}

// visible drops the characters that are not printable ASCII.
func visible(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

// armVendors and armParts are names by the implementer and part numbers of the ARM's main ID
// register. armFeatures are the bits of AT_HWCAP, from the lowest.
var (
	armVendors = map[uint32]string{0x41: "ARM", 0x51: "Qualcomm", 0x56: "Marvell", 0x69: "Intel/Marvell"}
	armParts   = map[uint32]string{
		0x4100c050: "Cortex-A5", 0x4100c080: "Cortex-A8", 0x4100c090: "Cortex-A9", 0x4100c0f0: "Cortex-A15",
		0x4100c140: "Cortex-R4", 0x4100c150: "Cortex-R5", 0x4100b360: "ARM1136", 0x4100b560: "ARM1156",
		0x4100b760: "ARM1176", 0x4100b020: "ARM11-MPCore", 0x41009260: "ARM926", 0x41009460: "ARM946",
		0x41009660: "ARM966", 0x510006f0: "Krait", 0x510000f0: "Scorpion",
	}
	armFeatures = []string{"swp", "half", "thumb", "26bit", "fastmult", "fpa", "vfpv2", "edsp", "java", "iwmmxt",
		"crunch", "thumbee", "neon", "vfpv3", "vfpv3d16", "tls", "vfpv4", "idiva", "idivt"}
)

// armInfo describes an ARM processor.
func (s *SystemInfo) armInfo() string {
	id, hwcaps := s.Info[0], s.Info[1]
	out := fmt.Sprintf("ARMv%d", s.Level)

	// The main ID register has the implementer in its top byte.
	if id != 0 {
		out += " " + orNumber(armVendors, id>>24, "vendor(%#x)") + " " + orNumber(armParts, id&0xff00fff0, "part(%#x)")
	}

	var features []string
	for i, f := range armFeatures {
		if hwcaps>>i&1 != 0 {
			features = append(features, f)
		}
	}
	if len(features) > 0 {
		out += " features: " + strings.Join(features, ",")
	}
	return out
}

func orNumber(names map[uint32]string, n uint32, format string) string {
	if s, ok := names[n]; ok {
		return s
	}
	return fmt.Sprintf(format, n)
}
