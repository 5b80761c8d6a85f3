// Shared by the C++ units: what ends up in type units, in dwz's common file, or
// in the unit of whoever uses it: nested and local classes, templates, lambdas.
#pragma once

namespace geo {

struct Point {
  int x, y;
  Point operator+(Point o) const { return {x + o.x, y + o.y}; }
  template <typename T>
  T scaled(T by) const {
    return static_cast<T>(x) * by + static_cast<T>(y);
  }
};

class Shape {
 public:
  struct Style {
    int width = 1;
    int thicker(int by) {
      struct Clamp {  // local to a block
        int limit;
        int operator()(int v) const { return v > limit ? limit : v; }
      };
      return width = Clamp{100}(width + by);
    }
    class Pen {
     public:
      explicit Pen(int c) : color(c) {}
      int mix(int with) const { return (color & with) ^ 0x55; }

     private:
      int color;
    };
  };

  virtual ~Shape() {}
  virtual int area() const = 0;
  int scaled(int n) const { return area() * n; }
  Style style;
};

template <typename T, unsigned N>
struct Ring {
  T at[N];
  unsigned next = 0;
  void put(T v) { at[next++ % N] = v; }
  template <typename F>
  T fold(T from, F f) const {
    for (unsigned i = 0; i < N; i++) from = f(from, at[i]);
    return from;
  }
};

int total(const Shape* const* shapes, int n);
int paint(Shape* shape);
Shape* box(int w, int h);

}  // namespace geo

extern "C" long calc(const char* text);
