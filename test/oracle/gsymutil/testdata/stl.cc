// g++ -g -O2: hundreds of inlined calls of the standard library, in functions with several ranges.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace app {
struct Shape {
  virtual ~Shape() {}
  virtual double area() const = 0;
};
struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
};
static int helper(int x) {
  int r = 0;
  for (int i = 0; i < x; i++)
    r += i * x;
  return r;
}
template <class T> T sum(const std::vector<T> &v) {
  T t{};
  for (auto &x : v)
    t += x;
  return t;
}
} // namespace app

extern "C" int plain(int x) { return app::helper(x) + 1; }

int main(int argc, char **) {
  std::map<std::string, int> m;
  std::vector<int> q;
  for (int i = 0; i < argc * 10; i++) {
    m[std::to_string(i)] = i;
    q.push_back(app::helper(i));
  }
  std::sort(q.begin(), q.end(), [](int a, int b) { return a > b; });
  app::Square s(3);
  printf("%d %f %d\n", app::sum(q), s.area(), plain(argc));
  return m.size();
}
