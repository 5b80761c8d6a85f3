package signature

import (
	"fmt"

	"symkit/walk"
	"symkit/walk/internal/shown"
)

// Of returns the crash signature of a result, which is the signature that siggen makes of
// the result's JSON. If lists is nil, the lists are those of this package, which are siggen's;
// annotations may be nil. ok is false if the stack of the thread that crashed is not in the
// result.
func Of(r *walk.Result, lists *Lists, annotations *Annotations) (s Signature, ok bool) {
	if lists == nil {
		lists = includedLists()
	}

	crashed := r.Crashed()
	if crashed < 0 && r.Process.Crashed >= 0 {
		return s, false
	}

	p := r.Process
	c := &crash{OS: p.OS, Reason: p.Crash.Reason, Crashed: max(crashed, 0)}
	if annotations != nil {
		c.Annotations = *annotations
	}

	// Signatures are made of the thread that crashed, or of the first.
	c.Threads = make([]thread, len(r.Stacks))
	unloaded := shown.NewUnloaded(p.Facts.Unloaded)
	for i := range r.Stacks {
		if i == 0 || i == c.Crashed {
			c.Threads[i] = signedThread(&r.Stacks[i], unloaded)
		}
	}
	return generate(lists, c), true
}

// signedThread returns the first frames of a stack with the texts that JSON has.
func signedThread(s *walk.Stack, unloaded *shown.Unloaded) thread {
	t := thread{LastError: s.Thread.LastError}
	for i := range s.Frames[:min(len(s.Frames), maxFrames)] {
		f := &s.Frames[i]
		place := f.Place
		out := frame{Function: valid(place.Func), File: valid(place.File), Line: place.Line, Offset: fmt.Sprintf("%#x", f.Lookup())}
		if f.Module != nil {
			out.Module = valid(f.Module.File())
		} else {
			for _, u := range unloaded.At(f.Lookup()) {
				out.Unloaded = append(out.Unloaded, valid(u.Name))
			}
		}
		for _, in := range place.Inlines {
			out.Inlines = append(out.Inlines, inline{Function: valid(in.Func), File: valid(in.File), Line: in.Line})
		}
		t.Frames = append(t.Frames, out)
	}
	return t
}

// valid returns s as JSON has the text: with the replacement character for each byte that is
// not UTF-8.
func valid(s string) string { return string([]rune(s)) }
