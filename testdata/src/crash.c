// Crashes with a stack worth walking: run → parse → (inlined step, descend) →
// recursion → a signal handler on the same stack → (inlined poke) → SIGSEGV.
// x86_64 Linux, without a C library. Expected frames, innermost first:
//
//   handler, with poke inlined
//   restore (the signal frame), at ud2 in crash
//   crash, with stumble inlined
//   descend, three times
//   parse, with step inlined
//   run
//   _start
#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

volatile int depth;

INLINE void poke(volatile int *address) { *address = 1; }

static NOINLINE void handler(int signal) {
	depth += signal;
	poke((volatile int *)0x10);
	depth--;
}

// A kernel sigaction with its own trampoline, as the C library has it. The
// trampoline's CFI says where the kernel put rsp, rip, rbp and rbx: the
// ucontext starts at rsp here, its gregs 40 bytes further.
void restore(void);
__asm__(".text\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 0x06\n" // CFA = *(rsp+160)
	".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1\n"   // rip at rsp+168
	".cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0\n"    // rbp at rsp+120
	".cfi_escape 0x10, 3, 3, 0x77, 0x80, 1\n"    // rbx at rsp+128
	"nop\n"
	".globl restore\n"
	".type restore, @function\n"
	"restore:\n"
	"mov $15, %eax\n"
	"syscall\n"
	".cfi_endproc\n"
	".size restore, .-restore\n");

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

INLINE long syscall4(long number, long a, long b, long c, long d) {
	register long r10 __asm__("r10") = d;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

INLINE void stumble(int n) {
	depth = n;
	__asm__ volatile("ud2");
}

static NOINLINE int crash(int n) {
	stumble(n);
	return depth + n;
}

static NOINLINE int descend(int n) {
	int below = n > 0 ? descend(n - 1) : crash(n + 7);
	depth += below;
	return below + 1;
}

INLINE int step(int n) { return descend(n) + 2; }

static NOINLINE int parse(const char *text) {
	int sum = 0;
	for (; *text != 0; text++)
		sum += step(*text - '0');
	return sum;
}

int run(int n) {
	struct action action = {handler, 0x44000000, restore, 0}; // SA_RESTORER | SA_NODEFER
	syscall4(13, 4, (long)&action, 0, 8);			   // rt_sigaction(SIGILL)
	return parse("2") + n;
}

// The stack pointer is aligned at the entry, as if nobody had called.
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined %rip\n"
	"xor %ebp, %ebp\n"
	"mov $42, %edi\n"
	"call run\n"
	"ud2\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");
