package batch

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"

	"symkit/elfx"
	"symkit/elfx/companion"
)

const (
	// unknownMemory is the assumed memory of a system that does not report its memory.
	unknownMemory = 4 << 30
	// processMemory is the memory of a process before the first task.
	processMemory = 48 << 20
	// fileMemory is the memory that a task needs for the smallest module.
	fileMemory = 4 << 20
)

// defaultBudget returns three quarters of the memory that the machine has available or,
// if that is less, that the cgroup of the process allows. root is the file system,
// os.DirFS("/").
func defaultBudget(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	if kib, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		limit = kib << 10
	}
	limit = min(limit, cgroupLimit(root))
	if limit == math.MaxInt64 {
		limit = unknownMemory
	}
	return limit / 4 * 3
}

// taskBudget returns the part of a process's budget that is left for tasks.
func taskBudget(process int64) int64 { return max(process-processMemory, 1) }

// field returns the number after a word at the start of a line.
func field(root fs.FS, file, word string) (int64, bool) {
	data, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == word {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil && n < math.MaxInt64>>10
		}
	}
	return 0, false
}

// cgroupLimit returns the least memory limit of the cgroups that the process is in:
// cgroups(7); version 2 has memory.max, version 1 memory.limit_in_bytes.
func cgroupLimit(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	data, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return limit
	}

	// The line of version 2 lists no controllers.
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // ID:CONTROLLERS:PATH
		switch {
		case len(parts) != 3:
		case parts[1] == "":
			limit = min(limit, upwards(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			limit = min(limit, upwards(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// upwards returns the least number in the files called name from mount/dir up to mount.
// In a container dir may be a directory of the host that does not exist.
func upwards(root fs.FS, mount, dir, name string) int64 {
	limit := int64(math.MaxInt64)
	for dir = path.Clean("/" + dir); ; dir = path.Dir(dir) {
		if data, err := fs.ReadFile(root, path.Join(mount, dir, name)); err == nil {
			// "max" is no number and no limit.
			if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil {
				limit = min(limit, n)
			}
		}
		if dir == "/" {
			return limit
		}
	}
}

// work has the steps that need memory and are done with a module.
type work struct {
	Inlines bool // inlined calls are read
	Check   bool // the symbol file is checked after it was written
}

// estimate returns the peak memory of the dump of an image, in bytes. The sections that
// are read count compressed, if they are, and uncompressed. The records, and the
// garbage until it is collected, were measured to be at most as much again, half more
// with inlined calls, and as much once more with a check (docs/performance.md).
func estimate(img *elfx.Image, others *companion.Companions, work work) int64 {
	var packed, sum uint64
	files := []*elfx.File{img.Main, img.Debug}
	if others != nil {
		files = append(files, others.Alt)
		if img.DWARF().Section(".debug_addr") != nil { // as skeletons have
			files = append(files, others.OpenPackage())
		}
	}
	for _, f := range files {
		if f != nil {
			p, s := sections(f)
			packed, sum = packed+p, sum+s
		}
	}

	factor := 2.0
	if work.Inlines {
		factor += 0.5
	}
	if work.Check {
		factor++
	}
	return fileMemory + int64(min(float64(packed)+float64(sum)*factor, 1<<62))
}

// sections returns the size of the sections of f that a dump reads: sum is that of all
// sections uncompressed, packed that of compressed sections as they are in the file.
func sections(f *elfx.File) (packed, sum uint64) {
	for i := range f.Sections {
		// A section can be named .debug_info, .zdebug_info or .debug_info.dwo.
		s := &f.Sections[i]
		name := strings.TrimPrefix(strings.TrimSuffix(s.Name, ".dwo"), ".zdebug_")
		name = strings.TrimPrefix(name, ".debug_")
		switch name {
		case "info", "types", "abbrev", "line", "line_str", "str", "str_offsets", "addr", "ranges", "rnglists", "frame",
			".eh_frame", ".sframe", ".symtab", ".dynsym", ".strtab", ".dynstr", ".gopclntab":
			if size, err := s.UncompressedSize(); err == nil && s.Present() {
				sum += size
				if size != s.Size {
					packed += s.Size
				}
			}
		}
	}
	return packed, sum
}
