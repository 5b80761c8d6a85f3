// Programs without unwind tables that die in a leaf without a frame: below
// qsort(), below a library that uses the frame pointer as any register, in the C
// library. TestOracleNoTables builds them; LIBRARY is the library.
#ifdef LIBRARY
__attribute__((noinline)) int each(int *v, int n, int (*f)(int *, int), int a, int b, int c) {
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += f(v + i, a * i + b) * c + v[i] * b + i % a;
	return sum;
}
int twice(int *v, int n, int (*f)(int *, int)) { return each(v, n, f, 3, 4, 5) + each(v, n, f, 1, 2, 3); }
#else
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))

int twice(int *v, int n, int (*f)(int *, int));
volatile int sink, zero;

NOINLINE int die(volatile int *p) { return *p + 1; }

NOINLINE int big(int *p, int n) {
	char buf[200];
	for (int i = 0; i < n; i++)
		buf[i] = i;
	sink = buf[n / 2];
	return die(p) + buf[n / 3];
}

NOINLINE int cmp(const void *a, const void *b) {
	int n = *(const int *)a + *(const int *)b;
	return big((int *)(long)(n & 8), 50) + n;
}

NOINLINE int check(int *p, int n) { return big((int *)(long)zero, 30) + n; }
NOINLINE int leaf(int *p, int n) { return *(volatile int *)(long)zero + n; }
NOINLINE int length(const char *s) { return (int)strlen(s) + 3; }


// Frames whose size is computed, is large, or lies behind a jump table; a tail call.
NOINLINE int grow(int n) {
	char *p = __builtin_alloca(n * 37 + 10);
	memset(p, n, n * 37 + 10);
	return big((int *)(long)zero, 30) + p[n];
}

NOINLINE int large(int n) {
	volatile char b[70000];
	b[n] = n;
	return big((int *)(long)zero, 30) + b[n + 1];
}

NOINLINE int choose(int n) {
	int r = n;
	switch (n) {
	case 0: r = sink; break;
	case 1: r = big((int *)(long)zero, 30); break;
	case 2: sink = 7; break;
	case 3: r = sink * 3; break;
	case 4: sink = r; break;
	case 5: r -= sink; break;
	case 6: sink += n; break;
	}
	return r + sink;
}

NOINLINE int passed(int n) { return big((int *)(long)zero, n) + n; }
NOINLINE int passing(int n) {
	sink = n;
	return passed(n + 29);
}

int main(int argc, char **argv) {
	int v[4] = {3, 1, 2, argc};
	const char *how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "qsort") == 0)
		qsort(v, 4, sizeof v[0], cmp);
	else if (strcmp(how, "library") == 0)
		sink = twice(v, 4, check);
	else if (strcmp(how, "callback") == 0)
		sink = twice(v, 4, leaf);
	else if (strcmp(how, "strlen") == 0)
		sink = length((const char *)(long)zero);
	else if (strcmp(how, "alloca") == 0)
		sink = grow(argc) + argc;
	else if (strcmp(how, "large") == 0)
		sink = large(argc) + argc;
	else if (strcmp(how, "switch") == 0)
		sink = choose(argc - 1) + argc;
	else if (strcmp(how, "tail") == 0)
		sink = passing(argc) + argc;
	return v[0];
}
#endif
