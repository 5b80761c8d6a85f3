int ext(int x);
static inline __attribute__((always_inline)) int twice(int x) { return ext(x) * 2; }
int foo(int a) { int r = twice(a); for (int i = 0; i < a; i++) r += ext(i); return r; }
int bar(int a) { return foo(a) + 3; }
int ext(int x) { return x + 1; }
int __start(void) { return bar(2); }
