/* Frames of every shape that a compiler makes. Compiled to assembly once per
   machine; each assembler under test then turns that into SFrame. */
#include <stdarg.h>
#include <stddef.h>

extern void ext(void *);
extern int ext2(int, int);
extern void die(void) __attribute__((noreturn));

int leaf(int a) { return a + 1; }
int tail(int a) { return ext2(a, 2); }
int saves(int a, int b, int c)
{
	int x = ext2(a, b), y = ext2(b, c), z = ext2(a, c);
	return ext2(x, y) + ext2(y, z) * z;
}
void frame300(void) { char b[300]; ext(b); }
void frame70k(void) { char b[70000]; ext(b); }
void frame5m(void) { char b[5000000]; ext(b); }
void vla(size_t n) { char b[n]; ext(b); }
void dynamic(size_t n) { ext(__builtin_alloca(n)); ext(__builtin_alloca(n)); }
void realigned(void) { char b[64] __attribute__((aligned(128))); ext(b); }
void realigned_vla(size_t n)
{
	char b[n] __attribute__((aligned(64))), c[64] __attribute__((aligned(64)));
	ext(b); ext(c);
}
int sum(int n, ...)
{
	va_list ap; int s = 0;
	va_start(ap, n);
	while (n--) s += va_arg(ap, int);
	va_end(ap);
	return s + ext2(n, s);
}
int wrapped(int *p) { if (!p) return 0; ext(p); return ext2(*p, p[1]); }
int cold(int x)
{
	if (__builtin_expect(x < 0, 0)) { ext(&x); die(); }
	return leaf(x) * 3;
}
