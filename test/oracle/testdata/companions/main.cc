#include "shape.h"

#include <cstdio>

namespace {

template <typename... Args>
int sum(Args... args) {
  return (... + args);
}

struct Longest {
  template <typename T>
  int operator()(int best, const T& p) const {
    int n = p.x * p.x + p.y * p.y;
    return n > best ? n : best;
  }
};

}  // namespace

int main(int argc, char** argv) {
  try {
    geo::Shape* shapes[] = {geo::box(argc, 2), geo::box(3, 4)};
    geo::Ring<geo::Point, 8> ring;
    for (int i = 0; i < 20; i++) ring.put(geo::Point{i, argc} + geo::Point{argc, i});
    int best = 0;
    for (const geo::Point& p : ring.at) best = Longest()(best, p);
    geo::Ring<long, 3> longs{};
    longs.put(calc(argc > 1 ? argv[1] : "6*7"));
    long all = longs.fold(0, [](long a, long b) { return a + b; });
    if (all == 0) throw argc;
    std::printf("%d %d %ld %f\n", sum(geo::total(shapes, 2), geo::paint(shapes[0])), best, all, ring.at[0].scaled(0.5));
  } catch (int n) {
    return n;
  }
}
