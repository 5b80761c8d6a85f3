// What a C compiler adds: nested functions, static inline functions, frames
// realigned through a second register (DRAP), alloca, variable arrays, tail
// calls, aliases, weak and indirect functions, variadic functions.
#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

volatile int sink;

NOINLINE int consume(const volatile void *pointer, int value) {
	sink += value + (pointer != 0);
	return sink;
}

INLINE int innermost(int n) { return consume(&n, n * 3); }
INLINE int middle(int n) { return innermost(n) + innermost(n + 1); }
INLINE int outermost(int n) { return n > 10 ? middle(n) : -middle(-n); }

NOINLINE int inlined(int n) { return outermost(n) + outermost(n + 5); }

#ifndef __clang__ // a GNU extension clang does not have
NOINLINE int nesting(int n) {
	NOINLINE int inner(int k) { return consume(&k, k + n); }
	{
		NOINLINE int inner_of_block(int k) { return consume(&n, k * n); }
		n += inner_of_block(n);
	}
	return inner(n);
}
#else
NOINLINE int nesting(int n) { return consume(&n, n); }
#endif

// The array needs more alignment than the stack has, and the variable array
// keeps the frame from being addressed off the stack pointer: on x86 GCC keeps
// the incoming stack pointer in a register and gives the CFA as an expression.
typedef double vector __attribute__((vector_size(32)));

NOINLINE int realigned(double a, int n) {
	vector x[4] __attribute__((aligned(64)));
	char bytes[n];
	for (int i = 0; i < 4; i++)
		x[i] = (vector){a, a, a, a};
	for (int i = 0; i < n; i++)
		bytes[i] = (char)i;
	consume(x, n);
	return consume(bytes, (int)x[1][2]);
}

NOINLINE int with_alloca(int n) {
	char *bytes = __builtin_alloca(n);
	for (int i = 0; i < n; i++)
		bytes[i] = (char)(i ^ n);
	return consume(bytes, bytes[n / 2]);
}

NOINLINE int big_frame(int n) {
	int table[5000];
	for (int i = 0; i < 5000; i++)
		table[i] = n + i;
	return consume(table, table[n & 4095]);
}

// At -O2 a jump, so that big_frame's caller is this function's caller.
NOINLINE int tail_call(int n) {
	if (n & 1)
		return big_frame(n + 1);
	return with_alloca(n + 16);
}

NOINLINE int variadic(int count, ...) {
	__builtin_va_list arguments;
	int sum = 0;
	__builtin_va_start(arguments, count);
	while (count-- > 0)
		sum += __builtin_va_arg(arguments, int);
	__builtin_va_end(arguments);
	return consume(&sum, sum);
}

// Saves and restores every callee-saved register there is.
NOINLINE int many_registers(int a, int b, int c, int d) {
	int e = consume(&sink, a), f = consume(&sink, b), g = consume(&sink, c), h = consume(&sink, d);
	int i = consume(&sink, a + e), j = consume(&sink, b + f), k = consume(&sink, c + g);
	if (i > j)
		return a;
	i += consume(&sink, d + h);
	return a + b * c + d * e + f * g + h * i + j * k;
}

int aliased(int n) __attribute__((alias("tail_call")));
int weak_alias(int n) __attribute__((weak, alias("tail_call")));
__attribute__((weak)) int weak_function(int n) { return consume(&n, n ^ 5); }
static NOINLINE int hidden(int n) { return consume(&n, n + 9); }

#ifdef __x86_64__
static int plain(int n) { return n + 1; }
static int (*choose(void))(int) { return plain; }
int indirect(int n) __attribute__((ifunc("choose")));
#endif

int run(int n) {
	int sum = inlined(n) + nesting(n) + realigned(n, n) + with_alloca(n) + tail_call(n);
	sum += variadic(3, n, n, n) + many_registers(n, n, n, n);
	sum += aliased(n) + weak_alias(n) + weak_function(n) + hidden(n);
#ifdef __x86_64__
	sum += indirect(n);
#endif
	return sum;
}
