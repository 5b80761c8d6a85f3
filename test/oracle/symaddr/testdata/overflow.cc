// clang++ -fsanitize=address: a heap overflow below inlined calls.
#include <vector>
struct Buffer {
  std::vector<int> *cells;
  int read(int i) const { return (*cells)[i]; }
};
static inline int deep(const Buffer &b, int i) { return i > 0 ? deep(b, i - 1) + b.read(i) : b.read(0); }
int main(int argc, char **) {
  std::vector<int> cells(10);
  Buffer b{&cells};
  int sum = deep(b, argc);
  return sum + b.read(argc + 9);
}
