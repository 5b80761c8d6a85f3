#include "shape.h"

namespace {

// Nested in what no other unit may name.
struct Log {
  struct Entry {
    int a, b;
    int sum() const { return a + b; }
  };
  geo::Ring<Entry, 4> entries;
  int add(int a, int b) {
    entries.put({a, b});
    return Entry{a, b}.sum();
  }
};

Log log;

class Box : public geo::Shape {
 public:
  Box(int w, int h) : w_(w), h_(h) {}
  int area() const override { return w_ * h_; }

 private:
  int w_, h_;
};

}  // namespace

geo::Shape* geo::box(int w, int h) { return new Box(w, h); }

__attribute__((noinline)) int geo::total(const Shape* const* shapes, int n) {
  int sum = 0;
  auto each = [&](auto f) {
    for (int i = 0; i < n; i++) sum += f(*shapes[i]);
  };
  each([](const Shape& s) { return s.area(); });
  each([n](const Shape& s) { return s.scaled(n); });
  return log.add(sum, n);
}

int geo::paint(Shape* shape) {
  Shape::Style::Pen pen(shape->style.thicker(3));
  if (__builtin_expect(shape->area() < 0, 0)) __builtin_trap();
  return pen.mix(shape->area());
}
