#include <stdexcept>
#include <unordered_map>

#include "shapes.h"

static unsigned long mix(unsigned long h, unsigned char c) {
  h ^= c;
  return h * 1099511628211UL;
}

unsigned long hash(const std::string& s) {
  static std::unordered_map<std::string, unsigned long> known;
  if (auto it = known.find(s); it != known.end()) return it->second;
  unsigned long h = 14695981039346656037UL;
  for (unsigned char c : s) h = mix(h, c);
  return known[s] = h;
}

int checked(int n) {
  if (n > 3) throw std::out_of_range("too many arguments: " + std::to_string(n));
  std::vector<int> v(n + 1);
  for (int i = 0; i <= n; i++) v.at(i) = i * i;
  return v.at(n);
}
