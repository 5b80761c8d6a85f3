// Shared by the crash programs: what the compiler must not see through.
#pragma once
#define NOINLINE __attribute__((noinline, noclone))
#define INLINE static inline __attribute__((always_inline))

static volatile int sink;
static volatile int zero;

// Keeps a call from becoming a tail call.
INLINE void after(int v) { sink = sink + v; }

INLINE void die(void) { *(volatile int *)(long)(zero + 8) = 1; }
