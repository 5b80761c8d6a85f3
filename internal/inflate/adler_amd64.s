#include "textflag.h"

// weights<> is how often each of 32 bytes counts.
DATA weights<>+0(SB)/8, $0x191a1b1c1d1e1f20
DATA weights<>+8(SB)/8, $0x1112131415161718
DATA weights<>+16(SB)/8, $0x090a0b0c0d0e0f10
DATA weights<>+24(SB)/8, $0x0102030405060708
GLOBL weights<>(SB), RODATA|NOPTR, $32

DATA ones<>+0(SB)/4, $0x00010001
GLOBL ones<>(SB), RODATA|NOPTR, $4

// func adlerSumsAVX2(p []byte) (sum, weighted uint64)
//
// len(p) is a multiple of 32 and at most adlerRun = 5504: 172 vectors. Y0 adds up
// bytes, Y1 what Y0 was before each vector, Y2 the bytes by their weights in
// the vector, in 32 bits each: at most 8·255·172, that times 172/2 and
// 4·255·32·172, all below 2³².
TEXT ·adlerSumsAVX2(SB), NOSPLIT, $0-40
	MOVQ         p_base+0(FP), SI
	MOVQ         p_len+8(FP), CX
	VPXOR        Y0, Y0, Y0
	VPXOR        Y1, Y1, Y1
	VPXOR        Y2, Y2, Y2
	VPXOR        Y3, Y3, Y3
	VMOVDQU      weights<>(SB), Y4
	VPBROADCASTD ones<>(SB), Y5
	SHRQ         $5, CX
	JEQ          total

vector:
	VMOVDQU    (SI), Y6
	VPADDD     Y0, Y1, Y1
	VPMADDUBSW Y4, Y6, Y7 // pairs: at most 255·(32+31), which is no overflow
	VPSADBW    Y3, Y6, Y6
	VPADDD     Y6, Y0, Y0
	VPMADDWD   Y5, Y7, Y7
	VPADDD     Y7, Y2, Y2
	ADDQ       $32, SI
	DECQ       CX
	JNE        vector

total: // of the lanes; a byte counts 32 times more for each vector after it
	VPSLLD       $5, Y1, Y1
	VPADDD       Y1, Y2, Y2
	VEXTRACTI128 $1, Y0, X6
	VPADDD       X6, X0, X0
	VPSHUFD      $0x4e, X0, X6
	VPADDD       X6, X0, X0
	VMOVD        X0, AX
	VEXTRACTI128 $1, Y2, X6
	VPADDD       X6, X2, X2
	VPSHUFD      $0x4e, X2, X6
	VPADDD       X6, X2, X2
	VPSHUFD      $0xb1, X2, X6
	VPADDD       X6, X2, X2
	VMOVD        X2, BX
	MOVQ         AX, sum+24(FP)
	MOVQ         BX, weighted+32(FP)
	VZEROUPPER
	RET
