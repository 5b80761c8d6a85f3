inline int twice(int x) { return 2 * x; }
extern int elsewhere(int);
int counter;
int first(int x) { return elsewhere(twice(x)) + 1; }
__attribute__((noinline)) static int second(int x) { return elsewhere(x) * x; }
int third(int x) { int s = 0; for (int i = 0; i < x; i++) s += second(i) + counter; return s; }
