package walk

import (
	"errors"

	"symkit/walk/internal/cpu"
)

var errChainEnd = errors.New("zeros end the chain of frame records")

// byFramePointer follows the chain of frame pointers. The chain ends in zeros, which are
// accepted if the chain led to them, or if all code of the system has the chain.
//
// Generated code may push a return address and jump (HotSpot's interpreter), so that no call
// precedes the return address. A record that leads to such code is accepted if the next
// records lead up the stack as well.
func byFramePointer(v *view, c *callee) (out cpu.Registers, _ verdict, err error) {
	out, ok := v.record(c.regs)
	if !ok {
		// Where every frame shows its end, only the return address is lost.
		end, shown := v.FrameEnd(&v.Stack, c.regs)
		if shown {
			c.reaches(v, end, true)
		}
		return out, notFound, errors.New("no frame record")
	}

	// Zeros end the chain.
	if out.PC == 0 && v.FramePointer(&out) == 0 && (c.Trust == TrustFramePointer || v.Chained) {
		return out, stackEnd, errChainEnd
	}
	if !v.returnsTo(c.Frame, out.PC) && !(v.isGenerated(v.ReturnAddr(out.PC), v.SP(c.regs)) && v.chainGoesOn(out)) {
		return out, notFound, errNoCall
	}
	return out, found, nil
}

// record returns the registers of the caller by the frame record of a frame with registers r.
func (v *view) record(r *cpu.Registers) (out cpu.Registers, ok bool) {
	for n := range v.Records {
		next, known := v.Record(&v.Stack, r, n)
		switch {
		case !known:
		case v.Evidence == cpu.Certain,
			v.Evidence == cpu.InFunction && v.isReturn(next.PC),
			v.Evidence != cpu.InFunction && v.returnsToCode(next.PC):
			return next, true
		case !ok && v.Evidence == cpu.OrGenerated && v.isGenerated(v.ReturnAddr(next.PC), v.SP(r)):
			out, ok = next, true
		}
	}
	return out, ok
}

// chainGoesOn reports whether the frame records above a frame with registers r,
// which is in generated code, lead up the stack: to a few more frames there, to a
// caller in a module, or to the end of the chain.
func (v *view) chainGoesOn(r cpu.Registers) bool {
	const enough = 3
	for range enough {
		if v.FramePointer(&r) == 0 {
			return true
		}
		next, ok := v.record(&r)
		if !ok {
			return false
		}
		// A zero ends the chain; a return to a module must follow a call.
		addr := v.ReturnAddr(next.PC)
		if addr == 0 {
			return true
		}
		if !v.isGenerated(addr, v.SP(&next)) {
			return v.returnsToCode(next.PC)
		}
		r = next
	}
	return true
}
