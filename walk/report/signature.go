package report

import (
	"fmt"

	"symkit/walk"
	"symkit/walk/internal/shown"
	"symkit/walk/signature"
)

// signedFrames is the most frames of a stack that a signature is made of.
const signedFrames = 40

// Sign returns the crash signature of a result, which is the signature that siggen makes
// of the result's JSON. ok is false if the stack of the thread that crashed is not in the
// result.
func Sign(r *walk.Result, lists *signature.Lists, annotations *signature.Annotations) (s signature.Signature, ok bool) {
	crashed := r.Crashed()
	if crashed < 0 && r.Process.Crashed >= 0 {
		return s, false
	}

	p := r.Process
	c := &signature.Crash{OS: p.OS, Reason: p.Crash.Reason, Crashed: max(crashed, 0)}
	if annotations != nil {
		c.Annotations = *annotations
	}

	// Signatures are made of the thread that crashed, or of the first.
	c.Threads = make([]signature.Thread, len(r.Stacks))
	unloaded := shown.NewUnloaded(p.Facts.Unloaded)
	for i := range r.Stacks {
		if i == 0 || i == c.Crashed {
			c.Threads[i] = signedThread(&r.Stacks[i], unloaded)
		}
	}
	return signature.Make(lists, c), true
}

// signedThread returns the first frames of a stack with the texts that JSON has.
func signedThread(s *walk.Stack, unloaded *shown.Unloaded) signature.Thread {
	t := signature.Thread{LastError: s.Thread.LastError}
	for i := range s.Frames[:min(len(s.Frames), signedFrames)] {
		f := &s.Frames[i]
		place := f.Place
		out := signature.Frame{Function: valid(place.Func), File: valid(place.File), Line: place.Line, Offset: fmt.Sprintf("%#x", f.Lookup())}
		if f.Module != nil {
			out.Module = valid(f.Module.File())
		} else {
			for _, u := range unloaded.At(f.Lookup()) {
				out.Unloaded = append(out.Unloaded, valid(u.Name))
			}
		}
		for _, in := range place.Inlines {
			out.Inlines = append(out.Inlines, signature.Inline{Function: valid(in.Func), File: valid(in.File), Line: in.Line})
		}
		t.Frames = append(t.Frames, out)
	}
	return t
}

// valid returns s as JSON has the text: with the replacement character for each byte that is
// not UTF-8.
func valid(s string) string { return string([]rune(s)) }
