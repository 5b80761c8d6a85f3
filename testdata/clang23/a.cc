struct S { int v; int get(int k) const; };
static inline __attribute__((always_inline)) int twice(int x) { int r = 0; for (int i = 0; i < x; i++) { r += i * x; asm volatile("" : "+r"(r)); } return r; }
extern int ext(int);
int S::get(int k) const { try { return ext(twice(v + k)); } catch (int e) { return e; } }
static __attribute__((noinline)) int hidden(int a) { int q = twice(a); { int z = ext(q); if (z > 4) { int w = twice(z); q += ext(w); } } return q; }
int first(int a) { return hidden(a) + twice(a + 1); }
__attribute__((cold)) int coldone(int a) { return hidden(a) - 2; }
int main(int c, char**) { S s{c}; return s.get(1) + first(c) + coldone(c); }
