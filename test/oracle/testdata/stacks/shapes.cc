#include "shapes.h"

#include <cmath>
#include <set>

static inline double square(double x) { return x * x; }

double Circle::area() const { return M_PI * square(r_); }

std::string Circle::name() const {
  struct Digits {  // a class local to a block
    std::set<char> seen;
    std::string of(double x) {
      auto text = std::to_string(x);
      for (char c : text) seen.insert(c);
      return {seen.begin(), seen.end()};
    }
  } digits;
  return "circle" + digits.of(r_);
}
