#include "go_asm.h"
#include "textflag.h"

// The registers:
//
//	AX   d
//	DI   where the next byte is written: &d.dst[out]
//	SI   where the next bits are read: &d.src[in]
//	R8   bits
//	R9   count, exact in its low 6 bits
//	R10  e, the entry for the next bits
//	R11  the entry after it
//	R12  &d.src[inEnd]
//	R13  &d.dst[outEnd]
//
// BX, CX, DX and R15 are free.

// REFILL puts whole bytes into bits, so that there are at least 56: it reads 8
// bytes and moves SI on by those that fit, 7 − count/8%8. It changes CX.
#define REFILL \
	SHLXQ R9, (SI), CX \
	ORQ   CX, R8       \
	MOVL  R9, CX       \
	SHRL  $3, CX       \
	ANDL  $7, CX       \
	ADDQ  $7, SI       \
	SUBQ  CX, SI       \
	ORL   $56, R9

// NEXT consumes the bits of the entry e, and sets f to the entry for the next
// ones, in the given table. The index is the bits after those of e, as many as
// e says; that is the width of the table. It changes BX.
#define NEXT(e, table, f) \
	BEXTRQ e, R8, BX         \
	SHRXQ  e, R8, R8         \
	MOVQ   table(AX)(BX*8), f \
	SUBL   e, R9

// VALUE sets e to the base value of an entry and the extra bits, which are among
// those in bits, above the code. It changes CX and bits.
#define VALUE(e, bits) \
	BZHIQ e, bits, bits            \
	MOVQ  e, CX                    \
	SHRQ  $const_codeShift, CX     \
	SHRXQ CX, bits, bits           \
	SHRQ  $const_valueShift, e     \
	ADDQ  bits, e

// SUBINDEX sets i to the place in its subtable's table of the entry that e, of a
// first table of the given width, leads to. It changes CX.
#define SUBINDEX(e, width, mask, i) \
	MOVQ  R8, i                    \
	SHRQ  $width, i                \
	MOVQ  e, CX                    \
	SHRQ  $const_codeShift, CX     \
	ANDL  $const_codeMask, CX      \
	BZHIL CX, i, i                 \
	SHRQ  $const_valueShift, e     \
	ADDL  e, i                     \
	ANDL  $mask, i

// func roundsBMI2(d *decoder, outEnd, inEnd int) (undo uint64)
//
// The comment of roundsGo says what is done, and why each access is inside of dst and src; the
// margins are for this one as well. Indexes into the tables are masked, or as wide
// as an entry says, which makeLitSymbols and makeDistSymbols have set.
TEXT ·roundsBMI2(SB), NOSPLIT, $8-32
	MOVQ d+0(FP), AX
	MOVQ decoder_dst(AX), DI
	MOVQ decoder_src(AX), SI
	MOVQ outEnd+8(FP), R13
	ADDQ DI, R13
	MOVQ inEnd+16(FP), R12
	ADDQ SI, R12
	ADDQ decoder_out(AX), DI
	ADDQ decoder_in(AX), SI
	MOVQ decoder_bits(AX), R8
	MOVQ decoder_count(AX), R9
	MOVQ $0, undo+24(FP)
	REFILL
	MOVL R8, BX
	ANDL $((1<<const_litBits)-1), BX
	MOVQ decoder_lit(AX)(BX*8), R10
	JMP  round

	PCALIGN $32

next:
	MOVQ R11, R10

round:
	CMPQ SI, R12
	JHI  done
	CMPQ DI, R13
	JHI  done

	// Up to three literals: 15+10+10 of 56 bits, and 10 to look up the next.
	TESTQ R10, R10
	JGE   match
	NEXT(R10, decoder_lit, R11)
	SHRQ  $const_valueShift, R10
	MOVB  R10, (DI)
	INCQ  DI
	TESTQ R11, R11
	JGE   match1
	NEXT(R11, decoder_lit, R10)
	SHRQ  $const_valueShift, R11
	MOVB  R11, (DI)
	INCQ  DI
	TESTQ R10, R10
	JGE   match
	NEXT(R10, decoder_lit, R11)
	REFILL
	SHRQ  $const_valueShift, R10
	MOVB  R10, (DI)
	INCQ  DI
	JMP   next

match1:
	MOVQ R11, R10

match: // or anything else but a literal: 31 bits are left, 11 after a length
	TESTL   $(const_entryStop|const_entrySub), R10
	JNE     special
	MOVQ    R8, R11
	MOVL    R10, R15
	NEXT(R10, decoder_dist, DX)
	REFILL
	VALUE(R10, R11) // R10 is the length
	TESTL   $(const_entryStop|const_entrySub), DX
	JNE     specialDistance

distance: // its entry is DX; R15 is the length's
	ADDL DX, R15 // both numbers of bits: less than 64
	MOVL R15, undo-8(SP)
	MOVQ R8, R15
	NEXT(DX, decoder_lit, R11) // 28 bits are left
	REFILL
	VALUE(DX, R15) // DX is the distance
	MOVQ DI, BX
	SUBQ decoder_dst(AX), BX
	CMPQ DX, BX
	JHI  tooFar
	MOVQ DI, BX
	SUBQ DX, BX

	// A match of up to 16 bytes, as nearly all are, is two words. The second
	// may be of what the first has written.
	CMPQ DX, $8
	JCS  near
	MOVQ (BX), CX
	MOVQ CX, (DI)
	MOVQ 8(BX), CX
	MOVQ CX, 8(DI)
	CMPQ R10, $16
	JHI  long
	ADDQ R10, DI
	JMP  next

long:
	ADDQ DI, R10 // where the match ends
	ADDQ $16, DI
	ADDQ $16, BX
	CMPQ DX, $16
	JCS  words

vectors:
	MOVOU (BX), X0
	MOVOU X0, (DI)
	ADDQ  $16, BX
	ADDQ  $16, DI
	CMPQ  DI, R10
	JCS   vectors
	MOVQ  R10, DI
	JMP   next

words:
	MOVQ (BX), CX
	MOVQ CX, (DI)
	ADDQ $8, BX
	ADDQ $8, DI
	CMPQ DI, R10
	JCS  words
	MOVQ R10, DI
	JMP  next

near: // patterns[distance]; the distance is less than 8
	SHLL    $4, DX
	LEAQ    ·patterns(SB), R15
	ADDQ    DX, R15
	MOVBLZX pattern_drop(R15), CX
	MOVQ    (BX), BX
	SHLXQ   CX, BX, BX
	SHRXQ   CX, BX, BX
	IMULQ   pattern_times(R15), BX
	MOVBLZX pattern_step(R15), CX
	ADDQ    DI, R10

repeat:
	MOVQ BX, (DI)
	ADDQ CX, DI
	CMPQ DI, R10
	JCS  repeat
	MOVQ R10, DI
	JMP  next

special:
	TESTL $const_entryStop, R10
	JNE   done
	SUBINDEX(R10, const_litBits, const_litMask, BX)
	MOVQ  decoder_lit(AX)(BX*8), R10
	REFILL
	JMP   round // with an entry of any other kind

specialDistance:
	TESTL $const_entrySub, DX
	JEQ   badDistance
	SUBINDEX(DX, const_distBits, const_distMask, BX)
	MOVQ  decoder_dist(AX)(BX*8), DX
	TESTL $const_entryStop, DX
	JEQ   distance

badDistance: // back to the length only
	MOVL R15, undo-8(SP)

tooFar:
	MOVL undo-8(SP), BX
	ANDL $const_bitsMask, BX
	MOVQ BX, undo+24(FP)

done:
	SUBQ decoder_dst(AX), DI
	SUBQ decoder_src(AX), SI
	MOVQ DI, decoder_out(AX)
	MOVQ SI, decoder_in(AX)
	ANDL $63, R9
	MOVQ R8, decoder_bits(AX)
	MOVQ R9, decoder_count(AX)
	RET
