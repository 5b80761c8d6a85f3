// Two inlined functions with the same assembler label, in two units: as the second with -DOTHER.
// glibc does so with aliases of its own functions.
#define SHARED extern inline __attribute__((gnu_inline, always_inline))

#ifdef OTHER
SHARED int two(int x) __asm__("label");
SHARED int two(int x) {
	volatile int y = x + 2;
	return y * 5;
}

// Nim's compiler writes such names into the C that it generates.
__attribute__((noinline)) int _ZN4shop6doubleEi(int x) {
	volatile int y = x + 4;
	return y * 2;
}
int other(int x) { return two(x) + _ZN4shop6doubleEi(x); }
#else
SHARED int one(int x) __asm__("label");
SHARED int one(int x) {
	volatile int y = x + 1;
	return y * 3;
}
// In GCC's DWARF the copy out of line has the label, and its name only at its origin.
int three(int x) __asm__("label_of_three");
int three(int x) {
	volatile int y = x + 3;
	return y * 7;
}

int other(int);
int run(int x) { return one(x) + three(x) + other(x); }
#endif
