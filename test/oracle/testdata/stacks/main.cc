// A program for the comparison of inline stacks: see oracle_stacks_build_test.go.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <thread>

#include "shapes.h"

namespace {

struct by_area {
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return a->area() < b->area();
  }
};

std::map<std::string, int> words(const std::string& text) {
  std::map<std::string, int> out;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    ++out[word];
  }
  return out;
}

template <typename... Parts>
std::string glue(const Parts&... parts) {
  std::ostringstream out;
  ((out << parts << ' '), ...);
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < argc + 20; i++) {
    if (i % 3 == 0) {
      shapes.push_back(std::make_unique<Circle>(i * 0.5));
    } else {
      shapes.push_back(std::make_unique<Box<double>>(i, i % 7));
    }
  }
  std::sort(shapes.begin(), shapes.end(), by_area{});
  std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a->name() < b->name(); });

  auto total = std::accumulate(shapes.begin(), shapes.end(), 0.0, [](double sum, const auto& s) { return sum + s->area(); });
  std::function<double(double)> scale = [total](double f) { return f * total; };

  Matrix<double, 4> m;
  std::thread worker([&m] { m = power(m, 5); });
  worker.join();

  std::regex number("([0-9]+)(\\.[0-9]+)?", std::regex::ECMAScript);
  std::string text = glue(argv[0], total, m.trace(), "seen 12 of 13.5", argc);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), number); it != std::sregex_iterator(); ++it) {
    std::cout << it->str() << '\n';
  }
  for (const auto& [word, n] : words(text)) {
    std::cout << word << ' ' << n << ' ' << hash(word) << '\n';
  }
  try {
    std::cout << scale(2) << ' ' << checked(argc) << '\n';
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
  }
  return 0;
}
