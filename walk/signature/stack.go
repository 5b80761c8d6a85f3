package signature

import (
	"slices"
	"strings"
)

// maxFrames is the number of frames of a stack that count, inlined calls included.
const maxFrames = 40

// thread is a stack, the innermost frame first.
type thread struct {
	Frames    []frame
	LastError string // of Windows, as ERROR_NOT_ENOUGH_MEMORY; empty: unknown
}

// frame is a frame with the calls that are inlined into it. Empty texts are unknown.
type frame struct {
	Function string
	File     string
	Line     uint32   // of File
	Module   string   // base name
	Offset   string   // the address, hexadecimal
	Unloaded []string // names of unloaded modules at the address
	Inlines  []inline // the innermost first
}

// inline is a call that is inlined into a frame.
type inline struct {
	Function string
	File     string
	Line     uint32
}

// frames returns the first frames of a stack as texts. It returns errEmpty for a name
// that cannot be normalized.
func (l *Lists) frames(t *thread, lower bool) (out []string, err error) {
	for i := range t.Frames {
		f := &t.Frames[i]
		all := make([]frame, 0, len(f.Inlines)+1)
		for _, in := range f.Inlines {
			all = append(all, frame{Function: in.Function, File: in.File, Line: in.Line, Module: f.Module, Offset: f.Offset})
		}
		for _, one := range append(all, *f) {
			if len(out) == maxFrames {
				return out, nil
			}
			if fixed := withModule[[2]string{sourcePath(one.File), one.Function}]; fixed != "" {
				one.Function = fixed
			}
			if lower {
				one.Module = strings.ToLower(one.Module)
			}
			text, err := l.normalize(&one)
			if err != nil {
				return nil, err
			}
			out = append(out, text)
		}
	}
	return out, nil
}

// withModule has the full names of functions that Rust 1.34 names without their module, by
// source file and name.
var withModule = map[[2]string]string{
	{"src/liballoc/raw_vec.rs", "capacity_overflow"}:       "alloc::raw_vec::capacity_overflow",
	{"src/libcore/option.rs", "expect_failed"}:             "core::option::expect_failed",
	{"src/libcore/panicking.rs", "panic_bounds_check"}:     "core::panicking::panic_bounds_check",
	{"src/libcore/panicking.rs", "panic_fmt"}:              "core::panicking::panic_fmt",
	{"src/libcore/panicking.rs", "panic"}:                  "core::panicking::panic",
	{"src/libcore/slice/mod.rs", "slice_index_order_fail"}: "core::slice::slice_index_order_fail",
	{"src/libstd/panicking.rs", "begin_panic_fmt"}:         "std::panicking::begin_panic_fmt",
	{"src/libstd/panicking.rs", "continue_panic_fmt"}:      "std::panicking::continue_panic_fmt",
	{"src/libstd/panicking.rs", "rust_panic_with_hook"}:    "std::panicking::rust_panic_with_hook",
}

// ofStack returns the signature of the frames of a stack.
func (l *Lists) ofStack(frames []string) string {
	// The stack begins at the first sentinel.
	for i, f := range frames {
		if slices.Contains(l.sentinels, f) {
			frames = frames[i:]
			break
		}
	}

	var out []string
	for _, f := range frames {
		if f == "" || l.irrelevant.MatchString(f) || repeats(out, f) {
			continue
		}
		out = append(out, f)
		if !l.prefix.MatchString(f) {
			break
		}
	}

	// Where all frames are irrelevant the first stands for them.
	signature := strings.Join(out, " | ")
	switch {
	case signature != "":
		return signature
	case len(frames) > 0:
		return frames[0]
	}
	return "EMPTY: no frame data available"
}

// repeats reports whether a frame is a library, or a function without a name, and equal to
// the one before.
func repeats(out []string, f string) bool {
	if len(out) == 0 || f != out[len(out)-1] || strings.HasPrefix(f, "(unloaded") {
		return false
	}
	lower := strings.ToLower(f)
	return strings.HasSuffix(lower, ".dll") || strings.HasSuffix(lower, ".so") || f == "XUL" || f == "<name omitted>" ||
		strings.HasPrefix(f, "<unknown in")
}
