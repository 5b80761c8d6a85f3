// g++ -g: a few tenths of a second in inlined calls of the standard library.
#include <algorithm>
#include <map>
#include <string>
#include <vector>
static int weigh(const std::vector<std::string> &words) {
  std::map<std::string, int> seen;
  for (auto &w : words) seen[w]++;
  int sum = 0;
  for (auto &[word, n] : seen) sum += n * word.size();
  return sum;
}
int main(int argc, char **argv) {
  std::vector<std::string> words;
  for (int i = 0; i < 3000; i++) words.push_back(std::to_string(i * 7919 % 1009));
  int total = 0;
  for (int i = 0; i < 400; i++) {
    std::sort(words.begin(), words.end(), [](auto &a, auto &b) { return a > b; });
    total += weigh(words);
    std::rotate(words.begin(), words.begin() + i, words.end());
  }
  return total == 0;
}
