#include "foo.h"
int ext(int x) { return x + 1; }
int main(int c, char **v) { struct Foo f = {c, 2}; return foo_sum(&f) + ext(c); }
