struct Foo { int a; int b; }; static inline int foo_sum(struct Foo *f) { return f->a + f->b; }
